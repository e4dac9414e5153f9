//! Fair share (Aguilera et al. 2014): SM shares that equalize the kernels' slowdowns.
//!
//! Their text was not available to us. As described by others, SMs move from the kernel with the
//! smallest slowdown to the one with the largest until slowdowns balance (sources.md D157). A
//! kernel's slowdown comes from a step in which each is alone on its even share, with the others
//! stalled. Alternatively a model gives it without such steps (sources.md D158). SMs move in steps,
//! from the even split on.

mod alone;
mod balance;

pub use alone::Alone;
pub use balance::MOST_SHIFTS;

use balance::Balance;

use crate::search::{Search, Searches};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;

/// Source of the kernels' slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowdowns {
    /// A measurement of each kernel alone.
    Alone,
    /// A model, from counts while all kernels run.
    Model,
}

/// Last step of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// No step yet.
    #[default]
    Begin,
    /// One kernel on its even share, with all others stalled.
    Alone,
    /// Shares that may be fairer.
    Balance,
}

/// State of the fair-share policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairShare {
    /// Source of the slowdowns.
    pub slowdowns: Slowdowns,
    /// Last step of the search.
    pub step: Step,
    /// Estimated isolated performance of each kernel on all SMs, as far as measured.
    alone: [Alone; MAX_KERNELS],
    /// Kernel that runs alone.
    turn: u8,
    balance: Balance,
}

impl Searches for FairShare {
    fn begin(&mut self) {
        *self = Self::new(self.slowdowns);
    }

    #[inline(never)]
    fn search(&mut self, _: &Context<'_>, search: &mut Search) -> Next {
        match (self.step, self.slowdowns) {
            (Step::Begin, Slowdowns::Alone) => self.leave_alone(search, 0),
            (Step::Begin, Slowdowns::Model) => {
                self.step = Step::Balance;
                Next::Measure
            }
            (Step::Alone, _) => self.was_alone(search),
            (Step::Balance, Slowdowns::Alone) => {
                let progress = self.measured_progress(search);
                self.balance.shift(search, progress)
            }
            (Step::Balance, Slowdowns::Model) => {
                let progress = search.modeled_progress();
                self.balance.shift(search, progress)
            }
        }
    }

    fn settled(&mut self, search: &mut Search) {
        match self.step {
            Step::Balance if search.windows == 0 => search.drains = search.ended_tbs(),
            // Each kernel in its own turn alone.
            Step::Alone => search.drains |= search.ended_tbs() & 1_u8.checked_shl(self.turn.into()).unwrap_or(0),
            Step::Begin | Step::Balance => {}
        }
    }

    fn counts_row_hits(&self) -> bool {
        true
    }

    fn progress(&self) -> &[u32] {
        if self.step == Step::Begin { &[] } else { self.balance.progress() }
    }
}

impl FairShare {
    /// Creates a policy without any step.
    #[must_use]
    pub const fn new(slowdowns: Slowdowns) -> Self {
        Self { slowdowns, step: Step::Begin, alone: [Alone::NONE; MAX_KERNELS], turn: 0, balance: Balance::NONE }
    }
}
