//! The microcontroller's time: what the firmware writes once it is deciding reaches the block when the decision's time is over.
//!
//! A model calls the firmware at once, and the firmware is done at once. A real one reads its
//! counters, computes, and writes; the simulated cycle in which it writes is that of the interrupt
//! plus its instructions' time. So writes that come after the firmware has reported
//! [`PhaseCode::Decide`] are held back, in order, and made together at the cycle that
//! [`RegisterBlock::finish_decision`] names. The same holds of a placement: of what is written
//! after the firmware has counted one more rescheduling ([`global::RESCHEDULINGS`]), which is
//! before its quotas; and of limits of memory instructions: of what is written after
//! [`global::MEMORY_SNAPSHOT`], of commands that preempt: of what is written after
//! [`global::PREEMPT_WANTED`] was cleared, and of how many extra TBs there may be: from
//! [`global::CONTEXT_ALLOWED`] on. Until then nothing reads them, the phase register shows Decide
//! (or Partition, of a placement), and the firmware is not called again
//! ([`RegisterBlock::calls_firmware`]): events that come in the meantime keep the interrupt line
//! high and are served after the writes, as by a processor that is in its handler. How long that is
//! the host says; the block knows no firmware.

use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, global, sm, sm_control};

use super::RegisterBlock;
use super::access::element;

/// Writes held back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Busy {
    /// Decisions take time.
    pub(super) enabled: bool,
    /// The firmware is deciding: its writes are held.
    holding: bool,
    /// Of limits of memory instructions.
    memory: bool,
    /// Of a preemption.
    preemption: bool,
    /// Of how many extra TBs there may be.
    contexts: bool,
    /// Offset and value, in order.
    writes: Vec<(u32, u32)>,
    /// Cycle in which they are made.
    pub(super) until: Option<u64>,
}

impl Busy {
    /// Holds a write back, if writes are held.
    pub(super) fn hold(&mut self, offset: u32, value: u32) -> bool {
        let allows = element(offset, global::CONTEXT_ALLOWED, KERNEL_SLOTS).is_some() || offset == global::CONTEXT_DUE;
        if allows && self.enabled {
            (self.contexts, self.holding) = (true, true);
        }
        // Who has been looked at is not held: what wants room from then on is new.
        let wanted = (global::PREEMPT_WANTED..global::PREEMPT_DONE).contains(&offset);
        // A window of kernels' counters begins or ends where the firmware says so, not when it is done.
        let held = self.holding && !(self.preemption && wanted) && offset != global::KERNEL_SNAPSHOT;
        if held {
            self.writes.push((offset, value));
        }
        held
    }

    /// Whether the writes that are due by `now` take a snapshot of an SM.
    pub(super) fn snapshots_at(&self, now: u64) -> bool {
        let is_snapshot = |offset: u32, value: u32| {
            offset == global::MEMORY_SNAPSHOT
                || offset >= sm::BASE && (offset - sm::BASE) % sm::STRIDE == sm::CONTROL && value & sm_control::SNAPSHOT != 0
        };
        self.until.is_some_and(|until| until <= now) && self.writes.iter().any(|&(offset, value)| is_snapshot(offset, value))
    }
}

impl Busy {
    /// The firmware has latched the counters of memory issue: limits follow.
    pub(super) fn begin_memory(&mut self) {
        self.memory = self.enabled;
        self.holding |= self.enabled;
    }

    /// What is held is neither a decision nor a placement.
    fn is_beside_decisions(&self) -> bool {
        self.memory || self.preemption || self.contexts
    }

    /// The firmware has taken notice of SMs that want room: victims follow.
    pub(super) fn begin_preemption(&mut self) {
        if !self.holding {
            self.preemption = self.enabled;
            self.holding = self.enabled;
        }
    }
}

impl RegisterBlock {
    /// From now on decisions take the time that [`RegisterBlock::finish_decision`] gives them. To be called once the firmware has
    /// started; whoever calls it names the end of every decision.
    pub fn time_decisions(&mut self) {
        self.busy.enabled = true;
    }

    /// The firmware reports a phase.
    pub(super) fn report_phase(&mut self, phase: u32) {
        self.notes.set(global::PHASE, phase);
        self.busy.holding = self.busy.enabled && phase == PhaseCode::Decide as u32;
    }

    /// The firmware counts its reschedulings: a placement begins, if it is one more.
    pub(super) fn report_reschedulings(&mut self, reschedulings: u32) {
        let more = self.reschedulings() != reschedulings;
        self.notes.set(global::RESCHEDULINGS, reschedulings);
        self.busy.holding |= self.busy.enabled && more;
    }

    /// Whether what [`RegisterBlock::undated_decision`] tells of is a placement: what a batch of launches, or a kernel that has gone,
    /// leads to. Nothing has been profiled for it.
    #[must_use]
    pub fn undated_placement(&self) -> bool {
        self.busy.holding && !self.busy.is_beside_decisions() && self.phase() != Some(PhaseCode::Decide)
    }

    /// Whether the firmware has set limits of memory instructions, and the cycle in which they take effect has not been named.
    #[must_use]
    pub fn undated_memory_limits(&self) -> bool {
        self.busy.holding && self.busy.memory
    }

    /// Whether the firmware has chosen victims, and the cycle in which its commands take effect has not been named.
    #[must_use]
    pub fn undated_preemption(&self) -> bool {
        self.busy.holding && self.busy.preemption
    }

    /// Whether the firmware has said how many extra TBs there may be, and the cycle in which that takes effect has not been named.
    #[must_use]
    pub fn undated_contexts(&self) -> bool {
        self.busy.holding && self.busy.contexts
    }

    /// Kernels whose counters of memory issue the last snapshot has latched: SMs with any, and the most on one of them.
    #[must_use]
    pub fn latched_kernels(&self) -> (u32, u32) {
        self.memory.latched_kernels()
    }

    /// The phase that a decision or placement leads to whose end has not been named yet; none if there is no such decision.
    #[must_use]
    pub fn undated_decision(&self) -> Option<PhaseCode> {
        if !self.busy.holding || self.busy.is_beside_decisions() {
            return None;
        }
        let phases = self.busy.writes.iter().rev().filter(|(offset, _)| *offset == global::PHASE);
        Some(phases.filter_map(|(_, value)| PhaseCode::from_code(*value)).next().unwrap_or(PhaseCode::Decide))
    }

    /// Names the cycle in which the decision just made ends: its writes take effect then, at once if that is not later than now.
    pub fn finish_decision(&mut self, cycle: u64) {
        if !self.busy.holding {
            return;
        }
        (self.busy.holding, self.busy.memory, self.busy.preemption, self.busy.contexts) = (false, false, false, false);
        self.busy.until = Some(cycle);
        self.make_held_writes();
        self.update_deadline();
    }

    /// Whether the firmware is to be called: the interrupt line is high, and it is not busy with a decision.
    #[must_use]
    pub fn calls_firmware(&self) -> bool {
        self.busy.until.is_none() && self.interrupt_pending()
    }

    /// Makes the held writes if their time has come.
    pub(super) fn make_held_writes(&mut self) {
        if self.busy.until.is_none_or(|until| until > self.now) {
            return;
        }
        self.busy.until = None;
        // One of them may report Decide again; it is none of a decision to come.
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

    /// What the firmware writes around a decision at `now`: two TBs of slot 0 on every SM.
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
        // A decision is no placement.
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
        /// A decision of no time is a decision that is not timed, whatever is written.
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
