//! Trials: what all SMs have, one after the other on the whole GPU, and the best so far that stays (own; sources.md D209). Which kernel has less next is the policy's; here is what
//! all of them have in common: how long they last, and which is better.
//!
//! A trial is a step of a search: a window in which it settles, then one that is measured. Shared L2 and DRAM act in it as they will. With the rates r_k of kernels in one and b_k in the best so far, the
//! first is better if
//!
//! ```text
//! product of r_k / b_k > 5 / 4      and, of the rates u_k with what is known to be good,      r_k >= 3/4 u_k for all k
//! ```
//!
//! The first is proportional fairness (Kelly et al. 1998), and Nash's bargaining: a kernel that becomes twice as fast is worth as much as another that was as fast as it is, whatever each would do alone. So no
//! kernel has to be left alone to be a reference, which would cost more than it brings: all TBs of all others would have to go and come back. The second is a floor: since
//! nobody knows what a kernel's progress is worth beside another's, nobody gives up more than a quarter of it.
//!
//! What is known to be good costs nothing, so that it is measured anew before every trial; and a trial that looks no better in a quarter of a step is over.

use super::quotient::{MOST, ONE, QUOTIENT_BITS};
use super::{KernelCounts, Kernels, Next, Rate, Search, Step};
use crate::configs::{MAX_KERNELS, TbVector};

/// Most trials: assumption, half of the TBs of each of four kernels, or from 16 TBs of one to a single one.
const MOST_TRIALS: u8 = 4;
/// Most steps: before each trial the best so far, of each trial a quick look and a long one.
pub(super) const MOST_STEPS: u16 = 3 * MOST_TRIALS as u16;

/// Fraction bits of a product of up to four quotients, each below 2^4: 44 bits in all, and 18 of the next quotient.
const PRODUCT_BITS: u32 = 28;
/// How much better is better, in eighths: what windows of the same kernels differ by, and then some (assumption).
const BETTER_EIGHTHS: u64 = 10;
/// The same of a quick look: that it is no worse, since TBs are on their way.
const WORTH_A_LOOK_EIGHTHS: u64 = 8;
/// A kernel that issues in one slot of so many, or in more, needs its TBs (assumption).
const ISSUES_ONE_IN: u32 = 4;
/// What a kernel keeps of its rate with what is known to be good, in thousandths (assumption).
const FLOOR_PERMILLE: u32 = 750;

/// What is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tries {
    /// The best so far.
    #[default]
    Best,
    /// Fewer TBs of a kernel, for a quarter of a step.
    Quick,
    /// The same for a step.
    Sure,
}

/// What trials have found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// What is tried.
    pub(crate) tries: Tries,
    /// The best so far, and how fast kernels were in it.
    best: TbVector,
    rates: [Rate; MAX_KERNELS],
    /// How fast they were with what is known to be good, which was the first of the best.
    usual: [Rate; MAX_KERNELS],
    /// The kernel that has less, and those that may have.
    kernel: u8,
    may: Kernels,
    /// Trials so far, and whether one was better.
    trials: u8,
    moved: bool,
}

impl Trial {
    /// None.
    pub const NONE: Self = Self {
        tries: Tries::Best,
        best: TbVector([0; MAX_KERNELS]),
        rates: [Rate::NONE; MAX_KERNELS],
        usual: [Rate::NONE; MAX_KERNELS],
        kernel: 0,
        may: 0,
        trials: 0,
        moved: false,
    };

    /// The kernel that has less, of all.
    fn this(&self) -> Kernels {
        1_u8.checked_shl(self.kernel.into()).unwrap_or(0)
    }
}

impl Search {
    /// Cycles of a step that are not measured: those of other searches with the best so far, which loses nothing; a quarter in a quick look, and half in a long one, which follows it.
    #[must_use]
    pub fn settles(&self) -> u32 {
        let share = match (self.step, self.trial.tries) {
            (Step::Trial, Tries::Quick) => 4,
            (Step::Trial, Tries::Sure) => 2,
            _ => 1,
        };
        (self.parameters.warm_up / share).max(1)
    }

    /// Cycles of a step that are measured: a quarter of those of other searches in a quick look.
    #[must_use]
    pub fn measures(&self) -> u32 {
        let share = if self.step == Step::Trial && self.trial.tries == Tries::Quick { 4 } else { 1 };
        (self.parameters.window / share).max(1)
    }

    /// Begins with what is known to be good, in a search that has just begun. It stays if the search ends before anything else is known to be better.
    pub(crate) fn begin_trials(&mut self, usual: TbVector) -> Next {
        self.step = Step::Trial;
        self.trial.best = usual;
        self.try_on_all(usual, Tries::Best)
    }

    /// The best so far was measured, of a GPU that issues so many warp instructions in a cycle at most. Who leaves most of them to others in the first of these windows may have less.
    pub(crate) fn note_best(&mut self, slots: u32) {
        self.trial.rates = self.rates();
        if self.trial.moved {
            return;
        }
        self.trial.usual = self.trial.rates;
        if self.trial.trials == 0 {
            self.trial.may = self.those(|counts, _| counts.warp_insts.saturating_mul(ISSUES_ONE_IN) < counts.cycles.saturating_mul(slots));
        }
    }

    /// The kernel that may have less next, of those with two TBs or more: the one that issues least, and has not had less in vain; once less of one was better, only that one. None if there is none, or
    /// there were enough trials.
    pub(crate) fn who_has_less(&self) -> Option<usize> {
        let Trial { best, may, trials, .. } = self.trial;
        let may = |(kernel, _): &(usize, &KernelCounts)| best.get(*kernel) > 1 && may >> kernel & 1 != 0;
        let kernels = self.counts.iter().enumerate().take(self.shares.kernels()).filter(may);
        let least = kernels.min_by_key(|(_, counts)| counts.warp_insts)?;
        (trials < MOST_TRIALS).then_some(least.0)
    }

    /// Tries a vector with fewer TBs of a kernel.
    pub(crate) fn try_less(&mut self, kernel: usize, vector: TbVector) -> Next {
        // Of four.
        self.trial.kernel = kernel as u8;
        self.trial.trials = self.trial.trials.saturating_add(1);
        self.try_on_all(vector, Tries::Quick)
    }

    /// A trial was looked at: one that may be better is looked at longer, any other given up.
    pub(crate) fn look_longer(&mut self) -> Next {
        if self.is_better(&self.rates(), &self.trial.rates, WORTH_A_LOOK_EIGHTHS) {
            self.trial.tries = Tries::Sure;
            Next::Measure
        } else {
            self.back_to_best()
        }
    }

    /// What was measured is the best so far if it is better, or given up. None where it was better.
    pub(crate) fn keep_or_give_up(&mut self) -> Option<Next> {
        let rates = self.rates();
        if self.is_better(&rates, &self.trial.rates, BETTER_EIGHTHS) && self.is_above(FLOOR_PERMILLE, &rates) {
            self.trial.best = self.together.unwrap_or(self.trial.best);
            (self.trial.rates, self.trial.moved) = (rates, true);
            self.trial.may = self.trial.this();
            return None;
        }
        Some(self.back_to_best())
    }

    /// The kernel had less in vain: the best so far is measured anew, if somebody else may have less.
    fn back_to_best(&mut self) -> Next {
        self.trial.may &= !self.trial.this();
        match self.who_has_less() {
            Some(_) => self.try_on_all(self.trial.best, Tries::Best),
            None => self.settle(),
        }
    }

    fn try_on_all(&mut self, vector: TbVector, tries: Tries) -> Next {
        self.trial.tries = tries;
        self.together = Some(vector);
        Next::Measure
    }

    /// A TB of each kernel.
    pub(crate) fn ones(&self) -> TbVector {
        let mut ones = TbVector::default();
        (0..self.shares.kernels()).for_each(|kernel| ones.set(kernel, 1));
        ones
    }

    /// The best so far.
    pub(crate) fn best_trial(&self) -> TbVector {
        self.trial.best
    }

    /// The best so far stays, if there are trials.
    pub(super) fn keep_best_trial(&mut self) {
        if self.trial.best.present() != 0 {
            let best = self.trial.best;
            self.together = Some(best);
        }
    }

    /// How fast kernels were in the last window.
    fn rates(&self) -> [Rate; MAX_KERNELS] {
        let mut rates = [Rate::NONE; MAX_KERNELS];
        rates.iter_mut().zip(&self.counts).for_each(|(rate, counts)| *rate = counts.rate());
        rates
    }

    /// Whether everybody keeps so many thousandths of its rate with what is known to be good.
    fn is_above(&self, floor_permille: u32, rates: &[Rate; MAX_KERNELS]) -> bool {
        let mut kernels = rates.iter().zip(&self.trial.usual).take(self.shares.kernels());
        kernels.all(|(rate, usual)| rate.is_at_least(floor_permille, usual))
    }

    /// Whether kernels that are so fast do more than so many eighths of what they do with other rates. Somebody who did nothing does better than ever by doing anything.
    fn is_better(&self, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS], eighths: u64) -> bool {
        let kernels = rates.iter().zip(than).take(self.shares.kernels());
        let product = kernels.fold(1_u64 << PRODUCT_BITS, |product, (rate, than)| {
            let nothing = if rate.instructions() == 0 { ONE } else { MOST };
            product.saturating_mul(rate.over(than).unwrap_or(nothing).into()) >> QUOTIENT_BITS
        });
        product.saturating_mul(8) > eighths << PRODUCT_BITS
    }
}
