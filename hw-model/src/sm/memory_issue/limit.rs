//! How many off-chip memory instructions of a kernel may be in flight on an SM (Dai et al. 2018, section 3.3).

use super::super::KERNEL_SLOTS;
use super::dynamic_limit::{Milg, Rule, UNLIMITED};
use super::global_limit::GlobalLimits;
use super::settings::MemorySettings;
use mias_registers::memory_mode;

/// The limits.
#[derive(Clone, Debug)]
pub(super) enum Limits {
    /// None.
    None,
    /// SMIL: as the register block has them, by kernel slot; none for a kernel without.
    Static([Option<u8>; KERNEL_SLOTS]),
    /// DMIL: one generator per kernel slot.
    Dynamic(Rule, Box<[Milg; KERNEL_SLOTS]>),
    /// DMIL for the whole GPU.
    Global(Box<GlobalLimits>),
}

impl Limits {
    /// As the register block has them.
    pub(super) fn of(settings: &MemorySettings, rule: Rule) -> Self {
        match settings.mode & memory_mode::LIMITS {
            memory_mode::WRITTEN => Limits::Static(settings.limits.map(|limit| (limit != 0).then_some(limit))),
            memory_mode::FOUND => Limits::Dynamic(rule, Box::new([Milg::default(); KERNEL_SLOTS])),
            memory_mode::BROADCAST => Limits::Global(Box::new(GlobalLimits::new(rule))),
            _ => Limits::None,
        }
    }

    /// The limit in effect; none: any number.
    pub(super) fn limit(&self, kernel: u8) -> Option<u8> {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        match self {
            Limits::None => None,
            Limits::Static(limits) => limits[slot],
            Limits::Dynamic(_, generators) => Some(generators[slot].limit()),
            Limits::Global(limits) => Some(limits.limit(slot)),
        }
    }

    /// Whether a kernel with so many in flight may issue one more.
    pub(super) fn room(&self, kernel: u8, in_flight: u16) -> bool {
        self.limit(kernel).is_none_or(|limit| in_flight < u16::from(limit))
    }

    /// Whether so many may be in flight: not more than a limit that stays, nor than any other ever was.
    pub(super) fn is_kept(&self, kernel: u8, in_flight: u16) -> bool {
        match self {
            Limits::None => true,
            Limits::Static(limits) => limits[usize::from(kernel) & (KERNEL_SLOTS - 1)].is_none_or(|limit| in_flight <= u16::from(limit)),
            Limits::Dynamic(..) | Limits::Global(_) => in_flight <= u16::from(UNLIMITED),
        }
    }

    /// The kernel has one more in flight.
    pub(super) fn issued(&mut self, kernel: u8, in_flight: u16) {
        let (slot, in_flight) = (usize::from(kernel) & (KERNEL_SLOTS - 1), seven_bits(in_flight));
        match self {
            Limits::None | Limits::Static(_) => {}
            Limits::Dynamic(_, generators) => generators[slot].issued(in_flight),
            Limits::Global(limits) => limits.issued(slot, in_flight),
        }
    }

    /// Whether a generator of this SM finds the kernel's limit.
    pub(super) fn are_found_here(&self, kernel: u8) -> bool {
        match self {
            Limits::None | Limits::Static(_) => false,
            Limits::Dynamic(..) => true,
            Limits::Global(limits) => limits.is_monitored(usize::from(kernel) & (KERNEL_SLOTS - 1)),
        }
    }

    /// What the load/store unit did for the kernel. Returns what a new limit took, if there is one.
    pub(super) fn observe(&mut self, kernel: u8, requests: u64, fails: u64, in_flight: u16) -> u64 {
        let (slot, in_flight) = (usize::from(kernel) & (KERNEL_SLOTS - 1), seven_bits(in_flight));
        let (requests, fails) = (u32::try_from(requests).unwrap_or(u32::MAX), u32::try_from(fails).unwrap_or(u32::MAX));
        match self {
            Limits::None | Limits::Static(_) => 0,
            Limits::Dynamic(rule, generators) => generators[slot].observe(rule, requests, fails, in_flight),
            Limits::Global(limits) => limits.observe(slot, requests, fails, in_flight),
        }
    }

    /// The slot has a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        match self {
            Limits::None | Limits::Static(_) => {}
            Limits::Dynamic(_, generators) => generators[slot] = Milg::default(),
            Limits::Global(limits) => limits.forget(slot),
        }
    }
}

/// As 7 bits count it: where nothing holds a kernel back, more than 127 may be in flight.
fn seven_bits(in_flight: u16) -> u8 {
    in_flight.min(UNLIMITED.into()) as u8
}
