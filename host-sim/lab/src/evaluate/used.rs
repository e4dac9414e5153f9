//! Utilization of each part of the GPU by an isolated kernel, and its bottleneck: Lin et al.
//! 2018, figure 4, section 4.2 and table 3. Only in the results of experiments that request memory.

use super::record::Kept;
use crate::characterise::alone::Alone;
use crate::characterise::binding::{component, level};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::{IssueClass, Resources};
use mias_warp_trace::KernelInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Utilizations of each part, 0 to 1, over the cycles after the launch latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// Utilization of issue slots.
    pub scheduler: f64,
    /// Utilization of L1 bandwidth by hits.
    pub l1: Option<f64>,
    /// Utilization of the crossbar towards the L2, relative to 60 % of its peak, which it sustains.
    pub requests: Option<f64>,
    /// Utilization of the crossbar towards the SMs, relative to 60 % of its peak.
    pub replies: Option<f64>,
    /// Utilization of L2 bandwidth by hits.
    pub l2: Option<f64>,
    /// Utilization of DRAM.
    pub dram: Option<f64>,
    /// Fractions of an SM's registers, shared memory, threads and TB slots that the TBs that fit
    /// take (figure 7).
    pub occupancy: [f64; 4],
    /// Bottleneck by section 4.2.
    pub bound_by: String,
    /// Remaining capacity of the bottleneck by table 3.
    pub level: String,
}

impl Used {
    /// Derives the utilization from a run of one kernel with up to `max_tbs` TBs per SM.
    pub fn of(kept: &Kept, gpu: &GpuConfig, info: &KernelInfo, max_tbs: u32) -> Self {
        let (sm, tb) = (Resources::of_sm(&gpu.sm), Resources::of_tb(info, &gpu.sm));
        let taken = |each: u32, of: u32| f64::from(each) * f64::from(max_tbs) / f64::from(of.max(1));
        let alone = Alone::of(&kept.outcome(), gpu);
        Used {
            scheduler: alone.slot(IssueClass::Issued),
            l1: alone.l1_utilization,
            requests: alone.request_utilization,
            replies: alone.reply_utilization,
            l2: alone.l2_utilization,
            dram: alone.dram_utilization,
            occupancy: [
                taken(tb.registers, sm.registers),
                taken(tb.shared_bytes, sm.shared_bytes),
                taken(tb.threads, sm.threads),
                taken(tb.tbs, sm.tbs),
            ],
            bound_by: component(&alone).name().to_owned(),
            level: level(&alone).name().to_owned(),
        }
    }

    /// Returns the utilizations in the order of figure 4, with names.
    pub fn parts(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("scheduler", Some(self.scheduler)),
            ("L1", self.l1),
            ("L2 to SM", self.replies),
            ("SM to L2", self.requests),
            ("L2", self.l2),
            ("DRAM", self.dram),
        ]
    }
}
