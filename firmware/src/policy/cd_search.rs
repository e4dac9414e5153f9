//! CD-search, classification-driven search (Zhao et al. 2018, section 4; sources.md D148 to D151): which kernels ask for more than the
//! chip beyond the SMs gives, and then how many SMs they can do without, for the other kernels or without power.

use super::{Context, Plan, Policy, fall_back, spatial};
use crate::configs::ConfigTable;
use crate::search::{Next, Search, Step};

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

/// Classification-driven search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CdSearch {
    /// What it is for.
    pub mode: Mode,
}

impl Policy for CdSearch {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        one_each(context, table)
    }

    fn searches(&self) -> bool {
        true
    }

    fn search(&self, _: &Context<'_>, search: &mut Search) -> Next {
        self.step(search)
    }
}

impl CdSearch {
    /// What its steps ask for, also as a part of another search.
    #[inline(never)]
    pub(super) fn step(&self, search: &mut Search) -> Next {
        match search.step {
            Step::Begin => search.try_even(),
            Step::Classify => {
                search.classify();
                let all = search.memory == search.all();
                match self.mode {
                    // Nothing to gain.
                    _ if search.memory == 0 => search.settle(),
                    Mode::Power => search.begin_power(),
                    Mode::Chosen if all => search.begin_power(),
                    // Nobody to give SMs to.
                    Mode::Performance if all => search.settle(),
                    Mode::Chosen | Mode::Performance => search.begin_performance(),
                }
            }
            Step::Shrink => search.shrunk(),
            Step::One => search.estimate(),
            Step::Verify => search.verify(),
            Step::Apart
            | Step::Together
            | Step::Climb
            | Step::Alone
            | Step::Balance
            | Step::Tune
            | Step::Trial
            | Step::Done
            | Step::Rested => search.settle(),
        }
    }
}

/// A configuration for each kernel, to be dealt to SMs by a search. One kernel alone has them all; fewer SMs than kernels fall back.
pub(super) fn one_each<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    if !spatial::fill(context, table) {
        return fall_back(context, table);
    }
    if context.kernels.len() < 2 { Plan::Place } else { Plan::Search }
}
