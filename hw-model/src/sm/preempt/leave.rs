//! Execution of preemption commands: refusal with its reason, immediate flush, stop for a switch,
//! or drain (Shieh 2016, section 2.3; sources.md D133).

use super::traffic::Way;
use super::{Carried, LeftTb, State, TbStatus};
use crate::config::{ResumeOn, SwitchModel};
use crate::sm::suspend::{Return, SuspendedTb};
use crate::sm::tb::TbSlot;
use crate::sm::{FinishedTb, NewTb, Programs, Sm};
use mias_registers::{preempt_command, technique};

impl Sm {
    /// Handles the end of a TB's last warp by cycle `now`. Returns true if the TB keeps its
    /// position, since it is being switched out; else it has ended.
    #[cold]
    #[inline(never)]
    pub(in crate::sm) fn stays_in_place(&mut self, tb_slot: usize, now: u64) -> bool {
        let tb = self.tbs[tb_slot];
        let Some(preemption) = &mut self.preemption else { return false };
        let Some(place) = preemption.place_of(tb_slot) else { return false };
        let Some(resident) = preemption.resident_mut(place) else { return false };
        match resident.state {
            State::Settles(_) => {
                resident.state = State::Goes;
                preemption.begin(place, Way::Out, &tb, now);
                true
            }
            State::Goes => true,
            State::Runs | State::Drains | State::Waits(_) | State::Comes => {
                let (insts, cycles) = (resident.insts, resident.before + now.saturating_sub(resident.since));
                preemption.ended[usize::from(tb.kernel)].add(insts, cycles);
                preemption.gone(place);
                false
            }
        }
    }

    /// Preempts the TB in a position. `now` is the coming cycle.
    ///
    /// # Errors
    /// One of the reasons of [`preempt_command`].
    pub(crate) fn preempt(&mut self, place: usize, how: u32, now: u64, programs: &Programs) -> Result<Carried, u32> {
        self.preempt_shown(place, None, how, now, programs)
    }

    /// Preempts the TB that arrived in this cycle, or any TB if none was shown.
    ///
    /// # Errors
    /// As [`Sm::preempt`]; [`preempt_command::NO_TB`] if another TB is in the position.
    pub(crate) fn preempt_shown(
        &mut self,
        place: usize,
        came_cycle: Option<u64>,
        how: u32,
        now: u64,
        programs: &Programs,
    ) -> Result<Carried, u32> {
        if self.is_extra(place) {
            return self.answer(place, how, Err(preempt_command::NO_TB));
        }
        let outcome = match (came_cycle, self.preemption.as_mut().and_then(|preemption| preemption.resident_mut(place))) {
            (Some(came), Some(resident)) if resident.since != came => Err(preempt_command::NO_TB),
            _ => self.try_preempt(place, how, now, programs),
        };
        self.answer(place, how, outcome)
    }

    /// Preempts any TB, including extra ones.
    pub(super) fn leave_by(&mut self, place: usize, how: u32, now: u64, programs: &Programs) -> Result<Carried, u32> {
        let outcome = self.try_preempt(place, how, now, programs);
        if outcome.is_ok() { self.answer(place, how, outcome) } else { outcome }
    }

    /// Refuses a command with a reason.
    ///
    /// # Errors
    /// Always the reason.
    pub(crate) fn refuse(&mut self, place: usize, how: u32, reason: u32) -> Result<Carried, u32> {
        self.answer(place, how, Err(reason))
    }

    /// Stores the result of a command in the register of its position.
    fn answer(&mut self, place: usize, how: u32, outcome: Result<Carried, u32>) -> Result<Carried, u32> {
        if let Some(preemption) = &mut self.preemption
            && let Some(result) = preemption.results.get_mut(place)
        {
            *result = how << preempt_command::TECHNIQUE_SHIFT
                | match outcome {
                    Ok(Carried { left: true, .. }) => preempt_command::DONE,
                    Ok(_) => preempt_command::BUSY,
                    Err(reason) => preempt_command::REFUSED | reason << preempt_command::REASON_SHIFT,
                };
        }
        outcome
    }

    fn try_preempt(&mut self, place: usize, how: u32, now: u64, programs: &Programs) -> Result<Carried, u32> {
        // The slept cycles belong to the resident TBs.
        self.account_sleep(now);
        let status = self.status_of(place, now, how == technique::FLUSH, programs).ok_or(preempt_command::NO_TB)?;
        let Some(preemption) = &mut self.preemption else { return Err(preempt_command::MODE) };
        let stands = preemption.config.switch == SwitchModel::Stall;
        let Some(resident) = preemption.resident_mut(place) else { return Err(preempt_command::NO_TB) };
        if !matches!(resident.state, State::Runs | State::Drains | State::Waits(_)) {
            return Err(preempt_command::LEAVING);
        }
        let tb_slot = usize::from(resident.tb_slot);
        let TbStatus { kernel, index, insts, cycles, .. } = status;
        // A TB that has issued everything needs no resources and ends, even if it must not be
        // flushed.
        let ends = self.tbs[tb_slot].issuing == 0;
        let carried = |left| Carried { kernel, index, insts, cycles, left, ended: ends };
        match how {
            technique::FLUSH if !ends && !status.flush => Err(preempt_command::NOT_IDEMPOTENT),
            technique::FLUSH if !ends => {
                let tb = SuspendedTb::anew(NewTb { index, part: self.tbs[tb_slot].part, again: self.tbs[tb_slot].again });
                preemption.gone(place);
                let threads = self.issued_threads(tb_slot, programs);
                let counters = &mut self.kernels[usize::from(kernel)];
                counters.thrown_away_warp_insts += insts;
                counters.thrown_away_thread_insts += threads;
                self.stop(tb_slot, now);
                self.evict(tb_slot, now);
                if let Some(preemption) = &mut self.preemption {
                    preemption.left.push(LeftTb { kernel, tb, stopped: None });
                }
                Ok(carried(true))
            }
            technique::SWITCH if !ends => {
                preemption.switches += 1;
                let number = preemption.switches;
                if stands && !self.moves_context_of(tb_slot) {
                    self.stop_to_leave(place, State::Goes, now);
                } else {
                    if let Some(resident) = self.preemption.as_mut().and_then(|preemption| preemption.resident_mut(place)) {
                        resident.state = State::Waits(number);
                    }
                    self.next_switch(now);
                }
                self.retire(now);
                Ok(carried(false))
            }
            technique::DRAIN | technique::FLUSH | technique::SWITCH => {
                resident.state = State::Drains;
                preemption.drains |= 1 << place;
                self.end_issued(now, now);
                Ok(carried(ends))
            }
            _ => Err(preempt_command::NO_TB),
        }
    }

    /// Stops a TB for a switch and sets its state.
    fn stop_to_leave(&mut self, place: usize, state: State, now: u64) {
        let Some(preemption) = &mut self.preemption else { return };
        let (same, stands) = (preemption.config.resume == ResumeOn::SameSm, preemption.config.switch == SwitchModel::Stall);
        let Some(resident) = preemption.resident_mut(place) else { return };
        let (tb_slot, cycles) = (usize::from(resident.tb_slot), resident.before + now.saturating_sub(resident.since));
        resident.state = state;
        resident.stopped = Some(now);
        let home = same.then_some(self.lsu.sm());
        self.pin_context(tb_slot, true);
        let mut saved = self.stop(tb_slot, now);
        saved.back = Return::Restored { cycles, home };
        let tb = self.tbs[tb_slot];
        if let Some(preemption) = &mut self.preemption {
            if let Some(resident) = preemption.resident_mut(place) {
                resident.saved = Some(Box::new(saved));
            }
            if stands {
                preemption.begin(place, Way::Out, &tb, now);
            }
        }
    }

    /// Starts moving the context of a TB whose accesses in flight have all returned, although it
    /// has arithmetic in flight. A busy pipeline may delay that arithmetic as long as others issue,
    /// and it needs no resources of the TB.
    pub(super) fn go_if_settled(&mut self, now: u64) {
        let Some(preemption) = &mut self.preemption else { return };
        let settles = preemption.residents.iter().position(|resident| resident.as_ref().is_some_and(|resident| resident.is_late(now)));
        let Some(place) = settles else { return };
        let Some(resident) = preemption.resident_mut(place) else { return };
        let tb = self.tbs[usize::from(resident.tb_slot)];
        let accesses = |number: u8| {
            let warp = &self.warps[number];
            warp.live && (!warp.loading.is_empty() || warp.stores > 0 || warp.atomics > 0)
        };
        if !(tb.first_warp..tb.first_warp + tb.warps).any(accesses) {
            resident.state = State::Goes;
            preemption.begin(place, Way::Out, &tb, now);
        }
    }

    /// Stops the TB that has waited longest for its switch, if its context moves next.
    pub(super) fn next_switch(&mut self, now: u64) {
        let Some(place) = self.preemption.as_ref().and_then(|preemption| preemption.next_to_stop()) else { return };
        let Some(preemption) = &mut self.preemption else { return };
        let stands = preemption.config.switch == SwitchModel::Stall;
        let Some(resident) = preemption.resident_mut(place) else { return };
        let tb_slot = usize::from(resident.tb_slot);
        if self.tbs[tb_slot].issuing == 0 {
            // Nothing is left to save.
            resident.state = State::Drains;
            preemption.drains |= 1 << place;
        } else if !self.moves_context_of(tb_slot) {
            // Requests in flight on the SM arrive first.
            self.stop_to_leave(place, if stands { State::Goes } else { State::Settles(now) }, now);
        }
    }

    /// Ends TBs that drain, or were to be flushed or switched, and have issued everything by cycle
    /// `now`. Their resources are free from cycle `from` on, and their replies are dropped.
    pub(super) fn end_issued(&mut self, now: u64, from: u64) {
        let mut drains = self.preemption.as_ref().map_or(0, |preemption| preemption.drains);
        while drains != 0 {
            let place = drains.trailing_zeros() as usize;
            drains &= drains - 1;
            let Some(preemption) = &mut self.preemption else { return };
            let Some(resident) = preemption.residents[place].as_ref() else { continue };
            let tb_slot = usize::from(resident.tb_slot);
            let TbSlot { kernel, index, again, issuing, .. } = self.tbs[tb_slot];
            if issuing == 0 {
                let (insts, cycles) = (resident.insts, resident.before + now.saturating_sub(resident.since));
                preemption.ended[usize::from(kernel)].add(insts, cycles);
                preemption.gone(place);
                self.kernels[usize::from(kernel)].tbs_completed += 1;
                self.finished.push(FinishedTb { kernel, index, again });
                self.evict(tb_slot, from);
            }
        }
    }

    /// Passes the TBs that have left by command since the last call to `each`.
    pub(crate) fn take_left(&mut self, each: impl FnMut(LeftTb)) {
        if let Some(preemption) = &mut self.preemption {
            preemption.left.drain(..).for_each(each);
        }
    }

    /// True if TBs have left by command since the last call.
    pub(in crate::sm) fn has_left_tbs(&self) -> bool {
        self.preemption.as_ref().is_some_and(|preemption| !preemption.left.is_empty())
    }
}
