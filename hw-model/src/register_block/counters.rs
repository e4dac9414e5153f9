//! Counters of an SM as the model keeps them and as the register block latches them.

use crate::sm::KernelMemoryCounts;
use mias_registers::KERNEL_SLOTS;
use mias_registers::counters::{COUNTERS, Counter};
use std::ops::{Index, IndexMut};

/// Cumulative counts of one SM since the start of the simulation, by [`Counter`]. They never
/// decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawCounters {
    counts: [u64; COUNTERS],
    /// Warp instructions of the kernel in each slot.
    pub slot_warp_insts: [u64; KERNEL_SLOTS],
    /// Thread instructions of the kernel in each slot.
    pub slot_thread_insts: [u64; KERNEL_SLOTS],
    /// Memory-issue counts of the kernel in each slot.
    pub memory: [KernelMemoryCounts; KERNEL_SLOTS],
}

impl RawCounters {
    /// Creates counters with these counts and 0 elsewhere.
    #[must_use]
    pub fn of<const N: usize>(counts: [(Counter, u64); N]) -> Self {
        let mut raw = Self::default();
        for (counter, count) in counts {
            raw[counter] = count;
        }
        raw
    }
}

impl Index<Counter> for RawCounters {
    type Output = u64;

    fn index(&self, counter: Counter) -> &u64 {
        &self.counts[counter.index()]
    }
}

impl IndexMut<Counter> for RawCounters {
    fn index_mut(&mut self, counter: Counter) -> &mut u64 {
        &mut self.counts[counter.index()]
    }
}

/// Counters of one SM in the register block: cumulative counts, base of the current window, and
/// latch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CounterBank {
    raw: RawCounters,
    base: RawCounters,
    latched: [u32; COUNTERS],
    /// Latched warp instructions by slot. A slot's count saturates no earlier than the counter of
    /// all slots.
    slot_warp_insts: [u32; KERNEL_SLOTS],
    slot_thread_insts: [u32; KERNEL_SLOTS],
    saturated: u32,
}

impl CounterBank {
    /// Stores the model's cumulative counts.
    pub(super) fn load(&mut self, raw: RawCounters) {
        self.raw = raw;
    }

    /// Starts a new count.
    pub(super) fn clear(&mut self) {
        self.base = self.raw;
    }

    /// Latches all counters, saturated to their widths, and clears them.
    pub(super) fn latch(&mut self) {
        self.saturated = 0;
        for (latch, counter) in self.latched.iter_mut().zip(Counter::ALL) {
            let count = self.raw[counter].saturating_sub(self.base[counter]);
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

    /// Latched value of the `index`-th counter.
    pub(super) fn latched(&self, index: usize) -> u32 {
        self.latched.get(index).copied().unwrap_or(0)
    }

    /// Latched warp instructions of each slot.
    pub(super) fn slot_warp_insts(&self) -> &[u32; KERNEL_SLOTS] {
        &self.slot_warp_insts
    }

    /// Latched thread instructions of each slot.
    pub(super) fn slot_thread_insts(&self) -> &[u32; KERNEL_SLOTS] {
        &self.slot_thread_insts
    }

    /// Mask of the latched counters that saturated.
    pub(super) fn saturated(&self) -> u32 {
        self.saturated
    }
}

/// Counts of each slot since `base`, saturated to the width of a counter.
fn narrowed(raw: &[u64; KERNEL_SLOTS], base: &[u64; KERNEL_SLOTS], width: Counter) -> [u32; KERNEL_SLOTS] {
    std::array::from_fn(|slot| raw[slot].saturating_sub(base[slot]).min(width.max().into()) as u32)
}
