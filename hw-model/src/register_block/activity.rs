//! Log of events at the register block, for timelines.
//!
//! It records register accesses of the firmware, raised interrupts, launched and released kernels,
//! and TBs on SMs. It is off by default, since recording allocates.

/// Logged event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Core cycle of the event.
    pub cycle: u64,
    /// Kind of event.
    pub event: ActivityEvent,
}

/// Kind of a logged event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityEvent {
    /// Register read by the firmware.
    Read {
        /// Byte offset in the register map.
        offset: u32,
        /// Value read.
        value: u32,
    },
    /// Register write by the firmware.
    Write {
        /// Byte offset in the register map.
        offset: u32,
        /// Value written.
        value: u32,
    },
    /// Interrupt events became pending.
    Raised(u32),
    /// Launch of a kernel into a slot.
    Launched {
        /// Slot of the kernel.
        slot: u8,
        /// CUDA stream of the kernel.
        stream: u32,
    },
    /// Release of a slot.
    Released(u8),
    /// Change of a kernel's number of TBs on an SM.
    Resident {
        /// Index of the SM.
        sm: u16,
        /// Slot of the kernel.
        slot: u8,
        /// New number of TBs.
        tbs: u8,
    },
}

/// Log of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ActivityLog {
    pub(super) now: u64,
    pub(super) entries: Vec<Activity>,
}

impl super::RegisterBlock {
    /// Starts recording events.
    pub fn record_activity(&mut self) {
        self.activity = Some(ActivityLog { now: self.now, entries: Vec::new() });
    }

    /// Takes the recorded events, in order; empty if recording is off.
    pub fn take_activity(&mut self) -> Vec<Activity> {
        self.activity.as_mut().map_or_else(Vec::new, |log| std::mem::take(&mut log.entries))
    }

    /// Sets the cycle of the next events.
    #[inline]
    pub fn stamp(&mut self, now: u64) {
        if let Some(log) = &mut self.activity {
            log.now = now;
        }
    }

    #[inline]
    pub(super) fn note(&mut self, event: ActivityEvent) {
        if let Some(log) = &mut self.activity {
            log.entries.push(Activity { cycle: log.now, event });
        }
    }
}
