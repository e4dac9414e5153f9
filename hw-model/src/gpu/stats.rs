//! Statistics of a run, the only source of tables, JSON and CSV. All counts are exact integers.

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheStats {
    /// Number of accesses accepted.
    pub accesses: u64,
    /// Number of accesses whose data was present.
    pub hits: u64,
    /// Number of accesses whose line or sector was absent, including stores. Accesses that neither
    /// hit nor miss found their sector in flight.
    pub misses: u64,
    /// Number of attempts that found no line, MSHR or queue entry; each retry counts.
    pub reservation_fails: u64,
}

impl CacheStats {
    /// True without accesses and attempts.
    fn is_empty(&self) -> bool {
        *self == CacheStats::default()
    }
}

/// Statistics of one launch, in the units of reports. Its JSON is part of
/// `docs/reference/results.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaunchStats {
    /// Cycle of the launch's arrival, at which its launch latency began; none if it has not
    /// arrived.
    pub start_cycle: Option<u64>,
    /// Cycle of the launch's first TB issue; none if no TB was issued.
    #[serde(default, skip_serializing)]
    pub first_issue_cycle: Option<u64>,
    /// Cycle in which the last TB of the grid was issued for the first time; none if some are left.
    #[serde(default, skip_serializing)]
    pub all_issued_cycle: Option<u64>,
    /// Cycle by which as many TBs had been issued as fit on the GPU, or all of a smaller grid; none
    /// if fewer were.
    #[serde(default, skip_serializing)]
    pub filled_cycle: Option<u64>,
    /// Cycle by which the launch's last TB had ended; none if it is running or relaunched.
    pub end_cycle: Option<u64>,
    /// Number of warp instructions issued.
    pub warp_insts: u64,
    /// Number of thread instructions issued.
    pub thread_insts: u64,
    /// Number of TBs issued to SMs.
    pub tbs_issued: u64,
    /// Number of TBs that ended.
    pub tbs_completed: u64,
    /// L1 data caches of all SMs.
    #[serde(alias = "l1d")]
    pub l1: CacheStats,
    /// Texture caches of all SMs; without them, texels are among the accesses of the L1.
    #[serde(default, skip_serializing_if = "CacheStats::is_empty")]
    pub texture: CacheStats,
    /// All slices of the L2.
    pub l2: CacheStats,
    /// Number of load misses of the L1 and of the texture cache: new MSHR entries.
    pub l1_load_misses: u64,
    /// Number of packets that entered the crossbar to the L2.
    pub request_packets: u64,
    /// Number of packets that entered the crossbar to the SMs.
    pub reply_packets: u64,
    /// Number of DRAM reads in 32-byte atoms.
    pub dram_reads: u64,
    /// Number of DRAM writes in 32-byte atoms.
    pub dram_writes: u64,
    /// Number of DRAM reads and writes that hit an open row.
    #[serde(default, skip_serializing)]
    pub dram_row_hits: u64,
    /// DRAM command cycles that the launch's requests waited in the queues of channels; none unless
    /// the GPU file or the firmware sets a request order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram_wait_cycles: Option<u64>,
    /// Issue slots (scheduler-cycles) attributed to the kernel, by class. Each slot of an SM is
    /// attributed to at most one kernel.
    #[serde(alias = "schedulers")]
    pub issue_slots: IssueSlots,
    /// Issued instructions that were discarded.
    #[serde(default, skip_serializing_if = "ThrownAway::is_empty")]
    pub thrown_away: ThrownAway,
    /// First run, if it has ended and was recorded ([`Gpu::with_first_runs`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_run: Option<FirstRun>,
}

/// Issued instructions of flushed TBs, which are executed again from the start (Shieh 2016, section
/// 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThrownAway {
    /// Number of warp instructions.
    pub warp_insts: u64,
    /// Number of thread instructions.
    pub thread_insts: u64,
}

impl ThrownAway {
    /// True without a flush.
    fn is_empty(&self) -> bool {
        *self == ThrownAway::default()
    }
}

impl LaunchStats {
    /// Number of useful warp instructions: those issued minus those discarded. A flush may discard
    /// instructions issued before the measured span; the difference is then 0 at least.
    pub fn useful_warp_insts(&self) -> u64 {
        self.warp_insts.saturating_sub(self.thrown_away.warp_insts)
    }

    /// Number of useful thread instructions: those issued minus those discarded.
    pub fn useful_thread_insts(&self) -> u64 {
        self.thread_insts.saturating_sub(self.thrown_away.thread_insts)
    }

    /// Core cycles from the launch's start to its end, or to cycle `now` if it has not ended; 0 if
    /// it has not arrived.
    pub fn cycles(&self, now: u64) -> u64 {
        self.start_cycle.map_or(0, |start| self.end_cycle.unwrap_or(now).saturating_sub(start))
    }

    /// Statistics of this launch with these counters.
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
    /// All counters of a launch.
    pub struct LaunchCounters {
        /// Counters on all SMs.
        pub sm: KernelCounters,
        /// Counters in the memory system.
        pub memory: MemoryCounters,
    }
}

/// Statistics of one SM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmStats {
    /// Counters over all kernels.
    pub counters: SmCounters,
    /// Number of resident TBs, per kernel slot.
    pub resident: [u32; KERNEL_SLOTS],
    /// Number of cycles in which the SM held a TB.
    pub active_cycles: u64,
    /// Counts of extra TBs, over all kernels; none without oversubscription.
    pub oversubscription: Option<OversubscriptionCounts>,
}

/// Statistics of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of cycles run.
    pub cycles: u64,
    /// Number of cycles in which SMs were in transition to new quotas.
    pub transition_cycles: u64,
    /// Progress of SMs toward their last quotas.
    pub in_place: InPlace,
    /// Launches in the order of [`Gpu::launch`].
    pub launches: Vec<LaunchStats>,
    /// Counters of each launch, in the order of `launches`.
    pub counters: Vec<LaunchCounters>,
    /// Preempted TBs, in the order of the commands.
    pub preemptions: Vec<Preemption>,
    /// Statistics by SM.
    pub sms: Vec<SmStats>,
    /// Ownership of the L1 ways, by SM; none where ways are shared.
    pub l1_ways: Option<WaysStats>,
    /// Ownership of the L2 ways, by slice; none where ways are shared.
    pub l2_ways: Option<WaysStats>,
    /// Number of issued off-chip memory instructions with a choice among kernels; none without
    /// memory-issue control.
    pub memory_choices: Option<MemoryChoices>,
    /// Current limits of memory instructions in flight, by kernel slot; empty without limits.
    pub memory_limits: Vec<MemoryLimits>,
    /// Extra TBs, by launch; empty without oversubscription.
    pub oversubscription: Vec<OversubscriptionStats>,
    /// SM cycles by state; none if every SM was always active.
    pub sm_states: Option<SmStateCycles>,
}

impl Gpu {
    /// Brings the SMs' counters up to date, before cycle `until`.
    pub(super) fn settle(&mut self, until: u64) {
        self.sms.iter_mut().for_each(|sm| sm.settle(until));
    }

    /// Counters of a slot since the start of the simulation, over all kernels that held it.
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
            let mut oversubscription = queued.oversubscription.unwrap_or_default();
            let now = if queued.running { gpu.context_stats(queued.slot, gpu.now) } else { None };
            now.iter().for_each(|now| oversubscription.add(now));
            stats.oversubscription.push(oversubscription);
        }
    }
    let sms = gpu.sms.iter().enumerate().map(|(number, sm)| SmStats {
        counters: *sm.counters(),
        resident: std::array::from_fn(|slot| sm.resident(slot)),
        active_cycles: gpu.occupancy.cycles(number, gpu.now),
        oversubscription: sm.all_context_counts(gpu.now),
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
