//! Counts of SMs and of kernels on the whole chip, as the register block loads them.
//!
//! L2 counts by SM are as late as the replies that carry them
//! ([`crate::memory::MemorySystem::sm_l2`]). Counts of a kernel are kept where the events happen,
//! in SMs, slices and channels. One wire latches all of them, as for the windows of SMs. The
//! latched values return on the wires of the register block's reads, which wait for them
//! (sources.md D143).

use super::Gpu;
use super::sms::Sms;
use crate::memory::MemorySystem;
use crate::register_block::{RawCounters, RawKernel};
use crate::sm::{KERNEL_SLOTS, Sm};
use mias_registers::counters::Counter;

impl Gpu {
    /// Loads every SM's current counts into the register block: a snapshot by command is of the
    /// cycle of the write.
    pub(super) fn load_counters(&mut self) {
        for (id, sm) in self.sms.iter_mut().enumerate() {
            self.registers.load_counters(id, raw_counters(sm, &self.memory, id, self.now));
        }
        for slot in 0..KERNEL_SLOTS {
            self.registers.load_kernel(slot, raw_kernel(&self.sms, &self.memory, slot));
        }
    }
}

/// Counters of an SM for the register block.
pub(super) fn raw_counters(sm: &mut Sm, memory: &MemorySystem, id: usize, now: u64) -> RawCounters {
    sm.settle(now);
    let counters = sm.counters();
    let l2 = memory.sm_l2(id);
    let mut raw = RawCounters::of([
        (Counter::Cycles, counters.cycles),
        (Counter::IssueCycles, counters.issue_cycles),
        (Counter::MemoryStallCycles, counters.memory_stall_cycles),
        (Counter::OutstandingMisses, counters.outstanding_misses),
        (Counter::LsuStallCycles, counters.lsu_stall_cycles),
        (Counter::L2Accesses, l2.accesses),
        (Counter::L2Hits, l2.hits),
    ]);
    for slot in 0..KERNEL_SLOTS {
        let kernel = sm.kernel_counters(slot);
        raw[Counter::LoadRequests] += kernel.load_requests;
        raw[Counter::WarpInsts] += kernel.warp_insts;
        raw[Counter::ThreadInsts] += kernel.thread_insts;
        raw[Counter::L1Accesses] += kernel.l1_accesses;
        raw[Counter::L1ReservationFails] += kernel.l1_reservation_fails;
        (raw.slot_warp_insts[slot], raw.slot_thread_insts[slot]) = (kernel.warp_insts, kernel.thread_insts);
        raw.memory[slot] = sm.memory_counts(slot);
    }
    raw
}

/// Chip-wide counts of a kernel slot for the register block. SMs must be [settled](Sm::settle).
fn raw_kernel(sms: &Sms, memory: &MemorySystem, slot: usize) -> RawKernel {
    let served = memory.counters(slot as u8);
    let mut raw = RawKernel {
        l2_accesses: served.l2_accesses(),
        l2_hits: served.l2_hits(),
        dram_reads: served.dram_reads,
        dram_writes: served.dram_writes,
        row_hits: served.dram_row_hits,
        ..RawKernel::default()
    };
    for kernel in sms.iter().map(|sm| sm.kernel_counters(slot)) {
        raw.warp_insts += kernel.warp_insts;
        raw.thread_insts += kernel.thread_insts;
        raw.ended_tbs += kernel.tbs_completed;
        raw.l1_accesses += kernel.l1_accesses;
        raw.l1_misses += kernel.l1_misses;
    }
    raw
}
