//! A given configuration on all SMs: static runs, the oracle's sweep, and the null policy (algorithms.md section 9 item 1).

use super::{Context, Plan, Policy};
use crate::configs::{ConfigTable, TbVector};

/// The given TBs of each kernel, as far as one SM can hold them. Where that leaves no TB at all (the null policy, once its
/// kernel has completed), the first kernel in launch order fills the SMs, so that every kernel ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedConfig {
    /// TBs per SM of the kernel in slot n. By slot, so that a completion does not shift the others.
    pub vector: TbVector,
}

impl Policy for FixedConfig {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        let mut rest = context.machine.limits.capacity;
        let mut vector = TbVector::default();
        for (index, kernel) in context.kernels.iter().enumerate() {
            let fits = u8::try_from(rest.max_tbs(&kernel.demand)).unwrap_or(u8::MAX);
            let tbs = self.vector.get(kernel.slot.into()).min(fits);
            vector.set(index, tbs);
            rest = rest.minus(&kernel.demand, tbs.into()).unwrap_or_default();
        }
        if vector.present() == 0
            && let Some(first) = context.kernels.first()
        {
            vector.set(0, first.max_tbs);
        }
        table.push(vector, 0);
        Plan::Place
    }
}
