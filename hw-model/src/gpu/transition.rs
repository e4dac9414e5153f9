//! Time that SMs take to reach new quotas (Nasef 2023, section 3.3.4).
//!
//! A transition starts at the commit that changes a quota. It ends when no SM holds a TB beyond its
//! quota and none can take another one within it. It includes the filling of empty SMs and the wait
//! for TBs that must leave. It excludes a quota that can never be filled because the SM has too few
//! resources (Left-over grants the rest).
//!
//! An SM is in place from the cycle in which it holds no TB beyond its last quotas (own). An SM
//! that drains a long TB may never be in place; its quotas are then of a configuration that it
//! never had. Quotas that the firmware sets after the last launch has completed place nothing and
//! are ignored.

use super::Gpu;

/// Last quotas, and time spent in transitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Transition {
    /// Quotas by SM, then slot.
    quotas: Vec<u32>,
    /// Start of the transition in progress.
    since: Option<u64>,
    /// Cycles of completed transitions.
    cycles: u64,
    /// By SM: cycle since which it has held no TB beyond its current quotas.
    in_place: Vec<Option<u64>>,
    /// By slot: true if its kernel, or the last one, was urgent. The launch or end of an urgent
    /// kernel reschedules no other (sources.md D136), so its quotas are not a placement.
    urgent: Vec<bool>,
}

/// Progress of SMs toward the placement of their quotas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlace {
    /// SM cycles, over all SMs, since each held no TB beyond its last quotas.
    pub sm_cycles: u64,
    /// Number of SMs that still hold a TB beyond their last quotas.
    pub sms_short_of_it: u32,
}

impl Gpu {
    /// Starts a transition if quotas have changed.
    pub(super) fn begin_transition(&mut self) {
        if self.queue.all_complete() {
            return;
        }
        let slots = self.slots.len();
        let quotas = (0..self.sms.len()).flat_map(|sm| (0..slots).map(move |slot| (sm, slot)));
        self.transition.quotas.resize(self.sms.len() * slots, 0);
        self.transition.in_place.resize(self.sms.len(), Some(self.now));
        self.transition.urgent.resize(slots, false);
        let preempts = self.registers.preempts();
        for (urgent, state) in self.transition.urgent.iter_mut().zip(&self.slots) {
            *urgent = state.as_ref().map_or(*urgent, |state| preempts && state.priority > 0);
        }
        let mut changed = false;
        for ((sm, slot), before) in quotas.zip(&mut self.transition.quotas) {
            let quota = self.registers.quota(sm, slot);
            if *before != quota {
                *before = quota;
                if !self.transition.urgent[slot] {
                    changed = true;
                    self.transition.in_place[sm] = None;
                }
            }
        }
        if changed {
            self.transition.since.get_or_insert(self.now);
        }
    }

    /// Ends the transition in progress if every SM has reached its quotas after TB issue of this
    /// cycle.
    pub(super) fn end_transition(&mut self) {
        let Some(since) = self.transition.since else { return };
        let mut all = true;
        let quotas = self.transition.quotas.chunks_exact(self.slots.len());
        for ((sm, quotas), in_place) in self.sms.iter().zip(quotas).zip(&mut self.transition.in_place) {
            if in_place.is_none() {
                let surplus = quotas.iter().enumerate().any(|(slot, quota)| sm.resident(slot) > *quota);
                all &= !surplus;
                *in_place = (!surplus).then_some(self.now);
            }
        }
        if !self.dispatcher.pending() && all {
            self.transition.since = None;
            self.transition.cycles += self.now - since;
        }
    }

    /// True if some SM has not reached its quotas.
    pub(super) fn in_transition(&self) -> bool {
        self.transition.since.is_some()
    }

    /// Progress of the SMs.
    pub(super) fn in_place(&self) -> InPlace {
        let InPlace { mut sm_cycles, mut sms_short_of_it } = InPlace::default();
        for since in &self.transition.in_place {
            sm_cycles += since.map_or(0, |since| self.now - since);
            sms_short_of_it += u32::from(since.is_none());
        }
        InPlace { sm_cycles, sms_short_of_it }
    }

    /// Number of cycles in transition so far.
    pub(super) fn transition_cycles(&self) -> u64 {
        self.transition.cycles + self.transition.since.map_or(0, |since| self.now - since)
    }
}
