//! Global DMIL: limits that one SM finds for all (Dai et al. 2018, end of section 3.3.2; sources.md
//! D126). This is the part of an SM. The selection of the monitored SM and the broadcast are in
//! `gpu/global_limits.rs`.
//!
//! The hardware is one [generator](Milg) per kernel slot for the whole GPU and a limit per SM and
//! slot. In the model every SM has a generator, which is inactive unless the SM is monitored.

use super::super::KERNEL_SLOTS;
use super::dynamic_limit::{Milg, Rule, UNLIMITED};

/// Broadcast limits, and limits that this SM finds if it is monitored.
#[derive(Clone, Debug)]
pub(super) struct GlobalLimits {
    rule: Rule,
    generators: [Milg; KERNEL_SLOTS],
    /// Mask of slots for which this SM is monitored.
    monitored: u8,
    limits: [u8; KERNEL_SLOTS],
}

impl GlobalLimits {
    pub(super) fn new(rule: Rule) -> Self {
        GlobalLimits { rule, generators: [Milg::default(); KERNEL_SLOTS], monitored: 0, limits: [UNLIMITED; KERNEL_SLOTS] }
    }

    /// Maximum number of instructions in flight, 1 to [`UNLIMITED`].
    pub(super) fn limit(&self, slot: usize) -> u8 {
        self.limits[slot]
    }

    /// Limit that this SM has found, if it is monitored for the slot.
    pub(super) fn found(&self, slot: usize) -> Option<u8> {
        self.is_monitored(slot).then(|| self.generators[slot].limit())
    }

    /// True if this SM is monitored for the slot.
    pub(super) fn is_monitored(&self, slot: usize) -> bool {
        self.monitored >> slot & 1 != 0
    }

    /// Starts or stops monitoring of this SM for the slot. The generator continues from the limit
    /// in effect, and its interval restarts.
    pub(super) fn monitor(&mut self, slot: usize, monitored: bool) {
        self.monitored = self.monitored & !(1 << slot) | u8::from(monitored) << slot;
        self.generators[slot] = Milg::with_limit(self.limits[slot]);
    }

    /// Sets a broadcast limit.
    pub(super) fn set(&mut self, slot: usize, limit: u8) {
        self.limits[slot] = limit;
    }

    pub(super) fn issued(&mut self, slot: usize, in_flight: u8) {
        if self.is_monitored(slot) {
            self.generators[slot].issued(in_flight);
        }
    }

    /// Records requests and fails. Returns the number of operations for a new limit, if there is
    /// one.
    pub(super) fn observe(&mut self, slot: usize, requests: u32, fails: u32, in_flight: u8) -> u64 {
        if self.is_monitored(slot) { self.generators[slot].observe(&self.rule, requests, fails, in_flight) } else { 0 }
    }

    /// Resets the slot for a new kernel.
    pub(super) fn forget(&mut self, slot: usize) {
        self.monitored &= !(1 << slot);
        (self.generators[slot], self.limits[slot]) = (Milg::default(), UNLIMITED);
    }
}
