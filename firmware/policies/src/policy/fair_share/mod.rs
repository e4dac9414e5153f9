//! Fair share (Aguilera et al. 2014): as many SMs for each kernel as make all equally slow. Their text was not at hand; what others say of it is that SMs
//! go from the kernel that is slowed least to the one that is slowed most until slowdowns balance (sources.md D157).
//!
//! How slow a kernel is follows from a step in which each is alone on its even share, the others stalled; or from a model, without such steps (sources.md D158). SMs are shifted in
//! steps, beginning with the even split.

mod alone;
mod balance;

pub use alone::Alone;
pub use balance::MOST_SHIFTS;

use balance::Balance;

use crate::search::{Search, Searches};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;

/// What tells how slow kernels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowdowns {
    /// What each did alone.
    Alone,
    /// What they count while all of them run.
    Model,
}

/// What was tried last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Nothing yet.
    #[default]
    Begin,
    /// One kernel on its even share, all others stalled.
    Alone,
    /// Shares that may be fairer.
    Balance,
}

/// Fair share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairShare {
    /// What it is told by.
    pub slowdowns: Slowdowns,
    /// What was tried last.
    pub step: Step,
    /// What each kernel would do alone on all SMs, as far as it was measured.
    alone: [Alone; MAX_KERNELS],
    /// The kernel that is alone.
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
                let progress = search.modelled_progress();
                self.balance.shift(search, progress)
            }
        }
    }

    fn settled(&mut self, search: &mut Search) {
        match self.step {
            Step::Balance if search.windows == 0 => search.drains = search.ended_tbs(),
            // Each when it was alone.
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
    /// Nothing tried yet.
    #[must_use]
    pub const fn new(slowdowns: Slowdowns) -> Self {
        Self { slowdowns, step: Step::Begin, alone: [Alone::NONE; MAX_KERNELS], turn: 0, balance: Balance::NONE }
    }
}
