//! Counters of the memory system, per kernel slot.

use crate::counts::{Count, counts};

/// Number of distinguished kernel slots; a larger slot number wraps around.
pub use mias_registers::KERNEL_SLOTS;

counts! {
    /// Event counts of one kernel slot. Sectors and atoms have 32 bytes.
    pub struct MemoryCounters {
        /// Number of packets that entered the request subnet; flits where packets have several.
        pub request_packets: u64,
        /// Number of packets that entered the reply subnet; flits where packets have several.
        pub reply_packets: u64,
        /// Number of reads and atomics that hit in L2.
        pub l2_read_hits: u64,
        /// Number of reads and atomics that missed the line or the sector.
        pub l2_read_misses: u64,
        /// Number of writes that hit.
        pub l2_write_hits: u64,
        /// Number of writes that missed the line or the sector.
        pub l2_write_misses: u64,
        /// Number of requests for a sector in flight: accesses, but neither hits nor misses.
        pub l2_pending_hits: u64,
        /// Number of look-ups that found no line slot, MSHR, merge space or miss-queue entry; each
        /// retry counts, every cycle.
        pub l2_reservation_fails: u64,
        /// Number of look-ups that a way monitor counted.
        pub l2_monitor_accesses: u64,
        /// Number of look-ups that allocated a line in a slice with owned ways.
        pub l2_owner_accesses: u64,
        /// Number of modified sectors evicted, attributed to the kernel that took the line.
        pub l2_write_back_sectors: u64,
        /// Number of DRAM read bursts (atoms).
        pub dram_reads: u64,
        /// Number of DRAM write bursts (atoms).
        pub dram_writes: u64,
        /// Sum of the DRAM command cycles that requests waited in the queues of channels, from
        /// their arrival until their bank accepted them.
        pub dram_wait_cycles: u64,
        /// Number of requests that hit an open row when their bank accepted them.
        pub dram_row_hits: u64,
        /// Number of requests that did not hit an open row.
        pub dram_row_misses: u64,
        /// Number of row activations.
        pub dram_activates: u64,
        /// Number of precharges.
        pub dram_precharges: u64,
    }
}

impl MemoryCounters {
    /// Number of accepted look-ups.
    pub fn l2_accesses(&self) -> u64 {
        self.l2_hits() + self.l2_misses() + self.l2_pending_hits
    }

    /// Number of hits of all kinds.
    pub fn l2_hits(&self) -> u64 {
        self.l2_read_hits + self.l2_write_hits
    }

    /// Number of line and sector misses of all kinds.
    pub fn l2_misses(&self) -> u64 {
        self.l2_read_misses + self.l2_write_misses
    }
}

/// L2 look-ups of one SM's requests, for its register block. They are counted at the arrival of the
/// replies, each of which has a hit bit (own). So a slice needs no wires to the counters, and a
/// count is as late as its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmL2 {
    /// Number of look-ups whose reply the SM has taken.
    pub accesses: u64,
    /// Number of look-ups that hit, among those whose reply the SM has taken.
    pub hits: u64,
}

/// Counters of all slots, and counts by SM.
#[derive(Clone, Debug)]
pub(super) struct CounterTable {
    /// Counters by slot, boxed so that an exchange is cheap.
    slots: Box<[MemoryCounters; KERNEL_SLOTS]>,
    sms: Vec<SmL2>,
}

impl SmL2 {
    /// Counts a reply.
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

    /// Counts a reply that `sm` has taken.
    #[inline]
    pub(super) fn l2_replied(&mut self, sm: u16, hit: bool) {
        self.sms[usize::from(sm)].replied(hit);
    }

    /// Counts several replies that `sm` has taken.
    pub(super) fn l2_all_replied(&mut self, sm: u16, SmL2 { accesses, hits }: SmL2) {
        let sm = &mut self.sms[usize::from(sm)];
        sm.accesses += accesses;
        sm.hits += hits;
    }

    /// Exchanges the counts of kernels.
    pub(super) fn swap_kernels(&mut self, other: &mut CounterTable) {
        std::mem::swap(&mut self.slots, &mut other.slots);
    }

    /// Adds the counts of kernels of `other`, and zeroes them there.
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
