//! Extra TBs in the register block, where the firmware is their controller: what the chip did in an interval, and how many there may be
//! ([`mias_registers::global::CONTEXT_ALLOWED`]; Lin et al. 2018, section 6.4; sources.md D181).
//!
//! The model keeps the intervals: it asks for [`RegisterBlock::context_interval`], hands over what
//! was counted in each with [`RegisterBlock::end_context_interval`], and follows
//! [`RegisterBlock::context_limit`] of the slots that [`RegisterBlock::take_context_writes`] names.

use mias_registers::{CONTEXT_ARRAYS, CONTEXT_COUNTS, KERNEL_SLOTS, context_allowed, context_bound, fault, feature, global, interrupt};

use super::RegisterBlock;
use super::access::element;

/// The most of something, in so many core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// So much.
    pub most: u64,
    /// In so many cycles.
    pub cycles: u64,
}

impl Peak {
    /// In an interval, rounded down and at most the largest.
    fn within(self, interval: u32) -> u32 {
        let most = u128::from(self.most) * u128::from(interval) / u128::from(self.cycles.max(1));
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

/// What a kernel may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraTbLimit {
    /// Most extra TBs on an SM.
    pub extra: u32,
    /// Contexts may lie in the L1.
    pub in_l1: bool,
}

/// The registers of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ContextSlot {
    bound: u32,
    allowed: u32,
    latched: [u32; CONTEXT_COUNTS],
    /// Decisions by class.
    decisions: [u32; 3],
}

/// The registers of extra TBs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OversubscriptionBlock {
    /// Of what is in [`CONTEXT_ARRAYS`].
    peaks: [Peak; CONTEXT_COUNTS],
    interval: u32,
    /// Writes of it.
    asked: u32,
    due: u32,
    slots: [ContextSlot; KERNEL_SLOTS],
    /// Slots whose limit was written, and the model has not been told: one bit each.
    written: u8,
}

impl OversubscriptionBlock {
    /// A register; none if there is none.
    pub(super) fn read(&self, offset: u32, slots: usize) -> Option<u32> {
        match offset {
            global::CONTEXT_INTERVAL => return Some(self.interval),
            global::CONTEXT_DUE => return Some(self.due),
            _ => {}
        }
        if let Some(at) = element(offset, global::CONTEXT_CAPACITY, CONTEXT_COUNTS) {
            return self.peaks.get(at).map(|peak| peak.within(self.interval));
        }
        let of = |base: u32| self.slots.get(element(offset, base, slots)?);
        if let Some(slot) = of(global::CONTEXT_BOUND) {
            return Some(slot.bound);
        }
        if let Some(slot) = of(global::CONTEXT_ALLOWED) {
            return Some(slot.allowed);
        }
        CONTEXT_ARRAYS.iter().enumerate().find_map(|(at, base)| of(*base)?.latched.get(at).copied())
    }
}

impl RegisterBlock {
    /// The same block, of a chip that leaves it to the firmware how many extra TBs there are, if it
    /// does: the most that it can count, in the order of the registers.
    #[must_use]
    pub fn with_oversubscription(mut self, peaks: Option<[Peak; CONTEXT_COUNTS]>) -> Self {
        if let Some(peaks) = peaks {
            self.oversubscription.peaks = peaks;
            self.gpu.features |= feature::CONTEXTS;
        }
        self
    }

    /// Cycles of an interval; 0: there is none.
    #[must_use]
    pub fn context_interval(&self) -> u32 {
        self.oversubscription.interval
    }

    /// Changes whenever intervals are asked for: they begin anew.
    #[must_use]
    pub fn context_intervals_asked(&self) -> u32 {
        self.oversubscription.asked
    }

    /// Slots whose [`RegisterBlock::context_limit`] was written since the last call, one bit each.
    pub fn take_context_writes(&mut self) -> u8 {
        std::mem::take(&mut self.oversubscription.written)
    }

    /// What the kernel in a slot may have.
    #[must_use]
    pub fn context_limit(&self, slot: usize) -> ExtraTbLimit {
        let allowed = self.oversubscription.slots.get(slot).map_or(0, |slot| slot.allowed);
        ExtraTbLimit { extra: allowed & context_allowed::EXTRA, in_l1: allowed & context_allowed::IN_L1 != 0 }
    }

    /// How often the firmware found that little was used, some, and that something was saturated, since the kernel took the slot.
    #[must_use]
    pub fn context_decisions(&self, slot: usize) -> [u32; 3] {
        self.oversubscription.slots.get(slot).map_or([0; 3], |slot| slot.decisions)
    }

    /// Kernels of which an interval is over that the firmware has not done with.
    #[must_use]
    pub fn due_contexts(&self) -> u32 {
        self.oversubscription.due.count_ones()
    }

    /// A kernel is new in its slot; an SM has room for so many extra TBs of it.
    pub fn context_kernel_placed(&mut self, slot: usize, bound: u32, needs_l1: bool) {
        if let Some(state) = self.oversubscription.slots.get_mut(slot) {
            let bound = bound.min(context_bound::EXTRA) | if needs_l1 { context_bound::NEEDS_L1 } else { 0 };
            *state = ContextSlot { bound, ..ContextSlot::default() };
            self.oversubscription.due &= !(1 << slot);
        }
    }

    /// An interval of the kernel in a slot is over, in which the chip has counted this: it is
    /// latched if the last one is done with, and the firmware is called.
    pub fn end_context_interval(&mut self, slot: usize, counted: [u64; CONTEXT_COUNTS]) {
        let Some(state) = self.oversubscription.slots.get_mut(slot) else { return };
        if self.oversubscription.due >> slot & 1 == 0 {
            state.latched = counted.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
            self.oversubscription.due |= 1 << slot;
        }
        self.raise(interrupt::CONTEXTS);
    }

    /// Writes a register; none if there is none, or it cannot be written.
    pub(super) fn write_contexts(&mut self, offset: u32, value: u32) -> Option<()> {
        let slot = element(offset, global::CONTEXT_ALLOWED, self.slots.len());
        if slot.is_none() && ![global::CONTEXT_INTERVAL, global::CONTEXT_DUE].contains(&offset) {
            return None;
        }
        if self.gpu.features & feature::CONTEXTS == 0 {
            self.raise_fault(fault::UNSUPPORTED);
            return Some(());
        }
        let Some(slot) = slot else {
            if offset == global::CONTEXT_DUE {
                self.oversubscription.due &= !value;
            } else {
                self.oversubscription.interval = value;
                self.oversubscription.asked = self.oversubscription.asked.wrapping_add(1);
            }
            return Some(());
        };
        let bound = self.oversubscription.slots.get(slot)?.bound & context_bound::EXTRA;
        let extra = self.in_range(value & context_allowed::EXTRA, 0, bound);
        let state = self.oversubscription.slots.get_mut(slot)?;
        state.allowed = value & (context_allowed::IN_L1 | context_allowed::STOPPED | 3 << context_allowed::CLASS_SHIFT) | extra;
        let class = (value >> context_allowed::CLASS_SHIFT & 3) as usize;
        class.checked_sub(1).and_then(|class| state.decisions.get_mut(class)).into_iter().for_each(|count| *count += 1);
        self.oversubscription.written |= 1 << slot;
        Some(())
    }
}
