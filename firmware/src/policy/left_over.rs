//! Left-over: kernels in launch order. The next kernel starts when the current one has no TB left
//! to issue (Nasef 2023, sections 2.3 and 3.3.3).

use super::{Context, KernelSet, Plan, Policy};
use crate::configs::{ConfigTable, TbVector};
use crate::kernel::Kernel;

/// Policy of current GPUs.
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

/// Returns the number of kernels, in launch order, whose turn has come: the drained ones at the
/// front and the first that is not drained.
fn reached(kernels: &[Kernel]) -> usize {
    kernels.iter().take_while(|kernel| kernel.drained).count().saturating_add(1).min(kernels.len())
}

/// Gives every kernel whose turn has come as many TBs as fit, and the others none. Hardware fills
/// the free space. Only the last of these kernels still has TBs to issue, so the sum of the quotas
/// cannot overcommit.
pub(super) fn vector(kernels: &[Kernel]) -> TbVector {
    let mut vector = TbVector::default();
    for (index, kernel) in kernels.iter().enumerate().take(reached(kernels)) {
        vector.set(index, kernel.max_tbs);
    }
    vector
}
