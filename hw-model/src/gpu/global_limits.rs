//! Global DMIL: one SM is monitored per kernel, and the limits that it finds are broadcast to all (Dai et al. 2018, end of section 3.3.2;
//! sources.md D126).
//!
//! Own, where the paper is silent: the SM that is monitored for a kernel is the lowest one on which
//! the kernel has a TB, so that SMs need not all run the same kernels; when that changes, the new
//! SM's interval begins anew. A new limit reaches all SMs, the monitored one included, in the same
//! cycle, a fixed number of cycles after the one in which it was found. One is on its way per
//! kernel: what is found meanwhile is sent when that has arrived. A kernel that is new in its slot
//! has no limit.

use super::Gpu;
use crate::config::MemoryIssueConfig;
use crate::sm::{KERNEL_SLOTS, UNLIMITED};

/// What is broadcast.
#[derive(Clone, Debug)]
pub(super) struct GlobalLimits {
    /// Core cycles of a broadcast.
    cycles: u64,
    slots: [Broadcast; KERNEL_SLOTS],
}

/// Of one kernel slot.
#[derive(Clone, Copy, Debug)]
struct Broadcast {
    /// The SM that is monitored.
    monitored: Option<usize>,
    /// The limit that was sent last.
    sent: u8,
    /// The cycle in which it reaches the SMs, if it has not.
    arrives: Option<u64>,
}

const NONE: Broadcast = Broadcast { monitored: None, sent: UNLIMITED, arrives: None };

impl GlobalLimits {
    /// None unless a machine names memory issue, of which the firmware may choose this.
    pub(super) fn new(config: Option<&MemoryIssueConfig>) -> Option<Box<Self>> {
        let config = config?;
        Some(Box::new(GlobalLimits { cycles: config.broadcast().into(), slots: [NONE; KERNEL_SLOTS] }))
    }

    /// The cycle in which the next limit reaches the SMs; `u64::MAX` if none is on its way.
    pub(super) fn next(&self) -> u64 {
        self.slots.iter().filter_map(|slot| slot.arrives).min().unwrap_or(u64::MAX)
    }

    /// SMs have begun anew: nobody is monitored, and nothing is on its way.
    pub(super) fn restart(&mut self) {
        self.slots = [NONE; KERNEL_SLOTS];
    }

    /// The slot has a new kernel.
    pub(super) fn forget(&mut self, slot: usize) {
        self.slots[slot] = NONE;
    }
}

impl Gpu {
    /// Before a cycle: limits that have arrived are in effect.
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

    /// After a cycle: who is monitored, and what was found in it.
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
