//! Extra TBs under control of the firmware: activity of the chip in an interval, and the allowed
//! number of extra TBs.
//!
//! Registers: [`mias_registers::global::CONTEXT_ALLOWED`]; Lin et al. 2018, section 6.4; sources.md
//! D181. The model times the intervals of [`RegisterBlock::context_interval`]. It reports the
//! counts of each with [`RegisterBlock::end_context_interval`]. It applies
//! [`RegisterBlock::context_limit`] of the slots in [`RegisterBlock::take_context_writes`].

use mias_registers::{CONTEXT_ARRAYS, CONTEXT_COUNTS, KERNEL_SLOTS, context_allowed, context_bound, fault, feature, global, interrupt};

use super::RegisterBlock;
use super::access::element;

/// Peak rate of a count: a maximum per number of core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Maximum count.
    pub most: u64,
    /// Core cycles of that maximum.
    pub cycles: u64,
}

impl Peak {
    /// Maximum count in an interval, rounded down and saturated.
    fn within(self, interval: u32) -> u32 {
        let most = u128::from(self.most) * u128::from(interval) / u128::from(self.cycles.max(1));
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

/// Allowance of extra TBs for one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraTbLimit {
    /// Maximum number of extra TBs on an SM.
    pub extra: u32,
    /// True if contexts may be stored in the L1.
    pub in_l1: bool,
}

/// Registers of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ContextSlot {
    bound: u32,
    allowed: u32,
    latched: [u32; CONTEXT_COUNTS],
    /// Number of decisions by class.
    decisions: [u32; 3],
}

/// Registers of extra TBs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OversubscriptionBlock {
    /// Peak rates of the counts in [`CONTEXT_ARRAYS`].
    peaks: [Peak; CONTEXT_COUNTS],
    interval: u32,
    /// Number of writes to the interval register.
    asked: u32,
    due: u32,
    slots: [ContextSlot; KERNEL_SLOTS],
    /// Mask of slots with a limit written since the model's last query.
    written: u8,
}

impl OversubscriptionBlock {
    /// Register value; none if it does not exist.
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
    /// Enables control of extra TBs by the firmware if `peaks` is given: the peak rates of the
    /// counts, in register order.
    #[must_use]
    pub fn with_oversubscription(mut self, peaks: Option<[Peak; CONTEXT_COUNTS]>) -> Self {
        if let Some(peaks) = peaks {
            self.oversubscription.peaks = peaks;
            self.gpu.features |= feature::OVERSUBSCRIPTION;
        }
        self
    }

    /// Cycles of an interval; 0: no intervals.
    #[must_use]
    pub fn context_interval(&self) -> u32 {
        self.oversubscription.interval
    }

    /// Number that changes whenever intervals are requested; they then restart.
    #[must_use]
    pub fn context_intervals_asked(&self) -> u32 {
        self.oversubscription.asked
    }

    /// Takes the mask of slots whose [`RegisterBlock::context_limit`] was written since the last
    /// call.
    pub fn take_context_writes(&mut self) -> u8 {
        std::mem::take(&mut self.oversubscription.written)
    }

    /// Allowance of extra TBs for the kernel in a slot.
    #[must_use]
    pub fn context_limit(&self, slot: usize) -> ExtraTbLimit {
        let allowed = self.oversubscription.slots.get(slot).map_or(0, |slot| slot.allowed);
        ExtraTbLimit { extra: allowed & context_allowed::EXTRA, in_l1: allowed & context_allowed::IN_L1 != 0 }
    }

    /// Number of the firmware's decisions since the kernel took the slot: low use, medium use, and
    /// saturation.
    #[must_use]
    pub fn context_decisions(&self, slot: usize) -> [u32; 3] {
        self.oversubscription.slots.get(slot).map_or([0; 3], |slot| slot.decisions)
    }

    /// Mask of kernels with a finished interval that the firmware has not processed.
    #[must_use]
    pub fn due_oversubscription(&self) -> u32 {
        self.oversubscription.due.count_ones()
    }

    /// Resets a slot for a new kernel. `bound` is the maximum number of its extra TBs that an SM
    /// can store.
    pub fn context_kernel_placed(&mut self, slot: usize, bound: u32, needs_l1: bool) {
        if let Some(state) = self.oversubscription.slots.get_mut(slot) {
            let bound = bound.min(context_bound::EXTRA) | if needs_l1 { context_bound::NEEDS_L1 } else { 0 };
            *state = ContextSlot { bound, ..ContextSlot::default() };
            self.oversubscription.due &= !(1 << slot);
        }
    }

    /// Ends an interval of the kernel in a slot with the chip's counts. They are latched if the
    /// firmware has processed the last interval, and the firmware is called.
    pub fn end_context_interval(&mut self, slot: usize, counted: [u64; CONTEXT_COUNTS]) {
        let Some(state) = self.oversubscription.slots.get_mut(slot) else { return };
        if self.oversubscription.due >> slot & 1 == 0 {
            state.latched = counted.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
            self.oversubscription.due |= 1 << slot;
        }
        self.raise(interrupt::OVERSUBSCRIPTION);
    }

    /// Writes a register; none if it does not exist or is not writable.
    pub(super) fn write_oversubscription(&mut self, offset: u32, value: u32) -> Option<()> {
        let slot = element(offset, global::CONTEXT_ALLOWED, self.slots.len());
        if slot.is_none() && ![global::CONTEXT_INTERVAL, global::CONTEXT_DUE].contains(&offset) {
            return None;
        }
        if self.gpu.features & feature::OVERSUBSCRIPTION == 0 {
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
