//! A given configuration on all SMs: static runs, the oracle's sweep, and the null policy (algorithms.md section 9 item 1).

use super::{Context, Plan, Policy};
use crate::configs::{ConfigTable, TbVector};

/// The given TBs of each kernel, in launch order, as far as one SM can hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedConfig {
    /// TBs per SM.
    pub vector: TbVector,
}

impl Policy for FixedConfig {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        let mut rest = context.machine.limits.capacity;
        let mut vector = TbVector::default();
        for (index, kernel) in context.kernels.iter().enumerate() {
            let fits = u8::try_from(rest.max_tbs(&kernel.demand)).unwrap_or(u8::MAX);
            let tbs = self.vector.get(index).min(fits);
            vector.set(index, tbs);
            rest = rest.minus(&kernel.demand, tbs.into()).unwrap_or_default();
        }
        table.push(vector, 0);
        Plan::Place
    }
}
