//! How long SMs take to get to new quotas (Nasef 2023, section 3.3.4): from the commit that changes a quota until no SM holds
//! a TB beyond its quota and none can take another one within it.
//!
//! Filling empty SMs counts, as does waiting for TBs that have to leave. A quota that can never be filled, because the SM
//! has no room for it (Left-over lends what is left), does not.
//!
//! An SM is in place from the cycle in which it holds no TB beyond its last quotas (own). One that drains a long TB may never be: then its
//! quotas are those of a configuration that it never had. Quotas that the firmware sets when the last launch has completed place nothing, and
//! change nothing of this.

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
    /// By SM: since when it has held no TB beyond its quotas, as they are.
    in_place: Vec<Option<u64>>,
    /// By slot: its kernel, or the last, was urgent. Nothing is scheduled anew when such a one comes or goes (sources.md D136): its quotas are no
    /// placement.
    urgent: Vec<bool>,
}

/// How far SMs are in the placement that their quotas ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlace {
    /// SM cycles, all SMs, since each held no TB beyond its last quotas.
    pub sm_cycles: u64,
    /// SMs that hold one still.
    pub sms_short_of_it: u32,
}

impl Gpu {
    /// Quotas may have changed.
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

    /// Ends the transition in progress if every SM is where it should be after TB issue of this cycle.
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

    /// Whether some SM is not where it should be.
    pub(super) fn in_transition(&self) -> bool {
        self.transition.since.is_some()
    }

    /// How far the SMs are.
    pub(super) fn in_place(&self) -> InPlace {
        let InPlace { mut sm_cycles, mut sms_short_of_it } = InPlace::default();
        for since in &self.transition.in_place {
            sm_cycles += since.map_or(0, |since| self.now - since);
            sms_short_of_it += u32::from(since.is_none());
        }
        InPlace { sm_cycles, sms_short_of_it }
    }

    /// Cycles in transition so far.
    pub(super) fn transition_cycles(&self) -> u64 {
        self.transition.cycles + self.transition.since.map_or(0, |since| self.now - since)
    }
}
