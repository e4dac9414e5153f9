//! The one typed set of statistics that tables, JSON and CSV are written from. All counts are exact integers.

use super::Gpu;
use super::first_run::FirstRun;
use super::oversubscription::OversubscriptionStats;
use super::preempt::Preemption;
use super::sm_states::SmStateCycles;
use super::transition::InPlace;
use crate::cache::WaysStats;
use crate::counts::{Count, counts};
use crate::memory::MemoryCounters;
use crate::sm::{IssueSlots, KERNEL_SLOTS, KernelCounters, MemoryChoices, MemoryLimits, OversubscriptionCounts, SmCounters};
use serde::{Deserialize, Serialize};

/// Sector accesses of a cache by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStats {
    /// Accesses accepted.
    pub accesses: u64,
    /// Data was there.
    pub hits: u64,
    /// Line or sector was not there; stores that miss included. Accesses that neither hit nor miss found their sector on its way.
    pub misses: u64,
    /// Attempts that found no line, MSHR or queue entry; each retry counts.
    pub reservation_fails: u64,
}

impl CacheStats {
    /// Nothing was accessed, nor tried.
    fn is_empty(&self) -> bool {
        *self == CacheStats::default()
    }
}

/// One launch, in the units that reports print. Its JSON is part of `docs/results-format.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchStats {
    /// Cycle in which it arrived and its launch latency began, none if it has not.
    pub start_cycle: Option<u64>,
    /// Cycle in which it was given its first TB, none if it has none.
    #[serde(default, skip_serializing)]
    pub first_issue_cycle: Option<u64>,
    /// Cycle in which the last TB of its grid was issued for the first time, none if some are left.
    #[serde(default, skip_serializing)]
    pub all_issued_cycle: Option<u64>,
    /// Cycle in which as many of its TBs had been issued as fit on the GPU, or all of a smaller grid; none if fewer were.
    #[serde(default, skip_serializing)]
    pub filled_cycle: Option<u64>,
    /// Cycle by which its last TB had ended, none if it is running, or runs again.
    pub end_cycle: Option<u64>,
    /// Warp instructions issued.
    pub warp_insts: u64,
    /// Thread instructions issued.
    pub thread_insts: u64,
    /// TBs issued to SMs.
    pub tbs_issued: u64,
    /// TBs that ended.
    pub tbs_completed: u64,
    /// L1 data caches of all SMs.
    #[serde(alias = "l1d")]
    pub l1: CacheStats,
    /// Texture caches of all SMs; without any, texels are among the accesses of the L1.
    #[serde(default, skip_serializing_if = "CacheStats::is_empty")]
    pub texture: CacheStats,
    /// All slices of the L2.
    pub l2: CacheStats,
    /// Load misses of the L1 and of the texture cache: new MSHR entries.
    pub l1_load_misses: u64,
    /// Packets that entered the crossbar towards the L2.
    pub request_packets: u64,
    /// Packets that entered the crossbar towards the SMs.
    pub reply_packets: u64,
    /// DRAM reads in 32-byte atoms.
    pub dram_reads: u64,
    /// DRAM writes in 32-byte atoms.
    pub dram_writes: u64,
    /// Of reads and writes, those that found their row open.
    #[serde(default, skip_serializing)]
    pub dram_row_hits: u64,
    /// DRAM command cycles that its requests waited in the queues of channels, all together; none unless a machine or the firmware asks for
    /// an order of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram_wait_cycles: Option<u64>,
    /// Issue slots (scheduler-cycles) charged to the kernel, by class: every one of an SM is charged to one kernel at most.
    #[serde(alias = "schedulers")]
    pub issue_slots: IssueSlots,
    /// Instructions among those issued that came to nothing.
    #[serde(default, skip_serializing_if = "ThrownAway::is_empty")]
    pub thrown_away: ThrownAway,
    /// Its first run, if that has ended and was asked for ([`Gpu::with_first_runs`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_run: Option<FirstRun>,
}

/// Instructions of TBs that were flushed: they had issued, and are executed again from the start (Shieh 2016, section 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrownAway {
    /// Warp instructions.
    pub warp_insts: u64,
    /// Thread instructions.
    pub thread_insts: u64,
}

impl ThrownAway {
    /// Nothing was flushed.
    fn is_empty(&self) -> bool {
        *self == ThrownAway::default()
    }
}

impl LaunchStats {
    /// Warp instructions that count as work done: those issued, but for those thrown away. A flush in a span of cycles may throw away what was
    /// issued before it; then the span has done nothing, at worst.
    pub fn useful_warp_insts(&self) -> u64 {
        self.warp_insts.saturating_sub(self.thrown_away.warp_insts)
    }

    /// Thread instructions that count as work done.
    pub fn useful_thread_insts(&self) -> u64 {
        self.thread_insts.saturating_sub(self.thrown_away.thread_insts)
    }

    /// Core cycles from its start to its end, or to cycle `now` if it has not ended; 0 if it has not arrived.
    pub fn cycles(&self, now: u64) -> u64 {
        self.start_cycle.map_or(0, |start| self.end_cycle.unwrap_or(now).saturating_sub(start))
    }

    /// The same launch, which has counted this.
    pub(super) fn of(&self, counters: &LaunchCounters) -> Self {
        let Self { first_issue_cycle, all_issued_cycle, filled_cycle, first_run, .. } = *self;
        LaunchStats {
            first_issue_cycle,
            all_issued_cycle,
            filled_cycle,
            first_run,
            dram_wait_cycles: self.dram_wait_cycles.map(|_| counters.memory.dram_wait_cycles),
            ..LaunchStats::new(self.start_cycle, self.end_cycle, counters)
        }
    }

    pub(super) fn new(start_cycle: Option<u64>, end_cycle: Option<u64>, counters: &LaunchCounters) -> Self {
        let LaunchCounters { sm, memory } = counters;
        LaunchStats {
            start_cycle,
            first_issue_cycle: None,
            all_issued_cycle: None,
            filled_cycle: None,
            end_cycle,
            warp_insts: sm.warp_insts,
            thread_insts: sm.thread_insts,
            tbs_issued: sm.tbs_issued,
            tbs_completed: sm.tbs_completed,
            l1: CacheStats { accesses: sm.l1_accesses, hits: sm.l1_hits, misses: sm.l1_misses, reservation_fails: sm.l1_reservation_fails },
            texture: CacheStats {
                accesses: sm.texture_accesses,
                hits: sm.texture_hits,
                misses: sm.texture_misses,
                reservation_fails: sm.texture_reservation_fails,
            },
            l2: CacheStats {
                accesses: memory.l2_accesses(),
                hits: memory.l2_hits(),
                misses: memory.l2_misses(),
                reservation_fails: memory.l2_reservation_fails,
            },
            l1_load_misses: sm.l1_load_misses,
            request_packets: memory.request_packets,
            reply_packets: memory.reply_packets,
            dram_reads: memory.dram_reads,
            dram_writes: memory.dram_writes,
            dram_row_hits: memory.dram_row_hits,
            dram_wait_cycles: None,
            issue_slots: sm.issue_slots,
            thrown_away: ThrownAway { warp_insts: sm.thrown_away_warp_insts, thread_insts: sm.thrown_away_thread_insts },
            first_run: None,
        }
    }
}

counts! {
    /// All that a launch counts.
    pub struct LaunchCounters {
        /// On all SMs.
        pub sm: KernelCounters,
        /// In the memory system.
        pub memory: MemoryCounters,
    }
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
    /// TBs beyond those that fit, of all kernels; none where a machine takes none.
    pub contexts: Option<OversubscriptionCounts>,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Cycles run.
    pub cycles: u64,
    /// Cycles in which SMs were on their way to new quotas.
    pub transition_cycles: u64,
    /// How far SMs are in their last quotas.
    pub in_place: InPlace,
    /// In the order of [`Gpu::launch`].
    pub launches: Vec<LaunchStats>,
    /// What each of them counted, in the same order.
    pub counters: Vec<LaunchCounters>,
    /// TBs that were made to leave, in the order of the commands.
    pub preemptions: Vec<Preemption>,
    /// By SM.
    pub sms: Vec<SmStats>,
    /// Who owns which ways of the L1s, by SM; none where they are shared.
    pub l1_ways: Option<WaysStats>,
    /// Likewise of the L2, by slice.
    pub l2_ways: Option<WaysStats>,
    /// How often there was something to choose where an off-chip memory instruction issued; none where nothing holds any back.
    pub memory_choices: Option<MemoryChoices>,
    /// Limits of memory instructions in flight at present, by kernel slot; empty where there are none.
    pub memory_limits: Vec<MemoryLimits>,
    /// Extra TBs, by launch; empty where a machine takes none.
    pub contexts: Vec<OversubscriptionStats>,
    /// What SMs were, and for how long; none if every SM was active all the time.
    pub sm_states: Option<SmStateCycles>,
}

impl Gpu {
    /// Brings the SMs' counters up to date, up to and without cycle `until`.
    pub(super) fn settle(&mut self, until: u64) {
        self.sms.iter_mut().for_each(|sm| sm.settle(until));
    }

    /// What a slot has counted since the start of the simulation, whichever kernels held it.
    pub(super) fn slot_counters(&self, slot: usize) -> LaunchCounters {
        let mut all = LaunchCounters { sm: KernelCounters::default(), memory: self.memory.counters(slot as u8) };
        self.sms.iter().for_each(|sm| all.sm.add(sm.kernel_counters(slot)));
        all
    }
}

pub(super) fn collect(gpu: &mut Gpu) -> Stats {
    let mut stats = Stats { cycles: gpu.now, transition_cycles: gpu.transition_cycles(), in_place: gpu.in_place(), ..Stats::default() };
    for (number, queued) in gpu.queue.launches.iter().enumerate() {
        let mut counters = queued.done;
        if queued.running {
            counters.add(&gpu.slot_counters(queued.slot).since(&queued.before));
        }
        let launch = LaunchStats::new(queued.start, queued.end, &counters);
        let [first_issue_cycle, all_issued_cycle, filled_cycle] = [queued.first_issue, queued.all_issued, queued.filled];
        let first_run = gpu.first_runs.as_ref().and_then(|runs| runs.get(number));
        let dram_wait_cycles = gpu.memory.orders_dram().then_some(counters.memory.dram_wait_cycles);
        stats.launches.push(LaunchStats { first_issue_cycle, all_issued_cycle, filled_cycle, dram_wait_cycles, first_run, ..launch });
        stats.counters.push(counters);
        if gpu.oversubscription.is_some() {
            let mut contexts = queued.contexts.unwrap_or_default();
            let now = if queued.running { gpu.context_stats(queued.slot, gpu.now) } else { None };
            now.iter().for_each(|now| contexts.add(now));
            stats.contexts.push(contexts);
        }
    }
    let sms = gpu.sms.iter().enumerate().map(|(number, sm)| SmStats {
        counters: *sm.counters(),
        resident: std::array::from_fn(|slot| sm.resident(slot)),
        active_cycles: gpu.occupancy.cycles(number, gpu.now),
        contexts: sm.all_context_counts(gpu.now),
    });
    stats.sms = sms.collect();
    gpu.sms.iter().for_each(|sm| sm.add_ways(&mut stats.l1_ways));
    gpu.sms.iter().for_each(|sm| sm.add_choices(&mut stats.memory_choices));
    gpu.sms.iter().for_each(|sm| sm.add_limits(&mut stats.memory_limits));
    stats.preemptions = gpu.preemptions();
    stats.l2_ways = gpu.memory.ways_stats();
    stats.sm_states = gpu.states.cycles(gpu.now);
    stats
}
