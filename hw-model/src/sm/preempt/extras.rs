//! Extra TBs (sm/oversubscription) on SMs that preempt (sources.md D198).
//!
//! They have a position, which identifies them when they leave, but no ranges, since their contexts
//! lie in spare registers and shared memory. The firmware chooses victims by their resources and
//! does not see extra TBs.
//!
//! When one of the SM's TBs is commanded to leave, its extra TBs leave too, by the same technique.
//! While they are resident, no TB of another kernel is accepted.

use super::places::Ranges;
use super::{Carried, Preemption, Resident, State};
use crate::sm::{Program, Programs, Sm};
use mias_registers::preempt::MAX_PLACES;
use mias_registers::{preempt_command, technique};

impl Preemption {
    /// True if no TB is leaving the SM, and no capacity is reserved for a kernel other than that in
    /// `slot`.
    fn lets_extras_come(&self, slot: u8) -> bool {
        let stays = |resident: &Resident| matches!(resident.state, State::Runs | State::Comes);
        self.residents.iter().flatten().all(stays) && !self.is_reserved_but_for(slot)
    }
}

impl Sm {
    /// True if a position is available for an extra TB of the kernel in `slot`.
    pub(in crate::sm) fn has_extra_place(&self, slot: u8) -> bool {
        self.preemption.as_ref().is_none_or(|preemption| preemption.places.free_place().is_some() && preemption.lets_extras_come(slot))
    }

    /// Records that an extra TB has taken a TB slot, from cycle `from` on.
    pub(in crate::sm) fn takes_extra_place(&mut self, tb_slot: usize, program: &Program, from: u64) {
        let tb = self.tbs[tb_slot];
        let Some(preemption) = &mut self.preemption else { return };
        let Some(place) = preemption.places.free_place() else { return };
        preemption.comes(place, Ranges::default(), Resident::new(tb_slot, &tb, 0, program, from));
    }

    /// Makes an extra TB native: it takes the resources of one that has ended. Returns false if
    /// these are reserved for another kernel.
    pub(in crate::sm) fn becomes_native(&mut self, tb_slot: usize) -> bool {
        let (tb, others) = (self.tbs[tb_slot], self.resident_kernels & !(1 << self.tbs[tb_slot].kernel) != 0);
        let Some(preemption) = &mut self.preemption else { return true };
        let Some(place) = preemption.place_of(tb_slot) else { return false };
        let leaves = preemption.residents[place].as_ref().is_some_and(|resident| !matches!(resident.state, State::Runs));
        if leaves || preemption.is_reserved_but_for(tb.kernel) {
            return false;
        }
        // The ended TB has not returned its resources yet.
        self.free.give_back(&tb.demand);
        let ranges = preemption.take_ranges(&tb, others, &self.free);
        self.free.take(&tb.demand);
        ranges.is_some_and(|ranges| {
            preemption.places.take(place, ranges);
            true
        })
    }

    /// True if the TB in a position is an extra one.
    pub(super) fn is_extra(&self, place: usize) -> bool {
        let resident = self.preemption.as_ref().and_then(|preemption| preemption.residents.get(place)?.as_ref());
        resident.is_some_and(|resident| self.tbs[usize::from(resident.tb_slot)].extra)
    }

    /// Makes the extra TBs of the SM leave after one of its TBs was commanded to. Those that may
    /// not be flushed are switched. Passes each to `each`, with its technique. `now` is the coming
    /// cycle.
    pub(crate) fn extras_leave(&mut self, how: u32, now: u64, programs: &Programs, mut each: impl FnMut(u32, Carried)) {
        if !self.has_extras() {
            return;
        }
        for place in 0..MAX_PLACES {
            let resident = self.preemption.as_ref().and_then(|preemption| preemption.residents[place].as_ref());
            let runs = resident.is_some_and(|resident| matches!(resident.state, State::Runs));
            if !runs || !self.is_extra(place) {
                continue;
            }
            let mut technique = how;
            let mut outcome = self.leave_by(place, technique, now, programs);
            if outcome == Err(preempt_command::NOT_IDEMPOTENT) {
                technique = technique::SWITCH;
                outcome = self.leave_by(place, technique, now, programs);
            }
            if let Ok(carried) = outcome {
                each(technique, carried);
            }
        }
    }
}
