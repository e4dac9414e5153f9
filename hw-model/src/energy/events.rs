//! What a kernel did, as far as it costs energy.

use super::LaneCounts;
use crate::memory::MemoryCounters;
use crate::sm::KernelCounters;

/// Counts of one kernel over all SMs and the memory system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Warp instructions issued.
    pub warp_insts: u64,
    /// Their active lanes.
    pub lanes: LaneCounts,
    /// Passes through the banks of shared memory.
    pub shared_passes: u64,
    /// L1 accesses that found their sector there or on its way.
    pub l1_hits: u64,
    /// L1 accesses that did not.
    pub l1_misses: u64,
    /// Packets through the crossbar, both ways.
    pub packets: u64,
    /// L2 reads and atomics that found their sector there or on its way.
    pub l2_read_hits: u64,
    /// L2 reads and atomics that did not.
    pub l2_read_misses: u64,
    /// L2 writes that found their sector.
    pub l2_write_hits: u64,
    /// L2 writes that did not.
    pub l2_write_misses: u64,
    /// Atoms read from DRAM.
    pub dram_reads: u64,
    /// Atoms written to DRAM.
    pub dram_writes: u64,
    /// DRAM rows opened.
    pub dram_activates: u64,
}

impl Events {
    pub(crate) fn new(sm: &KernelCounters, memory: &MemoryCounters) -> Self {
        Events {
            warp_insts: sm.warp_insts,
            lanes: sm.lanes,
            shared_passes: sm.shared_passes,
            l1_hits: sm.l1_hits + sm.l1_pending_hits,
            l1_misses: sm.l1_misses,
            packets: memory.request_packets + memory.reply_packets,
            l2_read_hits: memory.l2_read_hits + memory.l2_pending_hits,
            l2_read_misses: memory.l2_read_misses,
            l2_write_hits: memory.l2_write_hits,
            l2_write_misses: memory.l2_write_misses,
            dram_reads: memory.dram_reads,
            dram_writes: memory.dram_writes,
            dram_activates: memory.dram_activates,
        }
    }

    /// What was counted since `before`, an earlier state of the same counters.
    #[must_use]
    pub fn since(&self, before: &Events) -> Events {
        Events {
            warp_insts: self.warp_insts - before.warp_insts,
            lanes: self.lanes.since(&before.lanes),
            shared_passes: self.shared_passes - before.shared_passes,
            l1_hits: self.l1_hits - before.l1_hits,
            l1_misses: self.l1_misses - before.l1_misses,
            packets: self.packets - before.packets,
            l2_read_hits: self.l2_read_hits - before.l2_read_hits,
            l2_read_misses: self.l2_read_misses - before.l2_read_misses,
            l2_write_hits: self.l2_write_hits - before.l2_write_hits,
            l2_write_misses: self.l2_write_misses - before.l2_write_misses,
            dram_reads: self.dram_reads - before.dram_reads,
            dram_writes: self.dram_writes - before.dram_writes,
            dram_activates: self.dram_activates - before.dram_activates,
        }
    }
}
