//! The one typed set of statistics that tables, JSON and CSV are written from. All counts are exact integers.

use super::Gpu;
use crate::energy::Events;
use crate::memory::MemoryCounters;
use crate::sm::{IssueCounters, KERNEL_SLOTS, KernelCounters, SmCounters};

/// Sector accesses of a cache by outcome. accesses = hits + misses + pending hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Accesses accepted.
    pub accesses: u64,
    /// Data was there.
    pub hits: u64,
    /// Data was on its way.
    pub pending_hits: u64,
    /// Line or sector was not there; stores that miss included.
    pub misses: u64,
    /// Attempts that found no line, MSHR or queue entry; each retry counts.
    pub reservation_fails: u64,
}

/// One launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchStats {
    /// Kernel name.
    pub kernel: String,
    /// Cycle in which it arrived, none if it has not.
    pub start_cycle: Option<u64>,
    /// Cycle by which its last TB had ended, none if it is running.
    pub end_cycle: Option<u64>,
    /// Warp instructions issued.
    pub warp_insts: u64,
    /// Thread instructions issued.
    pub thread_insts: u64,
    /// TBs issued to SMs.
    pub tbs_issued: u64,
    /// TBs that ended.
    pub tbs_completed: u64,
    /// L1 data cache.
    pub l1d: CacheStats,
    /// L2.
    pub l2: CacheStats,
    /// Load misses of the L1: new MSHR entries.
    pub l1_load_misses: u64,
    /// Load requests that left the SMs.
    pub load_requests: u64,
    /// Packets that entered the crossbar towards the L2.
    pub request_packets: u64,
    /// Packets that entered the crossbar towards the SMs.
    pub reply_packets: u64,
    /// DRAM reads in 32-byte atoms.
    pub dram_reads: u64,
    /// DRAM writes in 32-byte atoms.
    pub dram_writes: u64,
    /// Scheduler-cycles charged to the kernel, by class: every scheduler-cycle of an SM is charged to one kernel at most.
    pub schedulers: IssueCounters,
    /// What costs energy.
    pub events: Events,
}

/// One SM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmStats {
    /// Counters over all kernels.
    pub counters: SmCounters,
    /// TBs resident now, per kernel slot.
    pub resident: [u32; KERNEL_SLOTS],
    /// Cycles in which it held a TB.
    pub active_cycles: u64,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Cycles run.
    pub cycles: u64,
    /// Cycles in which SMs were on their way to new quotas.
    pub transition_cycles: u64,
    /// In the order of [`Gpu::launch`].
    pub launches: Vec<LaunchStats>,
    /// By SM.
    pub sms: Vec<SmStats>,
}

/// A slot's counters summed over SMs, and its share of the memory system's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotTotals {
    sm: KernelCounters,
    memory: MemoryCounters,
}

impl Gpu {
    /// Brings the SMs' counters up to date, up to and without cycle `until`.
    pub(super) fn settle(&mut self, until: u64) {
        self.sms.iter_mut().for_each(|sm| sm.settle(until));
    }

    pub(super) fn slot_totals(&self, slot: usize) -> SlotTotals {
        let mut sum = KernelCounters::default();
        for sm in &self.sms {
            sum.add(sm.kernel_counters(slot));
        }
        SlotTotals { sm: sum, memory: self.memory.counters(slot as u8) }
    }
}

pub(super) fn collect(gpu: &Gpu) -> Stats {
    let launches = gpu.queue.launches.iter().map(|queued| {
        let mut stats = LaunchStats {
            kernel: queued.launch.trace.info().name.clone(),
            start_cycle: queued.start,
            end_cycle: queued.end,
            ..LaunchStats::default()
        };
        if queued.start.is_some() {
            let after = queued.after.unwrap_or_else(|| gpu.slot_totals(queued.slot));
            fill(&mut stats, &after, &queued.before);
        }
        stats
    });
    let sms = gpu.sms.iter().enumerate().map(|(number, sm)| SmStats {
        counters: *sm.counters(),
        resident: std::array::from_fn(|slot| sm.resident(slot)),
        active_cycles: gpu.occupancy.cycles(number, gpu.now),
    });
    Stats { cycles: gpu.now, transition_cycles: gpu.transition_cycles(), launches: launches.collect(), sms: sms.collect() }
}

fn fill(stats: &mut LaunchStats, after: &SlotTotals, before: &SlotTotals) {
    let sm = |f: fn(&KernelCounters) -> u64| f(&after.sm) - f(&before.sm);
    let memory = |f: fn(&MemoryCounters) -> u64| f(&after.memory) - f(&before.memory);
    stats.warp_insts = sm(|k| k.warp_insts);
    stats.thread_insts = sm(|k| k.thread_insts);
    stats.tbs_issued = sm(|k| k.tbs_issued);
    stats.tbs_completed = sm(|k| k.tbs_completed);
    stats.l1_load_misses = sm(|k| k.l1_load_misses);
    stats.load_requests = sm(|k| k.load_requests);
    stats.request_packets = memory(|m| m.request_packets);
    stats.reply_packets = memory(|m| m.reply_packets);
    stats.schedulers = std::array::from_fn(|class| after.sm.schedulers[class] - before.sm.schedulers[class]);
    stats.l1d = CacheStats {
        accesses: sm(|k| k.l1_accesses),
        hits: sm(|k| k.l1_hits),
        pending_hits: sm(|k| k.l1_pending_hits),
        misses: sm(|k| k.l1_misses),
        reservation_fails: sm(|k| k.l1_reservation_fails),
    };
    stats.l2 = CacheStats {
        accesses: memory(MemoryCounters::l2_accesses),
        hits: memory(MemoryCounters::l2_hits),
        pending_hits: memory(|m| m.l2_pending_hits),
        misses: memory(MemoryCounters::l2_misses),
        reservation_fails: memory(|m| m.l2_reservation_fails),
    };
    stats.dram_reads = memory(|m| m.dram_reads);
    stats.dram_writes = memory(|m| m.dram_writes);
    stats.events = Events::new(&after.sm, &after.memory).since(&Events::new(&before.sm, &before.memory));
}
