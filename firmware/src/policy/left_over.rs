//! Left-over: kernels in launch order, the next one when the current one has no TB left to issue (Nasef 2023, sections 2.3
//! and 3.3.3).

use super::{Context, KernelSet, Plan, Policy};
use crate::configs::{ConfigTable, TbVector};
use crate::kernel::Kernel;

/// The policy of today's GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOver;

impl Policy for LeftOver {
    fn update_scheduled_kernels(&self, launched: &[Kernel]) -> KernelSet {
        KernelSet::first(reached(launched))
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        table.push(vector(context.kernels), 0);
        Plan::Place
    }

    fn follows_drain(&self) -> bool {
        true
    }
}

/// How many kernels, in launch order, have their turn: the drained ones at the front and the first that is not.
fn reached(kernels: &[Kernel]) -> usize {
    kernels.iter().take_while(|kernel| kernel.drained).count().saturating_add(1).min(kernels.len())
}

/// As many TBs as fit of every kernel that has its turn, none of the others. Hardware fills what is free: only the last of
/// these kernels still has TBs to issue, so the sum of the quotas over-commits nothing.
pub(super) fn vector(kernels: &[Kernel]) -> TbVector {
    let mut vector = TbVector::default();
    for (index, kernel) in kernels.iter().enumerate().take(reached(kernels)) {
        vector.set(index, kernel.max_tbs);
    }
    vector
}
