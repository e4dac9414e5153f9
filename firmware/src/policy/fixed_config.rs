//! A given configuration on all SMs: static runs, the oracle's sweep, and the null policy (sources.md D3).

use super::{Context, Plan, Policy};
use crate::configs::{ConfigTable, TbVector};

/// The given TBs of each kernel, as far as one SM can hold them.
///
/// A kernel that is left alone by the others of the configuration, or that was given no TB and has no other beside it that
/// was, fills the SMs: as under every other policy, nothing idles for a kernel that is not there, and every kernel ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedConfig {
    /// TBs per SM of the n-th kernel launched since reset. Slots would not do: they are used again.
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
