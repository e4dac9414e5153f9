//! Maestro as a search: SMs divided or shared, by measurement, with hill climbing over the shared
//! configurations (Zhao et al. 2018, sections 6 and 7.5, on Park et al. 2017; sources.md D153).
//!
//! A variant compares with the division that CD-search finds. Maestro's own search is not published
//! in the texts available to us. Here SMK-P's vector is tried on all SMs, then its neighbors. A
//! neighbor has one TB more of a kernel, and as few less of another as make space. A better vector
//! replaces the best so far, and its neighbors follow.

mod hill_climb;

pub use hill_climb::{HillClimb, MOST_CLIMBS};

use super::{CdSearch, Mode, cd_search, smk};
use crate::search::{Search, Searches};
use mias_firmware::configs::TbVector;
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;

/// Step of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Dividing the SMs.
    #[default]
    Divide,
    /// Measuring the found division.
    Divided,
    /// Sharing the SMs.
    Share,
}

/// State of Maestro with hill climbing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaestroSearch {
    /// Whether CD-search divides the SMs; otherwise evenly.
    pub divides: bool,
    /// Current step.
    pub step: Step,
    divide: CdSearch,
    /// Result of sharing SMs.
    pub climb: HillClimb,
}

impl Searches for MaestroSearch {
    fn begin(&mut self) {
        *self = Self::new(self.divides);
    }

    #[inline(never)]
    fn search(&mut self, context: &Context<'_>, search: &mut Search) -> Next {
        match self.step {
            Step::Divide if self.divide.step == cd_search::Step::Classify && !self.divides => {
                search.classify();
                self.share(context, search)
            }
            Step::Divide => {
                if !self.divide.next(search) {
                    // The last window had other shares, or stalled SMs.
                    self.step = Step::Divided;
                }
                Next::Measure
            }
            Step::Divided => self.share(context, search),
            Step::Share => {
                self.climb.keep_if_better(search);
                self.climb(context, search)
            }
        }
    }

    fn settled(&mut self, search: &mut Search) {
        if self.step == Step::Divide {
            self.divide.settled(search);
        }
    }
}

impl MaestroSearch {
    /// Creates a search without any trial.
    #[must_use]
    pub const fn new(divides: bool) -> Self {
        Self { divides, step: Step::Divide, divide: CdSearch::new(Mode::Chosen), climb: HillClimb::NONE }
    }

    /// Tries SMK-P's vector; if no SM holds a TB of each kernel, the shares stay.
    fn share(&mut self, context: &Context<'_>, search: &mut Search) -> Next {
        self.step = Step::Share;
        match smk::quotas(context) {
            Some(vector) => self.climb.begin(search, vector),
            None => search.settle(),
        }
    }

    /// Tries the next valid neighbor of the best vector, or ends the search.
    fn climb(&mut self, context: &Context<'_>, search: &mut Search) -> Next {
        let kernels = context.kernels.len();
        loop {
            let number = usize::from(self.climb.neighbor);
            let (Some(more), Some(less)) = (number.checked_div(kernels), number.checked_rem(kernels)) else { return search.settle() };
            if more >= kernels {
                return self.climb.settle(search);
            }
            self.climb.neighbor = self.climb.neighbor.saturating_add(1);
            if more != less
                && let Some(vector) = neighbor(context, self.climb.best(), more, less)
            {
                return self.climb.try_neighbor(search, vector);
            }
        }
    }
}

/// Adds one TB of a kernel, and removes as few of another as make space; none if the other would
/// have none left.
fn neighbor(context: &Context<'_>, mut vector: TbVector, more: usize, less: usize) -> Option<TbVector> {
    let most = context.kernels.get(more)?.max_tbs;
    vector.set(more, vector.get(more).checked_add(1).filter(|tbs| *tbs <= most)?);
    for left in (1..vector.get(less)).rev() {
        vector.set(less, left);
        let capacity = context.gpu.limits.capacity;
        let mut held = context.kernels.iter().enumerate();
        if held.try_fold(capacity, |rest, (kernel, of)| rest.minus(&of.demand, vector.get(kernel).into())).is_some() {
            return Some(vector);
        }
    }
    None
}
