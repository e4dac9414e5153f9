//! How long SMs take to get to new quotas (Nasef 2023, section 3.3.4): from the commit that changes a quota until no SM holds
//! a TB beyond its quota and none can take another one within it.
//!
//! Filling empty SMs counts, as does waiting for TBs that have to leave. A quota that can never be filled, because the SM
//! has no room for it (Left-over lends what is left), does not.

use super::Gpu;

/// Quotas as they were, and the time spent since they changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Transition {
    /// By SM, then slot.
    quotas: Vec<u32>,
    /// Start of the transition in progress.
    since: Option<u64>,
    /// Cycles of those that are over.
    cycles: u64,
}

impl Gpu {
    /// Quotas may have changed.
    pub(super) fn begin_transition(&mut self) {
        let slots = self.slots.len();
        let quotas = (0..self.sms.len()).flat_map(|sm| (0..slots).map(move |slot| (sm, slot)));
        self.transition.quotas.resize(self.sms.len() * slots, 0);
        let mut changed = false;
        for ((sm, slot), before) in quotas.zip(&mut self.transition.quotas) {
            let quota = self.registers.quota(sm, slot);
            changed |= *before != quota;
            *before = quota;
        }
        if changed {
            self.transition.since.get_or_insert(self.now);
        }
    }

    /// Ends the transition in progress if every SM is where it should be after TB issue of this cycle.
    pub(super) fn end_transition(&mut self) {
        let Some(since) = self.transition.since else { return };
        let surplus = || {
            let slots = self.slots.len();
            let held = self.sms.iter().flat_map(|sm| (0..slots).map(|slot| sm.resident(slot)));
            held.zip(&self.transition.quotas).any(|(resident, quota)| resident > *quota)
        };
        if !self.dispatcher.pending() && !surplus() {
            self.transition.since = None;
            self.transition.cycles += self.now - since;
        }
    }

    /// Cycles in transition so far.
    pub(super) fn transition_cycles(&self) -> u64 {
        self.transition.cycles + self.transition.since.map_or(0, |since| self.now - since)
    }
}
