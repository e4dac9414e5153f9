//! CD-search, classification-driven search (Zhao et al. 2018, section 4; sources.md D148 to D151): which kernels ask for more than the
//! chip beyond the SMs gives, and then how many SMs they can do without, for the other kernels or without power.

mod performance;
mod power;

use power::verify;

use crate::search::{Kernels, Search, Searches};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::{Context, Next};

/// What the search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What the kernels are: performance if some ask for more than there is and some do not, power if all do.
    Chosen,
    /// SMs for the kernels that do not ask for more than there is.
    Performance,
    /// SMs without power.
    Power,
}

/// What was tried last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Step {
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
}

/// Classification-driven search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CdSearch {
    /// What it is for.
    pub mode: Mode,
    /// What was tried last.
    pub(super) step: Step,
    /// Kernels whose shares are found.
    found: Kernels,
    /// SMs taken in the last step from each kernel.
    taken: [u8; MAX_KERNELS],
}

impl Searches for CdSearch {
    fn begin(&mut self) {
        *self = Self::new(self.mode);
    }

    fn search(&mut self, _: &Context<'_>, search: &mut Search) -> Next {
        if self.next(search) { Next::Measure } else { search.settle() }
    }

    fn settled(&mut self, search: &mut Search) {
        if self.step == Step::Classify {
            search.drains = search.ended_tbs();
        }
    }
}

impl CdSearch {
    /// Nothing tried yet.
    #[must_use]
    pub const fn new(mode: Mode) -> Self {
        Self { mode, step: Step::Begin, found: 0, taken: [0; MAX_KERNELS] }
    }

    /// What its steps ask for, also as a part of another search; false if the shares are found.
    #[inline(never)]
    pub(super) fn next(&mut self, search: &mut Search) -> bool {
        match self.step {
            Step::Begin => {
                self.step = Step::Classify;
                true
            }
            Step::Classify => {
                search.classify();
                let all = search.memory == search.all();
                match self.mode {
                    // Nothing to gain.
                    _ if search.memory == 0 => false,
                    Mode::Power => self.begin_power(search),
                    Mode::Chosen if all => self.begin_power(search),
                    // No kernel to give SMs to.
                    Mode::Performance if all => false,
                    Mode::Chosen | Mode::Performance => self.begin_performance(search),
                }
            }
            Step::Shrink => self.shrunk(search),
            Step::One => self.estimate(search),
            Step::Verify => verify(search),
        }
    }
}
