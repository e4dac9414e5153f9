//! Fixed configuration on all SMs: for static runs, the oracle's sweep, and the null policy
//! (sources.md D3).

use super::{Context, Plan, Policy};
use crate::configs::{ConfigTable, TbVector};

/// Given TBs of each kernel, limited to the capacity of an SM.
///
/// A kernel fills the SMs if no other kernel of the configuration is left, or if it was given no TB
/// and runs alone. As under every other policy, no SM idles for an absent kernel, and every kernel
/// completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedConfig {
    /// TBs per SM of the n-th kernel launched since reset. Slots would not identify kernels,
    /// because they are reused.
    pub vector: TbVector,
}

impl Policy for FixedConfig {
    #[inline(never)]
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        let mut rest = context.gpu.limits.capacity;
        let mut vector = TbVector::default();
        for (index, kernel) in context.kernels.iter().enumerate() {
            let fits = u8::try_from(rest.max_tbs(&kernel.demand)).unwrap_or(u8::MAX);
            let given = usize::try_from(kernel.number).map_or(0, |number| self.vector.get(number));
            let tbs = given.min(fits);
            vector.set(index, tbs);
            rest = rest.minus(&kernel.demand, tbs.into()).unwrap_or_default();
        }
        let left_alone = context.kernels.len() == 1 && self.vector.present() > 1;
        if (vector.present() == 0 || left_alone)
            && let Some(first) = context.kernels.first()
        {
            vector.set(0, first.max_tbs);
        }
        table.push(vector, 0);
        Plan::Place
    }
}
