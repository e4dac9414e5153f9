//! Global DMIL: limits that one SM finds for all (Dai et al. 2018, end of section 3.3.2; sources.md D126). This is an SM's part; which SM is
//! monitored, and when its limits reach the others, is in `gpu/global_limits.rs`.
//!
//! The hardware is one [generator](Milg) per kernel slot for the whole GPU and a limit per SM and slot. Every SM here has a generator that
//! stands still unless the SM is the monitored one.

use super::super::KERNEL_SLOTS;
use super::dynamic_limit::{Milg, Rule, UNLIMITED};

/// Limits as they were broadcast, and what this SM finds if it is monitored.
#[derive(Clone, Debug)]
pub(super) struct GlobalLimits {
    rule: Rule,
    generators: [Milg; KERNEL_SLOTS],
    /// Slots for which this SM is the monitored one, bit per slot.
    monitored: u8,
    limits: [u8; KERNEL_SLOTS],
}

impl GlobalLimits {
    pub(super) fn new(rule: Rule) -> Self {
        GlobalLimits { rule, generators: [Milg::default(); KERNEL_SLOTS], monitored: 0, limits: [UNLIMITED; KERNEL_SLOTS] }
    }

    /// Instructions that may be in flight, 1 to [`UNLIMITED`].
    pub(super) fn limit(&self, slot: usize) -> u8 {
        self.limits[slot]
    }

    /// What this SM has found, if it is monitored for the slot.
    pub(super) fn found(&self, slot: usize) -> Option<u8> {
        self.is_monitored(slot).then(|| self.generators[slot].limit())
    }

    /// Whether this SM is the monitored one for the slot.
    pub(super) fn is_monitored(&self, slot: usize) -> bool {
        self.monitored >> slot & 1 != 0
    }

    /// This SM is monitored for the slot from now on, or is not. The generator goes on from the limit in effect, and its interval begins anew.
    pub(super) fn monitor(&mut self, slot: usize, monitored: bool) {
        self.monitored = self.monitored & !(1 << slot) | u8::from(monitored) << slot;
        self.generators[slot] = Milg::with_limit(self.limits[slot]);
    }

    /// A broadcast has come.
    pub(super) fn set(&mut self, slot: usize, limit: u8) {
        self.limits[slot] = limit;
    }

    pub(super) fn issued(&mut self, slot: usize, in_flight: u8) {
        if self.is_monitored(slot) {
            self.generators[slot].issued(in_flight);
        }
    }

    /// Returns what a new limit took, if there is one.
    pub(super) fn observe(&mut self, slot: usize, requests: u32, fails: u32, in_flight: u8) -> u64 {
        if self.is_monitored(slot) { self.generators[slot].observe(&self.rule, requests, fails, in_flight) } else { 0 }
    }

    /// The slot has a new kernel.
    pub(super) fn forget(&mut self, slot: usize) {
        self.monitored &= !(1 << slot);
        (self.generators[slot], self.limits[slot]) = (Milg::default(), UNLIMITED);
    }
}
