//! State of one SM, one kernel slot and the small devices (timer, watchdog, preemption) of the
//! register block.

use mias_registers::{KERNEL_SLOTS, global};

use super::counters::CounterBank;
use super::description::KernelDescriptor;

/// State of one SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SmState {
    /// True while the SM waits for its partition or profiles.
    pub(super) armed: bool,
    /// First cycle after the running window.
    pub(super) window_end: Option<u64>,
    pub(super) counters: CounterBank,
    pub(super) staged: [u8; KERNEL_SLOTS],
    /// Quotas as of the last commit, in effect or on the bus.
    pub(super) committed: [u8; KERNEL_SLOTS],
    pub(super) active: [u8; KERNEL_SLOTS],
    pub(super) resident: [u8; KERNEL_SLOTS],
}

/// State of a kernel slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotState {
    /// Kernel in the slot, none if free.
    pub(super) kernel: Option<KernelDescriptor>,
    pub(super) unissued: u32,
    pub(super) unfinished: u32,
    pub(super) drained: bool,
    pub(super) completed: bool,
}

/// Reports of the firmware: registers without effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// [`global::PHASE`] (0 is Idle), [`global::RESCHEDULINGS`], [`global::DECISION_BEGIN`],
    /// [`global::DECISION_CYCLES`], [`global::SEARCH_FOUND`].
    values: [u32; 5],
    /// Progress of each kernel: [`global::SEARCH_PROGRESS`].
    pub(super) progress: [u32; KERNEL_SLOTS],
}

impl Notes {
    const OFFSETS: [u32; 5] = [global::PHASE, global::RESCHEDULINGS, global::DECISION_BEGIN, global::DECISION_CYCLES, global::SEARCH_FOUND];

    /// Register value at this offset, 0 for other registers.
    pub(super) fn get(&self, offset: u32) -> u32 {
        Self::OFFSETS.iter().zip(self.values).find(|(known, _)| **known == offset).map_or(0, |(_, value)| value)
    }

    /// Writes the register at this offset.
    pub(super) fn set(&mut self, offset: u32, value: u32) {
        if let Some(place) = Self::OFFSETS.iter().position(|known| *known == offset) {
            self.values[place] = value;
        }
    }
}

/// The global timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) compare: u64,
    /// Low word that waits for its high word.
    pub(super) low: u32,
    pub(super) armed: bool,
}

impl Timer {
    pub(super) fn deadline(&self) -> Option<u64> {
        self.armed.then_some(self.compare)
    }
}

/// Watchdog timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Watchdog {
    pub(super) period: u32,
    pub(super) fed_at: u64,
    pub(super) expired: bool,
}

impl Watchdog {
    pub(super) fn deadline(&self) -> Option<u64> {
        (self.period != 0 && !self.expired).then(|| self.fed_at.saturating_add(u64::from(self.period)))
    }

    pub(super) fn feed(&mut self, now: u64) {
        self.fed_at = now;
        self.expired = false;
    }
}
