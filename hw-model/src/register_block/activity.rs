//! What happens at the register block, in order, for drawings: register accesses of the firmware, interrupts raised, kernels that
//! come and go, TBs on SMs. Off unless asked for; recording allocates.

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Core cycle.
    pub cycle: u64,
    /// What.
    pub event: ActivityEvent,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityEvent {
    /// The firmware read a register.
    Read {
        /// Byte offset in the map.
        offset: u32,
        /// What it was given.
        value: u32,
    },
    /// The firmware wrote a register.
    Write {
        /// Byte offset in the map.
        offset: u32,
        /// What it wrote.
        value: u32,
    },
    /// Interrupt events became pending.
    Raised(u32),
    /// A kernel took a slot.
    Launched {
        /// Slot.
        slot: u8,
        /// CUDA stream of the kernel.
        stream: u32,
    },
    /// A kernel left its slot.
    Released(u8),
    /// The number of TBs of a kernel on an SM changed.
    Resident {
        /// SM.
        sm: u16,
        /// Slot of the kernel.
        slot: u8,
        /// TBs now.
        tbs: u8,
    },
}

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ActivityLog {
    pub(super) now: u64,
    pub(super) entries: Vec<Activity>,
}

impl super::RegisterBlock {
    /// Records what happens from now on.
    pub fn record_activity(&mut self) {
        self.activity = Some(ActivityLog { now: self.now, entries: Vec::new() });
    }

    /// Takes the record so far, in order; empty if nothing is recorded.
    pub fn take_activity(&mut self) -> Vec<Activity> {
        self.activity.as_mut().map_or_else(Vec::new, |log| std::mem::take(&mut log.entries))
    }

    /// Tells the record the time.
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
