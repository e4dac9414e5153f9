//! What the memory system counts, per kernel slot.

use crate::counts::{Count, counts};

/// Kernel slots that are told apart; a slot number beyond wraps around.
pub use mias_registers::KERNEL_SLOTS;

counts! {
    /// Event counts of one kernel slot. Sectors and atoms are of 32 bytes.
    pub struct MemoryCounters {
        /// Packets that entered the request subnet; flits where packets are cut into them.
        pub request_packets: u64,
        /// Packets that entered the reply subnet; flits where packets are cut into them.
        pub reply_packets: u64,
        /// Reads and atomics that hit in L2.
        pub l2_read_hits: u64,
        /// Reads and atomics that missed the line or the sector.
        pub l2_read_misses: u64,
        /// Writes that hit.
        pub l2_write_hits: u64,
        /// Writes that missed the line or the sector.
        pub l2_write_misses: u64,
        /// Requests for a sector already on its way: accesses, but neither hits nor misses.
        pub l2_pending_hits: u64,
        /// Look-ups that found no line slot, MSHR, merge space or miss-queue entry; each retry counts, every cycle.
        pub l2_reservation_fails: u64,
        /// Look-ups that a monitor of the ways counted.
        pub l2_monitor_accesses: u64,
        /// Look-ups that brought a line into a slice whose ways are owned.
        pub l2_owner_accesses: u64,
        /// Modified sectors evicted, counted for the kernel that took the line.
        pub l2_write_back_sectors: u64,
        /// DRAM read bursts (atoms).
        pub dram_reads: u64,
        /// DRAM write bursts (atoms).
        pub dram_writes: u64,
        /// DRAM command cycles that requests waited in the queues of channels, from when they joined until their bank took them up.
        pub dram_wait_cycles: u64,
        /// Requests that found their row open when their bank took them up.
        pub dram_row_hits: u64,
        /// Requests that did not.
        pub dram_row_misses: u64,
        /// Row activations.
        pub dram_activates: u64,
        /// Precharges.
        pub dram_precharges: u64,
    }
}

impl MemoryCounters {
    /// Look-ups that were accepted.
    pub fn l2_accesses(&self) -> u64 {
        self.l2_hits() + self.l2_misses() + self.l2_pending_hits
    }

    /// Hits of all kinds.
    pub fn l2_hits(&self) -> u64 {
        self.l2_read_hits + self.l2_write_hits
    }

    /// Line and sector misses of all kinds.
    pub fn l2_misses(&self) -> u64 {
        self.l2_read_misses + self.l2_write_misses
    }
}

/// L2 look-ups of one SM's requests, for its register block. They are counted where the replies arrive, each with a bit that says
/// whether it hit (own). So a slice needs no wires to the counters, and a count is as late as the reply that brings it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmL2 {
    /// Look-ups whose reply the SM has taken.
    pub accesses: u64,
    /// Those that hit.
    pub hits: u64,
}

/// Counters of all slots, and what is told apart by SM.
#[derive(Clone, Debug)]
pub(super) struct CounterTable {
    /// In a box, so that it is exchanged for another at once.
    slots: Box<[MemoryCounters; KERNEL_SLOTS]>,
    sms: Vec<SmL2>,
}

impl SmL2 {
    /// A reply comes.
    #[inline]
    pub fn replied(&mut self, hit: bool) {
        self.accesses += 1;
        self.hits += u64::from(hit);
    }
}

impl CounterTable {
    pub(super) fn new(sms: u32) -> Self {
        CounterTable { slots: Box::default(), sms: vec![SmL2::default(); sms as usize] }
    }

    #[inline]
    pub(super) fn of(&mut self, kernel: u8) -> &mut MemoryCounters {
        &mut self.slots[kernel as usize % KERNEL_SLOTS]
    }

    pub(super) fn get(&self, kernel: u8) -> MemoryCounters {
        self.slots[kernel as usize % KERNEL_SLOTS]
    }

    pub(super) fn sm_l2(&self, sm: usize) -> SmL2 {
        self.sms[sm]
    }

    /// `sm` has taken a reply.
    #[inline]
    pub(super) fn l2_replied(&mut self, sm: u16, hit: bool) {
        self.sms[usize::from(sm)].replied(hit);
    }

    /// `sm` has taken so many replies.
    pub(super) fn l2_all_replied(&mut self, sm: u16, SmL2 { accesses, hits }: SmL2) {
        let sm = &mut self.sms[usize::from(sm)];
        sm.accesses += accesses;
        sm.hits += hits;
    }

    /// Exchanges what was counted of kernels.
    pub(super) fn swap_kernels(&mut self, other: &mut CounterTable) {
        std::mem::swap(&mut self.slots, &mut other.slots);
    }

    /// Adds what `other` has counted of kernels, and sets it to zero there.
    pub(super) fn take_over(&mut self, other: &mut CounterTable) {
        for (mine, theirs) in self.slots.iter_mut().zip(other.slots.iter_mut()) {
            if *theirs != MemoryCounters::default() {
                mine.add(&std::mem::take(theirs));
            }
        }
    }

    pub(super) fn reset(&mut self, kernel: u8) {
        *self.of(kernel) = MemoryCounters::default();
    }
}
