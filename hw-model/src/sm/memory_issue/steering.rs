//! Connection of an SM's memory issue to the register block: counts to read, and modes and limits
//! to apply while kernels run (sources.md D127).
//!
//! A new order starts as after reset, as do limits of another kind; limits of the same kind keep
//! their state. A changed quota of warp instructions is full; the others keep their rest. On an SM
//! whose restrictions are inactive, nothing is held back, and quotas and limits continue to be
//! updated. More than 127 may then be in flight, which 7 bits show as 127.

use super::MemoryIssue;
use super::limit::Limits;
use super::order::Order;
use super::settings::{KernelMemoryCounts, MemorySettings};
use super::warp_quota::WarpQuota;
use crate::config::MemoryOrder;
use crate::sm::{IssueClass, KERNEL_SLOTS, Sm};
use mias_registers::memory_mode;

impl MemoryIssue {
    /// Applies the register block's settings; true if global limits restart.
    fn steer(&mut self, settings: &MemorySettings, resident: u8) -> bool {
        let (before, now) = (self.settings.mode, settings.mode);
        if before & memory_mode::ORDER != now & memory_mode::ORDER {
            self.order = Order::new(order_of(now));
            self.order.reside(resident);
        }
        if self.settings.warp_quotas != settings.warp_quotas {
            WarpQuota::change(&mut self.warp_quota, settings.warp_quotas, resident);
        }
        let anew = before & memory_mode::LIMITS != now & memory_mode::LIMITS;
        if anew || now & memory_mode::LIMITS == memory_mode::WRITTEN {
            self.limits = Limits::of(settings, self.rule);
        }
        self.settings = *settings;
        anew && now & memory_mode::LIMITS == memory_mode::BROADCAST
    }
}

impl Sm {
    /// Counts of the kernel in a slot, as of the last accounted cycle.
    pub(crate) fn memory_counts(&self, slot: usize) -> KernelMemoryCounts {
        let kernel = &self.kernels[slot];
        let counts = KernelMemoryCounts {
            requests: kernel.requests(),
            fails: kernel.reservation_fails(),
            held_cycles: kernel.issue_slots[IssueClass::Held as usize],
            ..KernelMemoryCounts::default()
        };
        let Some(gate) = &self.memory_issue else { return counts };
        let limit = gate.limits.limit(slot as u8).unwrap_or(0);
        KernelMemoryCounts { in_flight: gate.in_flight[slot], peak: gate.peak[slot], limit, ..counts }
    }

    /// Restarts the peaks of these slots at the number in flight.
    pub(crate) fn memory_latched(&mut self, slots: u8) {
        let Some(gate) = &mut self.memory_issue else { return };
        for slot in (0..KERNEL_SLOTS).filter(|slot| slots >> slot & 1 != 0) {
            gate.peak[slot] = gate.in_flight[slot];
        }
    }

    /// Applies the register block's settings from cycle `now` on. None if nothing changes, else
    /// whether global limits restart.
    pub(crate) fn steer_memory(&mut self, settings: &MemorySettings, now: u64) -> Option<bool> {
        let resident = self.resident_kernels;
        let gate = self.memory_issue.as_mut().filter(|gate| gate.settings != *settings)?;
        gate.is_steered = true;
        let anew = gate.steer(settings, resident);
        self.account_sleep(now);
        self.ask_again();
        Some(anew)
    }
}

/// Order of a mode.
pub(super) fn order_of(mode: u32) -> MemoryOrder {
    match mode & memory_mode::ORDER {
        memory_mode::ROUND_ROBIN => MemoryOrder::RoundRobin,
        memory_mode::QUOTA => MemoryOrder::Quota,
        _ => MemoryOrder::Scheduler,
    }
}
