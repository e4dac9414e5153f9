//! Demand of an isolated kernel on the memory system beyond the SMs: Zhao et al. 2018, figure 6,
//! and their equations 1 and 2 (section 4.1.2; sources.md D149). It is only in the results of
//! experiments that request memory.

use super::record::Kept;
use crate::bandwidth;
use crate::metrics::ratio;
use mias_hw_model::config::GpuConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Off-SM demand of one isolated kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OffSm {
    /// Sectors moved by DRAM over its peak, 0 to 1.
    pub dram_utilization: Option<f64>,
    /// L2 misses over accesses.
    pub l2_miss_rate: Option<f64>,
    /// APKI: L2 accesses per thousand warp instructions.
    pub l2_accesses_per_kiloinst: Option<f64>,
    /// Equation 1 over equation 2 for all SMs: demand without stalls over supply.
    pub demand_over_supply: Option<f64>,
}

/// Instructions per kiloinstruction.
const KILO: u64 = 1_000;

impl OffSm {
    /// Derives the demand from a run of one kernel on the whole GPU.
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
