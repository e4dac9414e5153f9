//! Trials on the whole GPU, one after the other, and the best so far that stays (own; sources.md D209). What is tried next is the policy's; here is what all of
//! them have in common: who has what in a trial, how good it was, and whether that is better.
//!
//! A trial is a step of a search: a window in which it settles, half as long as in other searches, then one that is measured. Shared L2 and DRAM act in it as they will. With the rates r_k of kernels in the window, and a_k of each alone on all SMs in one of the same length,
//!
//! ```text
//! p_k = r_k / a_k      score = sum of p_k      slowdown = sum of 1 / p_k
//! ```
//!
//! Better is whoever's score is larger by more than [`NOISE`] of the best so far, and whose slowdown is no larger than that of the first by more than as much: work is not won by starving somebody.

use super::quotient::{ONE, over};
use super::{Alone, Next, Search, Step};
use crate::configs::{MAX_KERNELS, TbVector};

/// What a trial has to settle, of what other searches have: half, since TBs are switched and caches are warm.
const SETTLES: u32 = 2;
/// Scores that differ by less than this part are the same: a part in so many (assumption: what windows of 20,000 cycles of the same kernels differ by).
const NOISE: u32 = 16;
/// SMs are divided in so many parts.
const PARTS: u16 = 8;

/// SMs of each kernel, the first ones to the first: the SM at which each kernel's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends([u16; MAX_KERNELS]);

impl Ends {
    /// So many eighths of up to 256 SMs for each kernel; none if one would have no SM.
    #[must_use]
    pub fn eighths(sms: u16, parts: &[u16]) -> Option<Self> {
        let (mut ends, mut sum, mut before) = ([sms; MAX_KERNELS], 0_u16, 0);
        for (end, part) in ends.iter_mut().zip(parts) {
            sum = sum.saturating_add(*part).min(PARTS);
            *end = (sum.saturating_mul(sms.min(256)) / PARTS).min(sms);
            if *end <= before {
                return None;
            }
            before = *end;
        }
        (sum == PARTS).then_some(Self(ends))
    }

    /// The kernel that has an SM; none beyond the last.
    #[must_use]
    pub fn holder(&self, sm: usize) -> Option<usize> {
        self.0.iter().position(|end| sm < usize::from(*end))
    }

    /// Those of the 32 SMs of a word that are a kernel's, one bit each.
    #[must_use]
    pub fn mask(&self, kernel: usize, word: u16) -> u32 {
        let below = |end: u16| 1_u32.checked_shl(end.saturating_sub(word.saturating_mul(32)).into()).map_or(u32::MAX, |bit| bit.wrapping_sub(1));
        let first = kernel.checked_sub(1).and_then(|before| self.0.get(before)).copied().unwrap_or(0);
        below(self.0.get(kernel).copied().unwrap_or(first)) & !below(first)
    }
}

/// Who has what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// All SMs the same.
    Together(TbVector),
    /// Each kernel SMs of its own.
    Apart(Ends),
}

/// What trials have found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// The best so far, and what kernels did in it.
    vector: TbVector,
    ends: Option<Ends>,
    score: u32,
    progress: [u32; MAX_KERNELS],
    /// How slow kernels were in the first, together.
    slowdown: u32,
    /// The trial that is going on; none before one is.
    pub(crate) tries: Tries,
    /// TBs that kernels may have at most, as far as that was found to be better.
    pub(crate) most: TbVector,
    /// Kernels of which fewer TBs were tried.
    pub(crate) taken: u8,
}

/// What is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tries {
    /// Nothing.
    #[default]
    Nothing,
    /// What every other is held against.
    First,
    /// The kernel whose turn it is, alone.
    Alone,
    /// At most so many TBs of a kernel. So many are the other end of what is left to be tried, and so many more may be.
    Fewer { kernel: u8, tbs: u8, end: u8, more: u8 },
    /// Each kernel SMs of its own, so many eighths to the first of two; the other end, and how many more may be tried.
    Apart { first: u8, end: u8, more: u8 },
}

impl Trial {
    /// None.
    pub const NONE: Self = Self {
        vector: TbVector([0; MAX_KERNELS]),
        ends: None,
        score: 0,
        progress: [0; MAX_KERNELS],
        slowdown: 0,
        tries: Tries::Nothing,
        most: TbVector([0; MAX_KERNELS]),
        taken: 0,
    };
}

impl Search {
    /// Cycles of a step that are not measured.
    #[must_use]
    pub fn settles(&self) -> u32 {
        match self.trial.tries {
            // The kernels have just been launched: they come into an empty GPU, and it costs nothing that this takes longer.
            _ if self.step != Step::Trial => self.parameters.warm_up,
            Tries::First => self.parameters.warm_up,
            _ => (self.parameters.warm_up / SETTLES).max(1),
        }
    }

    /// Begins with a vector on all SMs.
    pub(crate) fn begin_trials(&mut self, first: TbVector) {
        self.step = Step::Trial;
        self.trial = Trial { vector: first, most: TbVector([u8::MAX; MAX_KERNELS]), ..Trial::NONE };
        self.place(Placed::Together(first));
    }

    /// Tries something.
    pub(crate) fn try_placed(&mut self, placed: Placed, tries: Tries) -> Next {
        self.place(placed);
        self.trial.tries = tries;
        Next::Measure
    }

    /// Leaves a kernel alone with all SMs, of each kernel after the other; false if all have been.
    pub(crate) fn try_alone(&mut self, turn: u8, most_tbs: u8) -> Next {
        self.turn = turn;
        self.try_placed(Placed::Together(TbVector::single(turn.into(), most_tbs)), Tries::Alone)
    }

    /// The kernel that is alone.
    pub(crate) fn turn(&self) -> u8 {
        self.turn
    }

    /// Notes what the first did: it is scored when all kernels have been alone.
    pub(crate) fn note_first(&mut self) {
        // Not divided yet.
        for (even, counts) in self.even.iter_mut().zip(&self.counts) {
            *even = counts.rate();
        }
    }

    /// Notes what the kernel did that was alone.
    pub(crate) fn note_alone(&mut self) {
        let kernel = usize::from(self.turn);
        if let (Some(alone), Some(counts)) = (self.alone.get_mut(kernel), self.counts.get(kernel)) {
            *alone = Alone::on_all(counts);
        }
    }

    /// Scores the first.
    pub(crate) fn score_first(&mut self) {
        let kernels = self.shares.kernels();
        for ((progress, alone), rate) in self.trial.progress.iter_mut().zip(&self.alone).zip(&self.even).take(kernels) {
            *progress = alone.progress_of(rate);
        }
        self.trial.score = sum(&self.trial.progress);
        self.trial.slowdown = slowdown(self.trial.progress.get(..kernels).unwrap_or(&[]));
    }

    /// Keeps what was measured if it is better than the best so far. Whether it is.
    pub(crate) fn keep_if_it_is_better(&mut self) -> bool {
        let progress = self.measured_progress();
        let score = sum(&progress);
        let slow = slowdown(progress.get(..self.shares.kernels()).unwrap_or(&[]));
        let trial = &mut self.trial;
        let better = score > trial.score.saturating_add(trial.score / NOISE) && slow <= trial.slowdown.saturating_add(trial.slowdown / NOISE);
        if better {
            (trial.score, trial.progress) = (score, progress);
            (trial.vector, trial.ends) = match (self.together, self.apart_ends) {
                (Some(vector), _) => (vector, None),
                (None, ends) => (trial.vector, ends),
            };
        }
        better
    }

    /// Whether what was measured is below the best so far by a part in so many.
    pub(crate) fn is_below_best_by(&self, part: u32) -> bool {
        let best = self.trial.score;
        sum(&self.measured_progress()) < best.saturating_sub(best.checked_div(part).unwrap_or(0))
    }

    /// The best so far stays, if there are trials.
    pub(super) fn keep_best_trial(&mut self) {
        if self.trial.vector.present() != 0 {
            let (vector, ends) = (self.trial.vector, self.trial.ends);
            self.place(ends.map_or(Placed::Together(vector), Placed::Apart));
        }
    }

    /// The best vector so far of all SMs.
    pub(crate) fn best_vector(&self) -> TbVector {
        self.trial.vector
    }

    /// What kernels did in the best so far, over what each did alone.
    pub(crate) fn best_progress(&self) -> &[u32] {
        self.trial.progress.get(..self.shares.kernels()).unwrap_or(&[])
    }

    /// The SMs that each kernel has of its own; none: they are shared, or shares say who has which.
    #[must_use]
    pub fn apart(&self) -> Option<Ends> {
        self.apart_ends
    }

    fn place(&mut self, placed: Placed) {
        (self.together, self.apart_ends) = match placed {
            Placed::Together(vector) => (Some(vector), None),
            Placed::Apart(ends) => (None, Some(ends)),
        };
    }
}

/// All progress.
fn sum(progress: &[u32]) -> u32 {
    progress.iter().fold(0, |sum, of| sum.saturating_add(*of))
}

/// How many times slower than alone kernels are, together; each at most 16.
fn slowdown(progress: &[u32]) -> u32 {
    progress.iter().fold(0, |sum, of| sum.saturating_add(over(ONE, *of)))
}
