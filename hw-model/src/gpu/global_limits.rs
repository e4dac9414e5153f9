//! Global DMIL: one SM is monitored per kernel, and its limits are broadcast to all SMs (Dai et al.
//! 2018, end of section 3.3.2; sources.md D126).
//!
//! Own, where the paper is silent: the monitored SM of a kernel is the lowest one with a TB of the
//! kernel, so that SMs need not all run the same kernels. When it changes, the new SM's interval
//! restarts. A new limit reaches all SMs, including the monitored one, in the same cycle, a fixed
//! number of cycles after it was found. One broadcast is in flight per kernel; a limit found
//! meanwhile is sent after its arrival. A new kernel in a slot has no limit.

use super::Gpu;
use crate::config::MemoryIssueConfig;
use crate::sm::{KERNEL_SLOTS, UNLIMITED};

/// Broadcast of limits.
#[derive(Clone, Debug)]
pub(super) struct GlobalLimits {
    /// Core cycles of a broadcast.
    cycles: u64,
    slots: [Broadcast; KERNEL_SLOTS],
}

/// Broadcast of one kernel slot.
#[derive(Clone, Copy, Debug)]
struct Broadcast {
    /// Monitored SM.
    monitored: Option<usize>,
    /// Limit that was sent last.
    sent: u8,
    /// Cycle in which the limit reaches the SMs; none once it has.
    arrives: Option<u64>,
}

const NONE: Broadcast = Broadcast { monitored: None, sent: UNLIMITED, arrives: None };

impl GlobalLimits {
    /// Creates the broadcasts if the GPU has memory-issue control, since the firmware may
    /// select global DMIL.
    pub(super) fn new(config: Option<&MemoryIssueConfig>) -> Option<Box<Self>> {
        let config = config?;
        Some(Box::new(GlobalLimits { cycles: config.broadcast().into(), slots: [NONE; KERNEL_SLOTS] }))
    }

    /// Cycle in which the next limit reaches the SMs; `u64::MAX` if none is in flight.
    pub(super) fn next(&self) -> u64 {
        self.slots.iter().filter_map(|slot| slot.arrives).min().unwrap_or(u64::MAX)
    }

    /// Restarts: no SM is monitored, and nothing is in flight.
    pub(super) fn restart(&mut self) {
        self.slots = [NONE; KERNEL_SLOTS];
    }

    /// Resets the slot for a new kernel.
    pub(super) fn forget(&mut self, slot: usize) {
        self.slots[slot] = NONE;
    }
}

impl Gpu {
    /// Applies limits that have arrived, before a cycle.
    pub(super) fn deliver_limits(&mut self) {
        let Some(global) = self.global_limits.as_mut().filter(|global| global.next() <= self.now) else { return };
        for (number, slot) in global.slots.iter_mut().enumerate().filter(|(_, slot)| slot.arrives.is_some_and(|at| at <= self.now)) {
            slot.arrives = None;
            for sm in 0..self.sms.len() {
                self.sms[sm].take_limit(number, slot.sent, self.now);
                self.sms.wake(sm, self.now);
            }
        }
    }

    /// Selects the monitored SMs and sends limits found in the last cycle.
    pub(super) fn send_limits(&mut self) {
        let Some(global) = &mut self.global_limits else { return };
        for (number, slot) in global.slots.iter_mut().enumerate() {
            let runs = self.slots[number].is_some();
            let lowest = if runs { self.sms.iter().position(|sm| sm.resident(number) > 0) } else { None };
            if lowest != slot.monitored {
                for (sm, monitored) in [(slot.monitored, false), (lowest, true)] {
                    sm.into_iter().for_each(|sm| self.sms[sm].monitor(number, monitored));
                }
                slot.monitored = lowest;
            }
            let found = slot.monitored.and_then(|sm| self.sms[sm].found_limit(number));
            if let Some(limit) = found.filter(|&limit| slot.arrives.is_none() && limit != slot.sent) {
                (slot.sent, slot.arrives) = (limit, Some(self.now + global.cycles));
            }
        }
    }
}
