//! An SM's counters as the model keeps them, and as the register block latches them.

use mias_firmware::counters::{COUNTERS, Counter};
use mias_firmware::regs::MAX_SLOTS;

/// Cumulative counts of one SM since the start of the simulation, in [`Counter`]'s order and meaning. They never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawCounters {
    /// Core cycles.
    pub cycles: u64,
    /// Cycles with an issue.
    pub issue_cycles: u64,
    /// Memory-stalled cycles, `M`.
    pub memory_stall_cycles: u64,
    /// Load requests that left the SM.
    pub load_requests: u64,
    /// Warp instructions issued.
    pub warp_insts: u64,
    /// Thread instructions issued.
    pub thread_insts: u64,
    /// L1 accesses.
    pub l1_accesses: u64,
    /// Outstanding misses accumulated over memory-stalled cycles, `A`.
    pub outstanding_misses: u64,
    /// L1 reservation failures; each retry counts.
    pub l1_reservation_fails: u64,
    /// L2 accesses.
    pub l2_accesses: u64,
    /// L2 hits.
    pub l2_hits: u64,
    /// Warp instructions of the kernel in each slot.
    pub slot_warp_insts: [u64; MAX_SLOTS],
    /// Thread instructions of the kernel in each slot.
    pub slot_thread_insts: [u64; MAX_SLOTS],
}

impl RawCounters {
    /// The count of one counter.
    #[must_use]
    pub const fn get(&self, counter: Counter) -> u64 {
        match counter {
            Counter::Cycles => self.cycles,
            Counter::IssueCycles => self.issue_cycles,
            Counter::MemoryStallCycles => self.memory_stall_cycles,
            Counter::LoadRequests => self.load_requests,
            Counter::WarpInsts => self.warp_insts,
            Counter::ThreadInsts => self.thread_insts,
            Counter::L1Accesses => self.l1_accesses,
            Counter::OutstandingMisses => self.outstanding_misses,
            Counter::L1ReservationFails => self.l1_reservation_fails,
            Counter::L2Accesses => self.l2_accesses,
            Counter::L2Hits => self.l2_hits,
        }
    }
}

/// Counters of one SM within the register block: cumulative, base of the current count, and the latch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CounterBank {
    raw: RawCounters,
    base: RawCounters,
    latched: [u32; COUNTERS],
    /// Latched per slot; a count saturates no sooner than the counter of all slots.
    slot_warp_insts: [u32; MAX_SLOTS],
    slot_thread_insts: [u32; MAX_SLOTS],
    saturated: u32,
}

impl CounterBank {
    /// Takes over the model's cumulative counts.
    pub(super) fn load(&mut self, raw: RawCounters) {
        self.raw = raw;
    }

    /// Starts counting from here.
    pub(super) fn clear(&mut self) {
        self.base = self.raw;
    }

    /// Latches all counters of this instant, saturated to their widths, and clears them.
    pub(super) fn latch(&mut self) {
        self.saturated = 0;
        for (latch, counter) in self.latched.iter_mut().zip(Counter::ALL) {
            let count = self.raw.get(counter).saturating_sub(self.base.get(counter));
            let max = u64::from(counter.max());
            *latch = count.min(max) as u32;
            if count > max {
                self.saturated |= counter.bit();
            }
        }
        self.slot_warp_insts = narrowed(&self.raw.slot_warp_insts, &self.base.slot_warp_insts, Counter::WarpInsts);
        self.slot_thread_insts = narrowed(&self.raw.slot_thread_insts, &self.base.slot_thread_insts, Counter::ThreadInsts);
        self.clear();
    }

    /// The latched value of the `index`-th counter.
    pub(super) fn latched(&self, index: usize) -> u32 {
        self.latched.get(index).copied().unwrap_or(0)
    }

    /// The latched warp instructions of each slot.
    pub(super) fn slot_warp_insts(&self) -> &[u32; MAX_SLOTS] {
        &self.slot_warp_insts
    }

    /// The latched thread instructions of each slot.
    pub(super) fn slot_thread_insts(&self) -> &[u32; MAX_SLOTS] {
        &self.slot_thread_insts
    }

    /// Which latched counters saturated.
    pub(super) fn saturated(&self) -> u32 {
        self.saturated
    }
}

/// What each slot has counted since `base`, as wide as a counter.
fn narrowed(raw: &[u64; MAX_SLOTS], base: &[u64; MAX_SLOTS], width: Counter) -> [u32; MAX_SLOTS] {
    std::array::from_fn(|slot| raw[slot].saturating_sub(base[slot]).min(width.max().into()) as u32)
}
