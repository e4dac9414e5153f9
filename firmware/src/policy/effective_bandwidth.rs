//! Effective bandwidth (Wang et al. 2018): the SMs are split evenly, and of each kernel so many warps are active as make the effective bandwidths of all a good whole. Their text was
//! not at hand beyond its abstract; what is ours is in sources.md D159.
//!
//! What effective bandwidth is and when it is good: `search/effective.rs`. Which limits are tried: `search/tuning.rs`. Every step is the two windows of a search.

use super::{Context, Plan, Policy, cd_search};
use crate::configs::{ConfigTable, MAX_KERNELS};
use crate::search::{EbMetric, Next, Search, Step, effective_bandwidth};

/// Effective bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveBandwidth {
    /// How good effective bandwidths are together.
    pub metric: EbMetric,
}

impl Policy for EffectiveBandwidth {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        cd_search::one_each(context, table)
    }

    fn searches(&self) -> bool {
        true
    }

    fn limits_warps(&self) -> bool {
        true
    }

    #[inline(never)]
    fn search(&self, context: &Context<'_>, search: &mut Search) -> Next {
        match search.step {
            Step::Begin => search.begin_tuning(warps(context)),
            Step::Tune => {
                let mut bandwidths = [0; MAX_KERNELS];
                let kernels = search.shares.kernels();
                bandwidths.iter_mut().zip(&search.counts).for_each(|(bandwidth, counts)| *bandwidth = effective_bandwidth(counts));
                search.tuned(self.metric.score(bandwidths.get(..kernels).unwrap_or(&[])))
            }
            _ => search.settle(),
        }
    }
}

/// Warps of each kernel on a warp scheduler of an SM that is full of its TBs, rounded up.
fn warps(context: &Context<'_>) -> [u8; MAX_KERNELS] {
    let mut warps = [0; MAX_KERNELS];
    for (warps, kernel) in warps.iter_mut().zip(context.kernels) {
        let per_tb = kernel.demand.threads.div_ceil(context.machine.limits.warp_threads.max(1));
        let all = u32::from(kernel.max_tbs).saturating_mul(per_tb);
        *warps = u8::try_from(all.div_ceil(context.machine.schedulers.max(1))).unwrap_or(u8::MAX);
    }
    warps
}
