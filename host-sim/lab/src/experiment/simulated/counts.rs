//! What the GPU model counts, as outcomes have it.

use crate::experiment::machine::SmTotals;
use mias_hw_model::gpu::{SmStats, Stats};

/// Sums over the SMs.
pub(super) fn sm_totals(stats: &Stats) -> SmTotals {
    let sum = |of: fn(&SmStats) -> u64| stats.sms.iter().map(of).sum();
    SmTotals {
        cycles: sum(|sm| sm.counters.cycles),
        lsu_stall_cycles: sum(|sm| sm.counters.lsu_stall_cycles),
        outstanding_cycles: sum(|sm| sm.counters.outstanding_cycles),
        issue_slots: std::array::from_fn(|class| stats.sms.iter().map(|sm| sm.counters.issue_slots[class]).sum()),
    }
}
