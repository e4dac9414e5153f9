//! Preemption, the GPU's part: which SMs want room and for whom, carrying out what the firmware commands, and a record of all of it
//! (Shieh 2016, section 3.1; sources.md D133).
//!
//! An SM is looked at when TB issue has found nothing to give it. Victims that have left go back to their kernel, and come again where quotas
//! and reserved room let them.

use super::Gpu;
use super::drain_oracle::DrainOracle;
use crate::register_block::{PreemptAction, ShownTb};
use crate::sm::{Carried, LeftTb, Resources};
use mias_registers::preempt::MAX_PLACES;
use mias_registers::{preempt_command, preempt_reserve, technique};
use serde::{Deserialize, Serialize};

/// One command that a TB leaves, and what came of it. Part of `docs/results-format.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preemption {
    /// SM that the TB was on.
    pub sm: u32,
    /// Launch that it is of, as in [`super::Stats::launches`].
    pub launch: usize,
    /// Its index in its grid.
    pub tb: u32,
    /// How it was to leave.
    pub technique: Technique,
    /// Warp instructions that it had issued.
    pub warp_insts: u64,
    /// Cycles in which it had issued them.
    pub resident_cycles: u64,
    /// Core cycles that the firmware expected it to take, as [`preempt_command`] has it: at most 2^24 - 1, which stands for not known, too.
    pub estimated_cycles: u32,
    /// Cycle of the command.
    pub commanded_cycle: u64,
    /// Cycle by which its place was free; none if it was there still at the end, or the command was refused.
    pub left_cycle: Option<u64>,
    /// Cycle from which it issued nothing more, of a TB that was switched out; none as long as it waits for its turn, and where it ended
    /// meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_cycle: Option<u64>,
    /// It had issued all it has: whatever the technique, it has ended and is not executed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// The hardware refused: it was not to be flushed any more, or was leaving already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

impl Preemption {
    /// Core cycles that the firmware expected it to take; none where it did not know.
    #[must_use]
    pub fn estimate(&self) -> Option<u32> {
        (self.estimated_cycles < u32::MAX >> preempt_command::ESTIMATE_SHIFT).then_some(self.estimated_cycles)
    }

    /// Warp instructions that it threw away: those of a TB that was flushed and had not ended.
    #[must_use]
    pub fn thrown_away(&self) -> u64 {
        if self.technique == Technique::Flush { self.would_lose() } else { 0 }
    }

    /// Warp instructions that flushing it would have thrown away, whatever its bytes forbid: none if the command was refused, or it had ended.
    #[must_use]
    pub fn would_lose(&self) -> u64 {
        if self.refused || self.ended { 0 } else { self.warp_insts }
    }
}

/// How a TB leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// It runs to its end.
    Drain,
    /// It is dropped, and begins again later.
    Flush,
    /// Its context is saved, and it goes on later.
    Switch,
}

impl Technique {
    fn of(code: u32) -> Option<Self> {
        match code {
            technique::DRAIN => Some(Technique::Drain),
            technique::FLUSH => Some(Technique::Flush),
            technique::SWITCH => Some(Technique::Switch),
            _ => None,
        }
    }
}

/// All commands so far, in order, and what is known of when TBs will end.
#[derive(Clone, Debug, Default)]
pub(super) struct Preemptions {
    pub(super) all: Vec<Preemption>,
    /// Kernel slot of each of those that are being carried out, by place in `all`.
    open: Vec<(usize, u8)>,
    /// SMs that have been given commands, and the firmware has not been told that they are done.
    commanded: Vec<u16>,
    /// Ends of TBs that something outside has told of, and of those that are watched.
    pub(super) drain_oracle: DrainOracle,
}

impl Preemptions {
    /// A TB has ended, or left, on an SM by cycle `cycle`; if it was switched out, since cycle `stopped` it had issued nothing.
    pub(super) fn ended(&mut self, sm: usize, (slot, tb): (u8, u32), cycle: u64, stopped: Option<u64>) {
        let Preemptions { all, open, drain_oracle, .. } = self;
        drain_oracle.ended(sm, (slot, tb), cycle);
        let found = open.iter().position(|&(at, of)| of == slot && all[at].tb == tb && all[at].sm as usize == sm);
        if let Some(found) = found {
            let (at, _) = open.swap_remove(found);
            (all[at].left_cycle, all[at].stopped_cycle) = (Some(cycle), stopped);
        }
    }
}

impl Gpu {
    /// All commands so far, in order.
    pub(super) fn preemptions(&self) -> Vec<Preemption> {
        let mut all = self.preemptions.all.clone();
        for &(at, slot) in &self.preemptions.open {
            all[at].stopped_cycle = self.sms[all[at].sm as usize].stopped(slot, all[at].tb);
        }
        all
    }

    /// Looks whether a kernel could have another TB on an SM if others left, and says so to the firmware.
    pub(super) fn look_for_victims(&mut self, sm: usize) {
        if self.sms[sm].is_preempting() {
            return;
        }
        let wanted = self.dispatcher.order().iter().find_map(|&slot| {
            let state = self.slots[slot].as_ref()?;
            let most = self.registers.quota(sm, slot).min(self.tb_cap);
            let lacks = most.saturating_sub(self.sms[sm].resident(slot)).min(state.available());
            let wants = lacks > 0 && state.ready <= self.now && !self.sms[sm].can_take_tb(slot as u8, &state.demand);
            (wants && self.has_victims(sm, slot)).then_some((slot, lacks))
        });
        if wanted.is_some() || self.registers.wants_room(sm) {
            self.registers.want_room(sm, wanted);
        }
    }

    /// Whether a TB on the SM has to yield to the kernel in `slot`: one of lower priority, or beyond its own kernel's quota.
    fn has_victims(&self, sm: usize, slot: usize) -> bool {
        let priority = |slot: usize| self.slots[slot].as_ref().map_or(0, |state| state.priority);
        self.dispatcher.order().iter().any(|&other| {
            let stay = self.sms[sm].resident(other) - self.sms[sm].leaving(other);
            let may = if priority(other) < priority(slot) { 0 } else { self.registers.quota(sm, other) };
            other != slot && stay > may && priority(other) <= priority(slot)
        })
    }

    /// Shows the firmware, which is about to run, what SMs that want room hold.
    pub(super) fn show_tbs(&mut self) {
        if !(0..self.sms.len()).any(|sm| self.registers.wants_room(sm)) {
            return;
        }
        let programs = self.programs.clone();
        for sm in 0..self.sms.len() {
            if !self.registers.wants_room(sm) {
                continue;
            }
            for place in 0..MAX_PLACES {
                let status = self.sms[sm].tb_status(place, self.now, true, &programs);
                let shown = status.map(|status| ShownTb {
                    slot: status.kernel,
                    flush: status.flush,
                    leaving: status.leaving,
                    insts: status.insts,
                    cycles: status.cycles,
                    first_register: status.first_register,
                    first_shared: status.first_shared,
                    left: self.preemptions.drain_oracle.left(sm, (status.kernel, status.index), self.now),
                    came_cycle: status.came_cycle,
                });
                let result = self.sms[sm].preempt_result(place);
                self.registers.show_tb(sm, place, shown, result);
            }
            for slot in 0..self.slots.len() {
                self.registers.show_ended(sm, slot, self.sms[sm].ended(slot));
            }
            let (word, positions) = self.sms[sm].reserved();
            self.registers.show_reserved(sm, word, positions);
        }
    }

    /// Works out for all TBs on SMs where they stop being idempotent, so that copies from here on know it.
    pub fn know_idempotence(&mut self) {
        let programs = self.programs.clone();
        for sm in 0..self.sms.len() {
            for place in 0..MAX_PLACES {
                self.sms[sm].tb_status(place, self.now, true, &programs);
            }
        }
    }

    /// Carries out what the firmware has written.
    pub(super) fn carry_out(&mut self) {
        if !self.registers.has_preempt_actions() {
            return;
        }
        let programs = self.programs.clone();
        // The SM on which room was to be kept last for a kernel that does not wait for any, since the firmware took its time.
        let mut for_nobody = None;
        for (sm, action) in self.registers.take_preempt_actions() {
            let sm = usize::from(sm);
            match action {
                PreemptAction::Reserve { word, positions } => {
                    let slot = (word & preempt_reserve::SLOT).checked_sub(1);
                    let state = slot.and_then(|slot| self.slots.get(slot as usize)?.as_ref());
                    let waits = state.is_some_and(|state| state.available() > 0);
                    for_nobody = (slot.is_some() && !waits).then_some(sm);
                    if for_nobody.is_none() {
                        let demand = state.map_or(Resources::default(), |state| state.demand);
                        self.sms[sm].reserve(word, positions, &demand);
                    }
                }
                PreemptAction::Command { place, technique, estimate, came_cycle } => {
                    let carried = match for_nobody == Some(sm) {
                        true => self.sms[sm].refuse(place, technique, preempt_command::NO_TB),
                        false => self.sms[sm].preempt_shown(place, came_cycle, technique, self.now, &programs),
                    };
                    if !self.preemptions.commanded.contains(&(sm as u16)) {
                        self.preemptions.commanded.push(sm as u16);
                    }
                    self.sms.wake(sm, self.now);
                    self.registers.answered(sm);
                    let ended = carried.is_ok_and(|carried| carried.ended);
                    let status = match carried {
                        Ok(carried) => Some((carried.kernel, carried.index, carried.insts, carried.cycles)),
                        Err(_) => {
                            let status = self.sms[sm].tb_status(place, self.now, false, &programs);
                            status.map(|status| (status.kernel, status.index, status.insts, status.cycles))
                        }
                    };
                    let record = status.zip(Technique::of(technique)).and_then(|((slot, tb, warp_insts, resident_cycles), technique)| {
                        Some((
                            slot,
                            Preemption {
                                sm: sm as u32,
                                launch: self.slots.get(usize::from(slot))?.as_ref()?.launch,
                                tb,
                                technique,
                                warp_insts,
                                resident_cycles,
                                estimated_cycles: estimate,
                                commanded_cycle: self.now,
                                left_cycle: carried.ok().filter(|carried| carried.left).map(|_| self.now),
                                stopped_cycle: None,
                                ended,
                                refused: carried.is_err(),
                            },
                        ))
                    });
                    if let Some((slot, record)) = record {
                        if record.left_cycle.is_none() && !record.refused {
                            // A TB that drains may be told otherwise later.
                            self.preemptions.open.push((self.preemptions.all.len(), slot));
                        }
                        self.preemptions.all.push(record);
                    }
                    if carried.is_ok() {
                        let mut extras = Vec::new();
                        self.sms[sm].extras_leave(technique, self.now, &programs, |technique, carried| extras.push((technique, carried)));
                        extras.into_iter().for_each(|(technique, carried)| self.note_extra(sm, technique, &carried));
                    }
                }
            }
            self.dispatcher.room_on(sm);
        }
        self.retire_tbs(self.now);
    }

    /// An extra TB leaves an SM because another was commanded to: it is in the record as if it had been.
    fn note_extra(&mut self, sm: usize, technique: u32, carried: &Carried) {
        let Some(state) = self.slots.get(usize::from(carried.kernel)).and_then(Option::as_ref) else { return };
        let Some(technique) = Technique::of(technique) else { return };
        if !carried.left {
            self.preemptions.open.push((self.preemptions.all.len(), carried.kernel));
        }
        self.preemptions.all.push(Preemption {
            sm: sm as u32,
            launch: state.launch,
            tb: carried.index,
            technique,
            warp_insts: carried.insts,
            resident_cycles: carried.cycles,
            // Nobody has estimated it.
            estimated_cycles: u32::MAX >> preempt_command::ESTIMATE_SHIFT,
            commanded_cycle: self.now,
            left_cycle: carried.left.then_some(self.now),
            stopped_cycle: None,
            ended: carried.ended,
            refused: false,
        });
    }

    /// Tells of SMs all of whose commands are done, or refused.
    pub(super) fn post_preempted(&mut self) {
        let (sms, registers) = (&self.sms, &mut self.registers);
        self.preemptions.commanded.retain(|&sm| {
            let goes_on = sms[usize::from(sm)].is_preempting();
            if !goes_on {
                registers.post_preempt_done(usize::from(sm));
            }
            goes_on
        });
    }

    /// TBs that have left an SM by command go back to their kernels. Slots of these, one bit each.
    pub(super) fn take_left(&mut self, sm: usize) -> u32 {
        let mut changed = 0;
        let (slots, validation, preemptions, now) = (&mut self.slots, &mut self.validation, &mut self.preemptions, self.now);
        self.sms[sm].take_left(|LeftTb { kernel, tb, stopped }| {
            changed |= 1 << kernel;
            if let Some(validation) = validation {
                validation.left(usize::from(kernel), tb.index);
            }
            preemptions.ended(sm, (kernel, tb.index), now, stopped);
            if let Some(state) = &mut slots[usize::from(kernel)] {
                // What begins anew goes before what has not begun, behind what waits longer.
                state.suspended.push_back(tb);
            }
        });
        for (slot, state) in self.slots.iter().enumerate().filter(|(slot, _)| changed >> slot & 1 != 0) {
            self.registers.set_unissued(slot, state.as_ref().map_or(0, super::launch::Slot::available));
        }
        if changed != 0 {
            self.dispatcher.room_everywhere();
        }
        changed
    }

    /// A kernel leaves its slot: nothing is kept for it.
    pub(super) fn forget_reserved(&mut self, slot: usize) {
        for sm in 0..self.sms.len() {
            self.sms[sm].give_reserved_free(slot as u8);
        }
        if self.oversubscription.is_some() {
            // Others may come, extra ones too. Where there are none, what has become free is seen when something else happens on its SM.
            self.dispatcher.room_everywhere();
        }
    }
}
