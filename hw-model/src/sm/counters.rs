//! What an SM counts: cumulative, never cleared, 64 bits wide. The register block narrows them for the firmware.

use super::issue_slots::IssueSlots;
use super::lanes::LaneCounts;
use crate::counts::counts;

counts! {
    /// Counters of one kernel slot on one SM.
    pub struct KernelCounters {
        /// Warp instructions issued.
        pub warp_insts: u64,
        /// Thread instructions issued: active lanes summed.
        pub thread_insts: u64,
        /// The same lanes by unit and operands, for the energy report.
        pub lanes: LaneCounts,
        /// Sector accesses of the L1: hits, misses and pending hits, loads and stores.
        pub l1_accesses: u64,
        /// Accesses that found their data.
        pub l1_hits: u64,
        /// Accesses to a sector already on its way.
        pub l1_pending_hits: u64,
        /// Line and sector misses, stores included.
        pub l1_misses: u64,
        /// Attempts that found no line, MSHR or miss-queue entry; each retry counts.
        pub l1_reservation_fails: u64,
        /// Accesses of the texture cache; without one they are the L1's.
        pub texture_accesses: u64,
        /// Those that found their data, or found them on their way.
        pub texture_hits: u64,
        /// Those that did not.
        pub texture_misses: u64,
        /// Attempts that found no line, MSHR or miss-queue entry in the texture cache; each retry counts.
        pub texture_reservation_fails: u64,
        /// Load misses of the L1 and of the texture cache: new MSHR entries, merges not counted.
        pub l1_load_misses: u64,
        /// Load requests that left the SM: new MSHR entries, and loads and atomics that bypass the L1. The `misses` of the MIAS
        /// metrics (sources.md D36).
        pub load_requests: u64,
        /// Stores that left the SM, in sectors.
        pub store_requests: u64,
        /// Requests that pass the L1 by, in sectors.
        pub past_l1_requests: u64,
        /// Accesses of the L1 that a monitor of its ways counted.
        pub l1_monitor_accesses: u64,
        /// Accesses that brought a line into an L1 whose ways are owned: whose the lines of its set are was read, and whose the new one is
        /// written.
        pub l1_owner_accesses: u64,
        /// Counts, and other operations on numbers as wide, of what shares warp instructions, memory instructions and miss resources out
        /// between kernels (sources.md D175).
        pub sharing_counts: u64,
        /// Passes through the shared-memory banks.
        pub shared_passes: u64,
        /// Registers that contexts which are switched were read from, one per lane.
        pub context_register_reads: u64,
        /// Registers that they were written to.
        pub context_register_writes: u64,
        /// Passes through the shared-memory banks for them.
        pub context_shared_passes: u64,
        /// Accesses of the L1 for them.
        pub context_l1_accesses: u64,
        /// Issue slots (scheduler-cycles) charged to the kernel, by what became of them.
        pub issue_slots: IssueSlots,
        /// TBs issued to this SM.
        pub tbs_issued: u64,
        /// TBs that ended on this SM.
        pub tbs_completed: u64,
        /// Warp instructions of TBs that were flushed: issued, and to be executed again.
        pub thrown_away_warp_insts: u64,
        /// Thread instructions of them.
        pub thrown_away_thread_insts: u64,
    }
}

impl KernelCounters {
    /// Requests made: accesses of the L1 and of the texture cache, and what passes the L1 by.
    pub(crate) fn requests(&self) -> u64 {
        self.l1_accesses + self.texture_accesses + self.past_l1_requests
    }

    /// Attempts that a cache of the SM refused.
    pub(crate) fn reservation_fails(&self) -> u64 {
        self.l1_reservation_fails + self.texture_reservation_fails
    }
}

counts! {
    /// Counters of one SM over all kernels.
    pub struct SmCounters {
        /// Core cycles.
        pub cycles: u64,
        /// Cycles in which at least one scheduler issued.
        pub issue_cycles: u64,
        /// M: cycles in which no scheduler issued and at least one warp waited for memory (sources.md D35).
        pub memory_stall_cycles: u64,
        /// A: outstanding misses (MSHR entries) summed over the memory-stall cycles (eq. 3.6).
        pub outstanding_misses: u64,
        /// Outstanding misses summed over all cycles: over [`KernelCounters::l1_load_misses`], the mean time that a load miss takes
        /// (Little's law).
        pub outstanding_cycles: u64,
        /// Cycles in which the L1 refused at least one look-up for want of a line, an MSHR or a miss-queue entry: the stalls of the
        /// load/store unit of Dai et al. 2018, section 2.4.
        pub lsu_stall_cycles: u64,
        /// Issue slots (scheduler-cycles) by what became of them.
        pub issue_slots: IssueSlots,
    }
}
