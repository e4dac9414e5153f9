//! CD-search, classification-driven search (Zhao et al. 2018, section 4; sources.md D148 to D151).
//!
//! It first classifies the kernels whose demand exceeds the bandwidth beyond the SMs. It then finds
//! the number of SMs that they can give up, to other kernels or to power gating.

mod performance;
mod power;

use power::verify;

use crate::search::{Kernels, Search, Searches};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::{Context, Next};

/// Goal of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Goal chosen by the kernels: performance if some are memory-intensive, power if all are.
    Chosen,
    /// Performance: SMs for the kernels that are not memory-intensive.
    Performance,
    /// Power: gated SMs.
    Power,
}

/// Last step of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Step {
    /// No step yet.
    #[default]
    Begin,
    /// The even split, to classify the kernels.
    Classify,
    /// Fewer SMs for the memory-intensive kernels, in steps of two.
    Shrink,
    /// One SM for each memory-intensive kernel.
    One,
    /// The number of SMs estimated from one SM, and then one more at a time.
    Verify,
}

/// State of a classification-driven search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CdSearch {
    /// Goal of the search.
    pub mode: Mode,
    /// Last step of the search.
    pub(super) step: Step,
    /// Kernels with final shares.
    found: Kernels,
    /// SMs taken from each kernel in the last step.
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
    /// Creates a search without any step.
    #[must_use]
    pub const fn new(mode: Mode) -> Self {
        Self { mode, step: Step::Begin, found: 0, taken: [0; MAX_KERNELS] }
    }

    /// Takes the next step, also as a part of another search; returns false if the shares are
    /// final.
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
                    // No gain is possible.
                    _ if search.memory == 0 => false,
                    Mode::Power => self.begin_power(search),
                    Mode::Chosen if all => self.begin_power(search),
                    // No kernel could receive SMs.
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
