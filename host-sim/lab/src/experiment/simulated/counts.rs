//! What the GPU model counts, as outcomes have it.

use crate::experiment::machine::{CacheCounts, LaunchCounts, SmTotals};
use mias_hw_model::gpu::{CacheStats, LaunchStats, SmStats, Stats};
use mias_hw_model::sm::IssueClass;

/// Of a launch.
pub(super) fn launch_counts(launch: &LaunchStats) -> LaunchCounts {
    LaunchCounts {
        start_cycle: launch.start_cycle.unwrap_or_default(),
        end_cycle: launch.end_cycle,
        warp_insts: launch.warp_insts,
        thread_insts: launch.thread_insts,
        tbs_issued: launch.tbs_issued,
        tbs_completed: launch.tbs_completed,
        l1d: cache_counts(launch.l1d),
        l2: cache_counts(launch.l2),
        l1_load_misses: launch.l1_load_misses,
        request_packets: launch.request_packets,
        reply_packets: launch.reply_packets,
        dram_reads: launch.dram_reads,
        dram_writes: launch.dram_writes,
        schedulers: launch.schedulers,
    }
}

fn cache_counts(cache: CacheStats) -> CacheCounts {
    CacheCounts { accesses: cache.accesses, hits: cache.hits, misses: cache.misses, reservation_fails: cache.reservation_fails }
}

/// Sums over the SMs.
pub(super) fn sm_totals(stats: &Stats) -> SmTotals {
    let sum = |of: fn(&SmStats) -> u64| stats.sms.iter().map(of).sum();
    SmTotals {
        cycles: sum(|sm| sm.counters.cycles),
        lsu_stall_cycles: sum(|sm| sm.counters.lsu_stall_cycles),
        outstanding_cycles: sum(|sm| sm.counters.outstanding_cycles),
    }
}

/// Scheduler-cycles of all SMs by class.
pub(super) fn stalls(stats: &Stats) -> Vec<(&'static str, u64)> {
    let sum = |class: IssueClass| stats.sms.iter().map(|sm| sm.counters.schedulers[class as usize]).sum();
    IssueClass::ALL.iter().map(|&class| (class.name(), sum(class))).collect()
}
