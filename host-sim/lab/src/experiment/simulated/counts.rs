//! Converts counters of the GPU model to their form in outcomes.

use crate::experiment::gpu_runner::{InPlace, SmTotals};
use mias_hw_model::gpu::{self, SmStats, Stats};

/// Sums counters over the SMs.
pub(super) fn sm_totals(stats: &Stats) -> SmTotals {
    let sum = |of: fn(&SmStats) -> u64| stats.sms.iter().map(of).sum();
    SmTotals {
        cycles: sum(|sm| sm.counters.cycles),
        lsu_stall_cycles: sum(|sm| sm.counters.lsu_stall_cycles),
        outstanding_cycles: sum(|sm| sm.counters.outstanding_cycles),
        issue_slots: std::array::from_fn(|class| stats.sms.iter().map(|sm| sm.counters.issue_slots[class]).sum()),
    }
}

/// Returns the fraction of SM cycles in which SMs matched their final quotas.
pub(super) fn in_place(stats: &Stats) -> InPlace {
    let gpu::InPlace { sm_cycles, sms_short_of_it } = stats.in_place;
    let all = (stats.cycles * stats.sms.len() as u64).max(1);
    InPlace { share: sm_cycles as f64 / all as f64, sms_short_of_it }
}
