//! Decision time of the microcontroller: writes of a decision take effect when its time is over.
//!
//! The model runs the firmware in zero simulated time. A real microcontroller reads counters,
//! computes, and then writes. Its writes take effect in the cycle of the interrupt plus the time of
//! its instructions. So the block holds writes back, in order, until the cycle of
//! [`RegisterBlock::finish_decision`]. Held writes are those after one of these events:
//!
//! - decision: the firmware has reported [`PhaseCode::Decide`];
//! - placement: the firmware has incremented [`global::RESCHEDULINGS`], which precedes its quotas;
//! - limits of memory instructions: a write of [`global::MEMORY_SNAPSHOT`];
//! - preemption commands: [`global::PREEMPT_WANTED`] was cleared;
//! - number of extra TBs: a write of [`global::CONTEXT_ALLOWED`], which is held too.
//!
//! Until then no component sees the writes, and the phase register shows Decide (or Partition, for
//! a placement). The firmware is not called again ([`RegisterBlock::calls_firmware`]). Events in
//! the meantime keep the interrupt line high and are served after the writes, as by a processor in
//! its handler. The host gives the decision time, since the block does not know the firmware.

use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, global, sm, sm_control};

use super::RegisterBlock;
use super::access::element;

/// State of the held writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Busy {
    /// True if decisions take time.
    pub(super) enabled: bool,
    /// True while the firmware decides and its writes are held.
    holding: bool,
    /// True if the held writes set limits of memory instructions.
    memory: bool,
    /// True if the held writes are those of a preemption.
    preemption: bool,
    /// True if the held writes set the number of extra TBs.
    oversubscription: bool,
    /// Offset and value of each held write, in order.
    writes: Vec<(u32, u32)>,
    /// Cycle in which the held writes take effect.
    pub(super) until: Option<u64>,
}

impl Busy {
    /// Holds a write back if writes are held. Returns true if it did.
    pub(super) fn hold(&mut self, offset: u32, value: u32) -> bool {
        let allows = element(offset, global::CONTEXT_ALLOWED, KERNEL_SLOTS).is_some() || offset == global::CONTEXT_DUE;
        if allows && self.enabled {
            (self.oversubscription, self.holding) = (true, true);
        }
        // Clears of the wanted bits are not held, since later requests for capacity are new.
        let wanted = (global::PREEMPT_WANTED..global::PREEMPT_DONE).contains(&offset);
        // The firmware starts and ends a window of kernel counters at once, not at the end of its
        // decision time.
        let held = self.holding && !(self.preemption && wanted) && offset != global::KERNEL_SNAPSHOT;
        if held {
            self.writes.push((offset, value));
        }
        held
    }

    /// True if the writes due by `now` include an SM snapshot.
    pub(super) fn snapshots_at(&self, now: u64) -> bool {
        let is_snapshot = |offset: u32, value: u32| {
            offset == global::MEMORY_SNAPSHOT
                || offset >= sm::BASE && (offset - sm::BASE) % sm::STRIDE == sm::CONTROL && value & sm_control::SNAPSHOT != 0
        };
        self.until.is_some_and(|until| until <= now) && self.writes.iter().any(|&(offset, value)| is_snapshot(offset, value))
    }
}

impl Busy {
    /// Starts a decision on memory limits, after the firmware has latched the counters of memory
    /// issue.
    pub(super) fn begin_memory(&mut self) {
        self.memory = self.enabled;
        self.holding |= self.enabled;
    }

    /// True if the held writes are neither of a decision nor of a placement.
    fn is_beside_decisions(&self) -> bool {
        self.memory || self.preemption || self.oversubscription
    }

    /// Starts a preemption, after the firmware has acknowledged the SMs that request capacity.
    pub(super) fn begin_preemption(&mut self) {
        if !self.holding {
            self.preemption = self.enabled;
            self.holding = self.enabled;
        }
    }
}

impl RegisterBlock {
    /// Enables decision times.
    ///
    /// Call it once the firmware has started. The caller must then call
    /// [`RegisterBlock::finish_decision`] for every decision.
    pub fn time_decisions(&mut self) {
        self.busy.enabled = true;
    }

    /// Handles a phase report of the firmware.
    pub(super) fn report_phase(&mut self, phase: u32) {
        self.notes.set(global::PHASE, phase);
        self.busy.holding = self.busy.enabled && phase == PhaseCode::Decide as u32;
    }

    /// Handles the firmware's count of reschedulings; an increment starts a placement.
    pub(super) fn report_reschedulings(&mut self, reschedulings: u32) {
        let more = self.reschedulings() != reschedulings;
        self.notes.set(global::RESCHEDULINGS, reschedulings);
        self.busy.holding |= self.busy.enabled && more;
    }

    /// True if [`RegisterBlock::undated_decision`] is a placement, the result of a batch of
    /// launches or of a kernel's end. It has no profiling.
    #[must_use]
    pub fn undated_placement(&self) -> bool {
        self.busy.holding && !self.busy.is_beside_decisions() && self.phase() != Some(PhaseCode::Decide)
    }

    /// True if the firmware has set limits of memory instructions whose effective cycle is not set
    /// yet.
    #[must_use]
    pub fn undated_memory_limits(&self) -> bool {
        self.busy.holding && self.busy.memory
    }

    /// True if the firmware has chosen victims and the effective cycle of its commands is not set
    /// yet.
    #[must_use]
    pub fn undated_preemption(&self) -> bool {
        self.busy.holding && self.busy.preemption
    }

    /// True if the firmware has set the number of extra TBs and the effective cycle is not set yet.
    #[must_use]
    pub fn undated_oversubscription(&self) -> bool {
        self.busy.holding && self.busy.oversubscription
    }

    /// Kernels in the last snapshot of memory issue: number of SMs with any, and maximum per SM.
    #[must_use]
    pub fn latched_kernels(&self) -> (u32, u32) {
        self.memory.latched_kernels()
    }

    /// Resulting phase of a decision or placement whose end is not set yet; none without such a
    /// decision.
    #[must_use]
    pub fn undated_decision(&self) -> Option<PhaseCode> {
        if !self.busy.holding || self.busy.is_beside_decisions() {
            return None;
        }
        let phases = self.busy.writes.iter().rev().filter(|(offset, _)| *offset == global::PHASE);
        Some(phases.filter_map(|(_, value)| PhaseCode::from_code(*value)).next().unwrap_or(PhaseCode::Decide))
    }

    /// Sets the end cycle of the latest decision. Its writes take effect then, or now if that is
    /// earlier than now.
    pub fn finish_decision(&mut self, cycle: u64) {
        if !self.busy.holding {
            return;
        }
        (self.busy.holding, self.busy.memory, self.busy.preemption, self.busy.oversubscription) = (false, false, false, false);
        self.busy.until = Some(cycle);
        self.make_held_writes();
        self.update_deadline();
    }

    /// True if the firmware must be called: the interrupt line is high and no decision is in
    /// progress.
    #[must_use]
    pub fn calls_firmware(&self) -> bool {
        self.busy.until.is_none() && self.interrupt_pending()
    }

    /// Makes the held writes if their cycle has come.
    pub(super) fn make_held_writes(&mut self) {
        if self.busy.until.is_none_or(|until| until > self.now) {
            return;
        }
        self.busy.until = None;
        // A held write may report Decide again, which must not start another decision.
        let enabled = std::mem::take(&mut self.busy.enabled);
        for (offset, value) in std::mem::take(&mut self.busy.writes) {
            self.write32(offset, value);
        }
        self.busy.enabled = enabled;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMS, gpu};
    use super::super::{KernelDescriptor, RawCounters};
    use super::*;
    use mias_registers::{MAP_END, interrupt};
    use proptest::prelude::*;

    /// Firmware writes around a decision at `now`: two TBs of slot 0 on every SM.
    fn decide(file: &mut RegisterBlock, now: u64) {
        file.set_now(now);
        for (offset, value) in [
            (global::PHASE, PhaseCode::Decide as u32),
            (global::QUOTA_ALL, 2),
            (global::COMMIT, 1),
            (global::PHASE, PhaseCode::Broadcast as u32),
            (global::PHASE, PhaseCode::Steady as u32),
        ] {
            file.write32(offset, value);
        }
    }

    fn timed() -> RegisterBlock {
        let mut file = RegisterBlock::new(gpu());
        file.post_launch(KernelDescriptor { grid_tbs: 9, ..KernelDescriptor::default() });
        file.write32(global::INT_STATUS, u32::MAX);
        file.write32(global::INT_ENABLE, interrupt::ALL);
        file.time_decisions();
        file
    }

    fn tick(file: &mut RegisterBlock, now: u64) {
        file.tick(now, |_| RawCounters::default());
    }

    #[test]
    fn quotas_change_when_the_time_is_over_and_not_before() {
        let mut file = timed();
        assert_eq!(file.undated_decision(), None);
        decide(&mut file, 100);
        assert_eq!(file.undated_decision(), Some(PhaseCode::Steady));
        file.finish_decision(140);
        let generation = file.generation();
        for now in 101..140 {
            assert!(!file.needs_tick(now) && file.next_deadline() == Some(140));
            tick(&mut file, now);
            assert_eq!((file.quota(0, 0), file.phase(), file.generation()), (0, Some(PhaseCode::Decide), generation));
        }
        assert!(file.needs_tick(140));
        tick(&mut file, 140);
        assert!((0..SMS).all(|sm| file.quota(sm, 0) == 2));
        assert_eq!((file.phase(), file.next_deadline()), (Some(PhaseCode::Steady), None));
        assert_ne!(file.generation(), generation);
    }

    #[test]
    fn events_in_the_meantime_are_served_after_the_writes() {
        let mut file = timed();
        decide(&mut file, 100);
        file.finish_decision(140);
        tick(&mut file, 120);
        file.post_completed(0);
        assert!(file.interrupt_pending() && !file.calls_firmware());
        tick(&mut file, 140);
        assert!(file.calls_firmware() && file.quota(0, 0) == 2);
    }

    #[test]
    fn a_placement_is_held_from_its_rescheduling_on() {
        let mut file = timed();
        file.set_now(100);
        file.write32(global::PHASE, PhaseCode::Partition as u32);
        file.write32(global::RESCHEDULINGS, 0);
        assert_eq!(file.undated_decision(), None, "it is the same number");
        file.write32(global::RESCHEDULINGS, 1);
        file.write32(global::QUOTA_ALL, 2);
        file.write32(global::COMMIT, 1);
        file.write32(global::PHASE, PhaseCode::Transition as u32);
        assert!(file.undated_placement());
        assert_eq!((file.undated_decision(), file.reschedulings()), (Some(PhaseCode::Transition), 1));
        file.finish_decision(130);
        tick(&mut file, 129);
        assert_eq!((file.quota(0, 0), file.phase()), (0, Some(PhaseCode::Partition)));
        tick(&mut file, 130);
        assert_eq!((file.quota(0, 0), file.phase()), (2, Some(PhaseCode::Transition)));
        // A decision is not a placement.
        decide(&mut file, 200);
        assert!(!file.undated_placement() && file.undated_decision().is_some());
    }

    #[test]
    fn other_phases_take_no_time() {
        let mut file = timed();
        file.write32(global::PHASE, PhaseCode::Partition as u32);
        file.write32(global::QUOTA_ALL, 3);
        file.write32(global::COMMIT, 1);
        assert_eq!((file.undated_decision(), file.quota(1, 0)), (None, 3));
    }

    proptest! {
        /// A decision of zero time equals an untimed decision, for arbitrary writes.
        #[test]
        fn no_time_is_untimed(writes in proptest::collection::vec((0..MAP_END / 4, any::<u32>()), 0..200), phases in 0..8_usize) {
            let mut writes: Vec<(u32, u32)> = writes.into_iter().map(|(word, value)| (4 * word, value)).collect();
            let every = writes.len() / (phases + 1) + 1;
            for at in (0..writes.len()).step_by(every) {
                writes[at] = (global::PHASE, PhaseCode::Decide as u32);
            }
            let (mut timed, mut plain) = (timed(), timed());
            plain.busy.enabled = false;
            for file in [&mut timed, &mut plain] {
                file.set_now(7);
                writes.iter().for_each(|(offset, value)| file.write32(*offset, *value));
                file.finish_decision(7);
            }
            timed.busy = Busy::default();
            plain.busy = Busy::default();
            prop_assert_eq!(format!("{timed:?}"), format!("{plain:?}"));
        }
    }
}
