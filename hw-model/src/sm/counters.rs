//! Counters of an SM: cumulative, never cleared, 64 bits wide. The register block narrows them for
//! the firmware.

use super::issue_slots::IssueSlots;
use super::lanes::LaneCounts;
use crate::counts::counts;

counts! {
    /// Counters of one kernel slot on one SM.
    pub struct KernelCounters {
        /// Number of warp instructions issued.
        pub warp_insts: u64,
        /// Number of thread instructions issued: sum of active lanes.
        pub thread_insts: u64,
        /// Active lanes by unit and operands, for the energy report.
        pub lanes: LaneCounts,
        /// Number of sector accesses of the L1: hits, misses and pending hits, loads and stores.
        pub l1_accesses: u64,
        /// Number of L1 accesses that found their data.
        pub l1_hits: u64,
        /// Number of L1 accesses to a sector in flight.
        pub l1_pending_hits: u64,
        /// Number of L1 line and sector misses, including stores.
        pub l1_misses: u64,
        /// Number of L1 attempts that found no line, MSHR or miss-queue entry; each retry counts.
        pub l1_reservation_fails: u64,
        /// Number of texture-cache accesses; without a texture cache they are L1 accesses.
        pub texture_accesses: u64,
        /// Number of texture-cache accesses that found their data present or in flight.
        pub texture_hits: u64,
        /// Number of texture-cache misses.
        pub texture_misses: u64,
        /// Number of texture-cache attempts that found no line, MSHR or miss-queue entry; each
        /// retry counts.
        pub texture_reservation_fails: u64,
        /// Number of load misses of the L1 and of the texture cache: new MSHR entries, without
        /// merges.
        pub l1_load_misses: u64,
        /// Number of load requests that left the SM: new MSHR entries, and loads and atomics that
        /// bypass the L1. The `misses` of the MIAS metrics (sources.md D36).
        pub load_requests: u64,
        /// Number of stores that left the SM, in sectors.
        pub store_requests: u64,
        /// Number of requests that bypass the L1, in sectors.
        pub past_l1_requests: u64,
        /// Number of L1 accesses that a way monitor counted.
        pub l1_monitor_accesses: u64,
        /// Number of accesses that allocated a line in an L1 with owned ways. Each reads the owners
        /// of the set's lines and writes that of the new line.
        pub l1_owner_accesses: u64,
        /// Number of counter operations, and operations of the same width, for the division of warp
        /// instructions, memory instructions and miss resources among kernels (sources.md D175).
        pub sharing_counts: u64,
        /// Number of passes through the shared-memory banks.
        pub shared_passes: u64,
        /// Number of register reads for switched contexts, one per lane.
        pub context_register_reads: u64,
        /// Number of register writes for switched contexts, one per lane.
        pub context_register_writes: u64,
        /// Number of passes through the shared-memory banks for switched contexts.
        pub context_shared_passes: u64,
        /// Number of L1 accesses for switched contexts.
        pub context_l1_accesses: u64,
        /// Issue slots (scheduler-cycles) attributed to the kernel, by class.
        pub issue_slots: IssueSlots,
        /// Number of TBs issued to this SM.
        pub tbs_issued: u64,
        /// Number of TBs that ended on this SM.
        pub tbs_completed: u64,
        /// Number of warp instructions of flushed TBs: issued, and to be executed again.
        pub thrown_away_warp_insts: u64,
        /// Number of thread instructions of flushed TBs.
        pub thrown_away_thread_insts: u64,
    }
}

impl KernelCounters {
    /// Number of requests: accesses of the L1 and of the texture cache, and accesses that bypass
    /// the L1.
    pub(crate) fn requests(&self) -> u64 {
        self.l1_accesses + self.texture_accesses + self.past_l1_requests
    }

    /// Number of attempts that a cache of the SM refused.
    pub(crate) fn reservation_fails(&self) -> u64 {
        self.l1_reservation_fails + self.texture_reservation_fails
    }
}

counts! {
    /// Counters of one SM over all kernels.
    pub struct SmCounters {
        /// Number of core cycles.
        pub cycles: u64,
        /// Number of cycles in which at least one scheduler issued.
        pub issue_cycles: u64,
        /// Counter M: number of cycles in which no scheduler issued and at least one warp waited
        /// for memory (sources.md D35).
        pub memory_stall_cycles: u64,
        /// Counter A: outstanding misses (MSHR entries) summed over the memory-stall cycles (eq.
        /// 3.6).
        pub outstanding_misses: u64,
        /// Outstanding misses summed over all cycles. Divided by
        /// [`KernelCounters::l1_load_misses`], this is the mean time of a load miss (Little's law).
        pub outstanding_cycles: u64,
        /// Number of cycles in which the L1 refused at least one look-up for lack of a line, an
        /// MSHR or a miss-queue entry: the stalls of the load/store unit of Dai et al. 2018,
        /// section 2.4.
        pub lsu_stall_cycles: u64,
        /// Issue slots (scheduler-cycles) by class.
        pub issue_slots: IssueSlots,
    }
}
