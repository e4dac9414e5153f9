//! What a kernel alone asks of the chip beyond the SMs: Zhao et al. 2018, figure 6, and their equations 1 and 2 (section 4.1.2; sources.md D149).
//! Only in the results of experiments that ask for memory.

use super::record::Kept;
use crate::bandwidth;
use crate::metrics::ratio;
use mias_hw_model::config::GpuConfig;
use serde::{Deserialize, Serialize};

/// Of one kernel alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OffSm {
    /// Sectors that DRAM moved over those that it can, 0 to 1.
    pub dram_utilization: Option<f64>,
    /// Misses of the L2 over its accesses.
    pub l2_miss_rate: Option<f64>,
    /// APKI: accesses of the L2 in a thousand warp instructions.
    pub l2_accesses_per_kiloinst: Option<f64>,
    /// Equation 1 over equation 2, all SMs counted: what they would ask for if none ever waited, over what the chip gives.
    pub demand_over_supply: Option<f64>,
}

/// Instructions in a thousand.
const KILO: u64 = 1_000;

impl OffSm {
    /// Of a run of one kernel on the whole machine.
    pub fn of(kept: &Kept, gpu: &GpuConfig) -> Self {
        let Some(launch) = kept.launches.first() else { return OffSm::default() };
        OffSm {
            dram_utilization: bandwidth::dram(gpu, launch, kept.cycles),
            l2_miss_rate: ratio(launch.l2.misses, launch.l2.accesses),
            l2_accesses_per_kiloinst: ratio(launch.l2.accesses * KILO, launch.warp_insts),
            demand_over_supply: ratio(launch.l2.accesses, launch.warp_insts)
                .and_then(|accesses| bandwidth::demand_over_supply(gpu, accesses, ratio(launch.l2.hits, launch.l2.accesses))),
        }
    }
}
