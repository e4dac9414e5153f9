//! Fair share (Aguilera et al. 2014): as many SMs for each kernel as make all equally slow. Their text was not at hand; what others say of it is that SMs
//! go from the kernel that is slowed least to the one that is slowed most until slowdowns balance (sources.md D157).
//!
//! How slow a kernel is follows from a step in which each is alone on its even share, the others stalled; or from a model, without such steps (sources.md D158). SMs are shifted in
//! steps, beginning with the even split.

use super::{Context, Plan, Policy, cd_search};
use crate::configs::ConfigTable;
use crate::search::{Next, Search, Step};

/// What tells how slow kernels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowdowns {
    /// What each did alone.
    Alone,
    /// What they count while all of them run.
    Model,
}

/// Fair share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairShare {
    /// What it is told by.
    pub slowdowns: Slowdowns,
}

impl Policy for FairShare {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        cd_search::one_each(context, table)
    }

    fn searches(&self) -> bool {
        true
    }

    #[inline(never)]
    fn search(&self, _: &Context<'_>, search: &mut Search) -> Next {
        match (search.step, self.slowdowns) {
            (Step::Begin, Slowdowns::Alone) => search.begin_alone(),
            (Step::Begin, Slowdowns::Model) => search.begin_balance(),
            (Step::Alone, _) => search.was_alone(),
            (Step::Balance, Slowdowns::Alone) => search.balance(search.measured_progress()),
            (Step::Balance, Slowdowns::Model) => search.balance(search.modelled_progress()),
            _ => search.settle(),
        }
    }
}
