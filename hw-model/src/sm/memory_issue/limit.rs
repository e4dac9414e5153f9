//! Limits of off-chip memory instructions in flight per kernel on an SM (Dai et al. 2018, section
//! 3.3).

use super::super::KERNEL_SLOTS;
use super::dynamic_limit::{Milg, Rule, UNLIMITED};
use super::global_limit::GlobalLimits;
use super::settings::MemorySettings;
use mias_registers::memory_mode;

/// Kind of limits, with their state.
#[derive(Clone, Debug)]
pub(super) enum Limits {
    /// No limits.
    None,
    /// SMIL: limits in the register block, by kernel slot; none for a kernel without a limit.
    Static([Option<u8>; KERNEL_SLOTS]),
    /// DMIL: one generator per kernel slot.
    Dynamic(Rule, Box<[Milg; KERNEL_SLOTS]>),
    /// Global DMIL.
    Global(Box<GlobalLimits>),
}

impl Limits {
    /// Limits as the register block sets them.
    pub(super) fn of(settings: &MemorySettings, rule: Rule) -> Self {
        match settings.mode & memory_mode::LIMITS {
            memory_mode::WRITTEN => Limits::Static(settings.limits.map(|limit| (limit != 0).then_some(limit))),
            memory_mode::FOUND => Limits::Dynamic(rule, Box::new([Milg::default(); KERNEL_SLOTS])),
            memory_mode::BROADCAST => Limits::Global(Box::new(GlobalLimits::new(rule))),
            _ => Limits::None,
        }
    }

    /// Limit in effect; none: no limit.
    pub(super) fn limit(&self, kernel: u8) -> Option<u8> {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        match self {
            Limits::None => None,
            Limits::Static(limits) => limits[slot],
            Limits::Dynamic(_, generators) => Some(generators[slot].limit()),
            Limits::Global(limits) => Some(limits.limit(slot)),
        }
    }

    /// True if a kernel with this number in flight may issue one more.
    pub(super) fn room(&self, kernel: u8, in_flight: u16) -> bool {
        self.limit(kernel).is_none_or(|limit| in_flight < u16::from(limit))
    }

    /// True if this number in flight conforms to a constant limit, or to the maximum of a variable
    /// one.
    pub(super) fn is_kept(&self, kernel: u8, in_flight: u16) -> bool {
        match self {
            Limits::None => true,
            Limits::Static(limits) => limits[usize::from(kernel) & (KERNEL_SLOTS - 1)].is_none_or(|limit| in_flight <= u16::from(limit)),
            Limits::Dynamic(..) | Limits::Global(_) => in_flight <= u16::from(UNLIMITED),
        }
    }

    /// Records an issued instruction of the kernel.
    pub(super) fn issued(&mut self, kernel: u8, in_flight: u16) {
        let (slot, in_flight) = (usize::from(kernel) & (KERNEL_SLOTS - 1), seven_bits(in_flight));
        match self {
            Limits::None | Limits::Static(_) => {}
            Limits::Dynamic(_, generators) => generators[slot].issued(in_flight),
            Limits::Global(limits) => limits.issued(slot, in_flight),
        }
    }

    /// True if a generator of this SM finds the kernel's limit.
    pub(super) fn are_found_here(&self, kernel: u8) -> bool {
        match self {
            Limits::None | Limits::Static(_) => false,
            Limits::Dynamic(..) => true,
            Limits::Global(limits) => limits.is_monitored(usize::from(kernel) & (KERNEL_SLOTS - 1)),
        }
    }

    /// Records the load/store unit's requests and fails of the kernel. Returns the number of
    /// operations for a new limit, if there is one.
    pub(super) fn observe(&mut self, kernel: u8, requests: u64, fails: u64, in_flight: u16) -> u64 {
        let (slot, in_flight) = (usize::from(kernel) & (KERNEL_SLOTS - 1), seven_bits(in_flight));
        let (requests, fails) = (u32::try_from(requests).unwrap_or(u32::MAX), u32::try_from(fails).unwrap_or(u32::MAX));
        match self {
            Limits::None | Limits::Static(_) => 0,
            Limits::Dynamic(rule, generators) => generators[slot].observe(rule, requests, fails, in_flight),
            Limits::Global(limits) => limits.observe(slot, requests, fails, in_flight),
        }
    }

    /// Resets the slot for a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        match self {
            Limits::None | Limits::Static(_) => {}
            Limits::Dynamic(_, generators) => generators[slot] = Milg::default(),
            Limits::Global(limits) => limits.forget(slot),
        }
    }
}

/// Number saturated to 7 bits: a kernel without restrictions may have more than 127 in flight.
fn seven_bits(in_flight: u16) -> u8 {
    in_flight.min(UNLIMITED.into()) as u8
}
