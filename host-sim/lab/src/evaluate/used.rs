//! What a kernel alone uses of each part of the machine, and which of them binds it: Lin et al. 2018, figure 4, section 4.2 and table 3. Only in the
//! results of experiments that ask for memory.

use super::record::Kept;
use crate::characterise::alone::Alone;
use crate::characterise::binding::{component, level};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::IssueClass;
use serde::{Deserialize, Serialize};

/// Shares of what each part can do, 0 to 1, over the cycles after the launch latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// Issue slots.
    pub scheduler: f64,
    /// What the L1s' hits moved.
    pub l1: Option<f64>,
    /// Of the 60 % of its peak that the crossbar sustains, towards the L2.
    pub requests: Option<f64>,
    /// The same, towards the SMs.
    pub replies: Option<f64>,
    /// What the L2's hits moved.
    pub l2: Option<f64>,
    /// DRAM.
    pub dram: Option<f64>,
    /// The part that binds it by section 4.2.
    pub bound_by: String,
    /// How much of that is left, by table 3.
    pub level: String,
}

impl Used {
    /// Of a run of one kernel.
    pub fn of(kept: &Kept, gpu: &GpuConfig) -> Self {
        let alone = Alone::of(&kept.outcome(), gpu);
        Used {
            scheduler: alone.slot(IssueClass::Issued),
            l1: alone.l1_utilization,
            requests: alone.request_utilization,
            replies: alone.reply_utilization,
            l2: alone.l2_utilization,
            dram: alone.dram_utilization,
            bound_by: component(&alone).name().to_owned(),
            level: level(&alone).name().to_owned(),
        }
    }

    /// In the order of figure 4, with what each is called.
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
