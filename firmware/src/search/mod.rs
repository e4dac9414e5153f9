//! Searching for how many SMs each kernel needs, in steps of two windows each: the first for caches and queues to settle, the second
//! measured over the whole chip (Zhao et al. 2018, section 4; sources.md D148).
//!
//! What is the same for every policy that searches: which kernel has which SM ([`Shares`]), what kernels did in a window
//! ([`KernelCounts`]), how fast that is beside the even split ([`Rate`]), and when the model of off-SM bandwidth calls a kernel
//! memory-intensive ([`Supply`]). What a step does with it is the policy's: `performance.rs` and `power.rs` have the two modes of
//! classification-driven search, `alone.rs`, `model.rs` and `balance.rs` what makes kernels equally slow, `effective.rs` and `tuning.rs` what limits their active warps.
//!
//! Without the feature `search` nothing of it is in an image.

mod alone;
mod balance;
mod bandwidth;
mod counts;
mod effective;
mod model;
mod parameters;
mod performance;
mod power;
mod quotient;
mod shares;
mod together;
mod trial;
mod tuning;

pub use alone::Alone;
pub use balance::MOST_SHIFTS;
pub use bandwidth::{Supply, utilised};
pub use counts::{Beside, KernelCounts, Rate};
pub use effective::{EbMetric, effective_bandwidth};
pub use model::Reach;
pub use parameters::Parameters;
pub use quotient::{MOST as MOST_QUOTIENT, ONE, QUOTIENT_BITS, quotient};
pub use shares::{Holder, Holders, Rest, Shares, SmState};
pub use together::MOST_CLIMBS;
pub use trial::Trial;
pub use tuning::{LEVELS, Limits, MOST_TUNED, Tuning};

pub(crate) use trial::Tries;

use crate::configs::{MAX_KERNELS, TbVector};

/// Most windows of a search on so many SMs. One classifies. The performance mode takes at least one SM in each, and leaves one of each kernel.
/// The power mode has one for the first SMs, one for the estimate, and gives at least one SM back in each that follows. Then what was found is measured, where it
/// was not, and vectors of TBs may be tried, one and its neighbours. Where kernels are made equally slow, each has a window alone, and then there are no more steps than
/// neighbours, and the even split. Limits of active warps are found in [`MOST_TUNED`] windows at most, however many SMs there are.
#[must_use]
pub const fn most_windows(sms: u16) -> u16 {
    let of_shares = sms.saturating_add(1).saturating_add(2 + MOST_CLIMBS as u16);
    if of_shares < MOST_TUNED { MOST_TUNED } else { of_shares }
}

/// What follows a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The shares are tried: a window to settle, a window to measure.
    Measure,
    /// The shares stay.
    Done,
    /// They stay for so many cycles, and then the search goes on.
    Rest(u32),
}

/// What was tried last, in the order in which it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Nothing yet.
    #[default]
    Begin,
    /// The even split, to tell kernels that ask for more than there is.
    Classify,
    /// Fewer SMs for them, in steps of two.
    Shrink,
    /// One SM for each of them.
    One,
    /// As many as one SM makes expect, and then one more at a time.
    Verify,
    /// The shares that were found.
    Apart,
    /// A vector of TBs on all SMs.
    Together,
    /// Its neighbours.
    Climb,
    /// One kernel on its even share, all others stalled.
    Alone,
    /// Shares that may be fairer.
    Balance,
    /// Limits of active warps.
    Tune,
    /// What all SMs may have, on the whole GPU.
    Trial,
    /// It is over, or rests.
    Done,
    /// It has rested.
    Rested,
}

/// A set of scheduled kernels: bit n for the n-th.
pub type Kernels = u8;

/// A search, from the even split to the shares that stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What it was asked for, and what the machine has.
    pub parameters: Parameters,
    /// Who has which SM.
    pub shares: Shares,
    /// What each kernel did in the last window.
    pub counts: [KernelCounts; MAX_KERNELS],
    /// How fast each was on its even share.
    pub even: [Rate; MAX_KERNELS],
    /// What was tried last.
    pub step: Step,
    /// Windows measured.
    pub windows: u16,
    /// Kernels that ask for more than the chip beyond the SMs gives.
    pub memory: Kernels,
    /// Kernels that ended a TB in the first window: their SMs are moved by draining (Zhao et al. 2018, section 4.1.2).
    pub drains: Kernels,
    /// Kernels whose shares are found.
    pub found: Kernels,
    /// SMs taken in the last step from each kernel.
    taken: [u8; MAX_KERNELS],
    /// What all SMs have, in place of the shares.
    together: Option<TbVector>,
    /// The best vector tried so far, its score, and that of the shares.
    best: TbVector,
    best_together: u32,
    apart: u32,
    /// Neighbours tried, and which one is next.
    climbs: u8,
    /// The neighbour that is tried.
    pub(crate) neighbour: u8,
    /// What each kernel would do alone on all SMs, as far as it was measured.
    pub alone: [Alone; MAX_KERNELS],
    /// The kernel that is alone.
    turn: u8,
    /// What kernels do is held against what they would do alone.
    estimates: bool,
    /// The fairest shares so far, how fair they were, and what progress each kernel made: its IPC over that alone on all SMs, as estimated, both in
    /// parts of 2^14.
    fairest: Shares,
    fairness: u32,
    progress: [u32; MAX_KERNELS],
    /// Steps that have shifted SMs, and how many of the last ones have made nothing fairer.
    shifts: u8,
    misses: u8,
    /// Limits of active warps.
    tuning: Tuning,
    /// What is tried on the whole GPU.
    pub(crate) trial: Trial,
    /// The shares say who has which SM.
    running: bool,
    /// Cycles until it goes on, once what it has found is in effect.
    pub(crate) rest: Option<u32>,
}

impl Search {
    /// None.
    pub const NONE: Self = Self {
        parameters: Parameters::NONE,
        shares: Shares::NONE,
        counts: [KernelCounts::NONE; MAX_KERNELS],
        even: [Rate::NONE; MAX_KERNELS],
        step: Step::Begin,
        windows: 0,
        memory: 0,
        drains: 0,
        found: 0,
        taken: [0; MAX_KERNELS],
        together: None,
        best: TbVector([0; MAX_KERNELS]),
        best_together: 0,
        apart: 0,
        climbs: 0,
        neighbour: 0,
        alone: [Alone::NONE; MAX_KERNELS],
        turn: 0,
        estimates: false,
        fairest: Shares::NONE,
        fairness: 0,
        progress: [0; MAX_KERNELS],
        shifts: 0,
        misses: 0,
        tuning: Tuning::NONE,
        trial: Trial::NONE,
        running: false,
        rest: None,
    };

    /// Begins anew with the even split of `sms` SMs among so many kernels. Not in line: all of it is on the stack for a moment, which is not to be below the first step.
    #[inline(never)]
    pub fn begin(&mut self, sms: u16, kernels: usize) {
        *self = Self { parameters: self.parameters, shares: Shares::even(sms, kernels), running: true, ..Self::NONE };
    }

    /// Gives up: kernels that are stalled somewhere get their SMs back, and what is placed stays, with the best limits so far.
    pub fn give_up(&mut self) {
        self.rest = None;
        self.shares.resume();
        self.tuning.settle();
        self.keep_best_trial();
        self.step = Step::Done;
    }

    /// Something else places TBs from here on.
    pub fn leave(&mut self) {
        self.running = false;
    }

    /// Whether the shares say who has which SM.
    #[must_use]
    pub fn running(&self) -> bool {
        self.running
    }

    /// It has rested and goes on.
    pub fn go_on(&mut self) {
        (self.step, self.running) = (Step::Rested, true);
    }

    /// Whether it is running and not over.
    #[must_use]
    pub fn measuring(&self) -> bool {
        self.running && self.step != Step::Done
    }

    /// The first window is over, and its counts were read: who ended a TB in it?
    pub fn warmed_up(&mut self) {
        self.trial_settled();
        let ended = self.those(|counts, _| counts.ended_tbs != 0);
        match self.step {
            Step::Classify => self.drains = ended,
            Step::Balance if self.windows == 0 => self.drains = ended,
            // Each when it was alone.
            Step::Alone => self.drains |= ended & 1_u8.checked_shl(self.turn.into()).unwrap_or(0),
            _ => {}
        }
        self.windows = self.windows.saturating_add(1);
    }

    /// Tries the even split.
    pub fn try_even(&mut self) -> Next {
        self.step = Step::Classify;
        Next::Measure
    }

    /// Takes the window as that of the even split, and tells the kernels that ask for more than there is.
    pub fn classify(&mut self) {
        for (even, counts) in self.even.iter_mut().zip(&self.counts) {
            *even = counts.rate();
        }
        let parameters = self.parameters;
        let shares = self.shares;
        self.memory = self.those(|counts, kernel| match parameters.utilisation_permille {
            Some(threshold) => utilised(counts, parameters.supply.dram, threshold),
            None if parameters.by_share => Supply { sms: shares.share(kernel), ..parameters.supply }.falls_short(counts),
            None => parameters.supply.falls_short(counts),
        });
    }

    /// The shares stay.
    pub fn settle(&mut self) -> Next {
        self.step = Step::Done;
        Next::Done
    }

    /// All kernels of the search.
    #[must_use]
    pub fn all(&self) -> Kernels {
        // At most four.
        (1 << self.shares.kernels().min(MAX_KERNELS)) - 1
    }

    /// The kernels of which this holds, by their counts and their number.
    fn those(&self, mut holds: impl FnMut(&KernelCounts, usize) -> bool) -> Kernels {
        let kernels = self.shares.kernels();
        self.counts
            .iter()
            .enumerate()
            .take(kernels)
            .fold(0, |set, (kernel, counts)| if holds(counts, kernel) { set | 1 << kernel } else { set })
    }

    /// The progress of each kernel on the shares that stay, or that are the fairest so far: its IPC over that alone on all SMs, as estimated, in parts of
    /// 2^14; none where nothing is estimated.
    #[must_use]
    pub fn progress(&self) -> Option<&[u32]> {
        if self.estimates { self.progress.get(..self.shares.kernels()) } else { None }
    }

    /// Kernels that lost more than they may, beside their even share.
    fn losers(&self) -> Kernels {
        let least = 1000_u32.saturating_sub(self.parameters.loss_permille);
        self.those(|counts, kernel| self.even.get(kernel).is_some_and(|even| !counts.rate().is_at_least(least, even)))
    }
}
