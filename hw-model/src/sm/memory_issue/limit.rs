//! How many off-chip memory instructions of a kernel may be in flight on an SM (Dai et al. 2018, section 3.3).

use super::super::KERNEL_SLOTS;
use super::dynamic_limit::{Milg, Rule, UNLIMITED};
use crate::config::{InFlightLimit, MemoryIssueConfig};

/// The limits.
#[derive(Clone, Debug)]
pub(super) enum Limits {
    /// None.
    None,
    /// SMIL: fixed, by kernel slot; none for a kernel without.
    Static([Option<u8>; KERNEL_SLOTS]),
    /// DMIL: one generator per kernel slot.
    Dynamic(Rule, Box<[Milg; KERNEL_SLOTS]>),
}

impl Limits {
    pub(super) fn new(config: &MemoryIssueConfig) -> Self {
        let of_slot = |slot: usize| config.limits.get(slot).and_then(|limit| limit.most());
        match config.in_flight {
            InFlightLimit::None => Limits::None,
            InFlightLimit::Static => Limits::Static(std::array::from_fn(of_slot)),
            InFlightLimit::Dynamic => {
                let rule = Rule { no_fails: config.no_fails, wide: config.wide_fails };
                Limits::Dynamic(rule, Box::new([Milg::default(); KERNEL_SLOTS]))
            }
        }
    }

    /// Whether a kernel with so many in flight may issue one more.
    pub(super) fn room(&self, kernel: u8, in_flight: u16) -> bool {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        match self {
            Limits::None => true,
            Limits::Static(limits) => limits[slot].is_none_or(|limit| in_flight < u16::from(limit)),
            Limits::Dynamic(_, generators) => in_flight < u16::from(generators[slot].limit()),
        }
    }

    /// Whether so many may be in flight: not more than a fixed limit, nor than a dynamic one ever was.
    pub(super) fn is_kept(&self, kernel: u8, in_flight: u16) -> bool {
        match self {
            Limits::None => true,
            Limits::Static(limits) => limits[usize::from(kernel) & (KERNEL_SLOTS - 1)].is_none_or(|limit| in_flight <= u16::from(limit)),
            Limits::Dynamic(..) => in_flight <= u16::from(UNLIMITED),
        }
    }

    /// The kernel has one more in flight.
    pub(super) fn issued(&mut self, kernel: u8, in_flight: u16) {
        if let Limits::Dynamic(_, generators) = self {
            generators[usize::from(kernel) & (KERNEL_SLOTS - 1)].issued(in_flight as u8);
        }
    }

    /// What the load/store unit did for the kernel.
    pub(super) fn observe(&mut self, kernel: u8, requests: u64, fails: u64, in_flight: u16) {
        if let Limits::Dynamic(rule, generators) = self {
            let (requests, fails) = (u32::try_from(requests).unwrap_or(u32::MAX), u32::try_from(fails).unwrap_or(u32::MAX));
            generators[usize::from(kernel) & (KERNEL_SLOTS - 1)].observe(rule, requests, fails, in_flight as u8);
        }
    }

    /// The slot has a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        if let Limits::Dynamic(_, generators) = self {
            generators[usize::from(kernel) & (KERNEL_SLOTS - 1)] = Milg::default();
        }
    }
}
