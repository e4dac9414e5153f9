//! Preemption on the GPU: requests for capacity, execution of the firmware's commands, and their
//! record (Shieh 2016, section 3.1; sources.md D133).
//!
//! An SM is examined when TB issue has found no TB for it. Victims that have left return to their
//! kernel. They are issued again when quotas and reserved capacity allow.

use super::Gpu;
use super::drain_oracle::DrainOracle;
use crate::register_block::{PreemptAction, ShownTb};
use crate::sm::{Carried, LeftTb, Resources};
use mias_registers::preempt::MAX_PLACES;
use mias_registers::{preempt_command, preempt_reserve, technique};
use serde::{Deserialize, Serialize};

/// Command to preempt a TB, with its result. Part of `docs/reference/results.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Preemption {
    /// SM of the TB.
    pub sm: u32,
    /// Launch of the TB, as in [`super::Stats::launches`].
    pub launch: usize,
    /// Index of the TB in its grid.
    pub tb: u32,
    /// Technique of the preemption.
    pub technique: Technique,
    /// Number of warp instructions that the TB had issued.
    pub warp_insts: u64,
    /// Number of cycles that the TB had been resident.
    pub resident_cycles: u64,
    /// Core cycles that the firmware expected the preemption to take, as in [`preempt_command`]: at
    /// most 2^24 - 1, which also means unknown.
    pub estimated_cycles: u32,
    /// Cycle of the command.
    pub commanded_cycle: u64,
    /// Cycle by which the TB's position was free; none if it was still occupied at the end, or the
    /// command was refused.
    pub left_cycle: Option<u64>,
    /// Cycle from which a switched-out TB issued nothing; none while it waits for its switch, and
    /// if it ended meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_cycle: Option<u64>,
    /// True if the TB had issued all its instructions: it has then ended under any technique and is
    /// not executed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// True if the hardware refused: a flush was not possible any more, or the TB was already
    /// leaving.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

impl Preemption {
    /// Core cycles that the firmware expected the preemption to take; none if unknown.
    #[must_use]
    pub fn estimate(&self) -> Option<u32> {
        (self.estimated_cycles < u32::MAX >> preempt_command::ESTIMATE_SHIFT).then_some(self.estimated_cycles)
    }

    /// Number of discarded warp instructions: those of a flushed TB that had not ended.
    #[must_use]
    pub fn thrown_away(&self) -> u64 {
        if self.technique == Technique::Flush { self.would_lose() } else { 0 }
    }

    /// Number of warp instructions that a flush would have discarded, regardless of idempotence: 0
    /// if the command was refused, or the TB had ended.
    #[must_use]
    pub fn would_lose(&self) -> u64 {
        if self.refused || self.ended { 0 } else { self.warp_insts }
    }
}

/// Technique by which a TB leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// Drain: the TB runs to its end.
    Drain,
    /// Flush: the TB is dropped and executed again later.
    Flush,
    /// Switch: the TB's context is saved, and the TB resumes later.
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

/// All commands so far, in order, and known ends of TBs.
#[derive(Clone, Debug, Default)]
pub(super) struct Preemptions {
    pub(super) all: Vec<Preemption>,
    /// Index in `all` and kernel slot of each command in progress.
    open: Vec<(usize, u8)>,
    /// SMs with commands whose completion the firmware has not been notified of.
    commanded: Vec<u16>,
    /// Ends of TBs from external sources, and ends that a copy is searching.
    pub(super) drain_oracle: DrainOracle,
}

impl Preemptions {
    /// Records that a TB has ended or left an SM by cycle `cycle`. A switched-out TB had issued
    /// nothing since cycle `stopped`.
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

    /// Checks whether a kernel could have another TB on an SM if others left, and requests that
    /// capacity from the firmware.
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

    /// True if a TB on the SM must yield to the kernel in `slot`: it has a lower priority, or is
    /// beyond its own kernel's quota.
    fn has_victims(&self, sm: usize, slot: usize) -> bool {
        let priority = |slot: usize| self.slots[slot].as_ref().map_or(0, |state| state.priority);
        self.dispatcher.order().iter().any(|&other| {
            let stay = self.sms[sm].resident(other) - self.sms[sm].leaving(other);
            let may = if priority(other) < priority(slot) { 0 } else { self.registers.quota(sm, other) };
            other != slot && stay > may && priority(other) <= priority(slot)
        })
    }

    /// Shows the TBs of the requesting SMs to the firmware, which is about to run.
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

    /// Computes the ends of the idempotent phases of all resident TBs, so that copies made from now
    /// on have them.
    pub fn know_idempotence(&mut self) {
        let programs = self.programs.clone();
        for sm in 0..self.sms.len() {
            for place in 0..MAX_PLACES {
                self.sms[sm].tb_status(place, self.now, true, &programs);
            }
        }
    }

    /// Executes the firmware's writes.
    pub(super) fn carry_out(&mut self) {
        if !self.registers.has_preempt_actions() {
            return;
        }
        let programs = self.programs.clone();
        // SM of the last reservation for a kernel that no longer waits, since the decision took
        // time.
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
                            // A draining TB may get another command later.
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

    /// Records an extra TB that leaves an SM because of a command to another TB, as if it had been
    /// commanded.
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
            // No estimate exists for it.
            estimated_cycles: u32::MAX >> preempt_command::ESTIMATE_SHIFT,
            commanded_cycle: self.now,
            left_cycle: carried.left.then_some(self.now),
            stopped_cycle: None,
            ended: carried.ended,
            refused: false,
        });
    }

    /// Reports SMs whose commands are all done or refused.
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

    /// Returns preempted TBs that have left an SM to their kernels. Returns the mask of these
    /// slots.
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
                // A TB that starts over goes before new TBs, and after TBs that have waited longer.
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

    /// Removes the reservations of a kernel that leaves its slot.
    pub(super) fn forget_reserved(&mut self, slot: usize) {
        for sm in 0..self.sms.len() {
            self.sms[sm].give_reserved_free(slot as u8);
        }
        if self.oversubscription.is_some() {
            // Other TBs may now be issued, including extra ones. Without these, the free capacity
            // is noticed at the next event of its SM.
            self.dispatcher.room_everywhere();
        }
    }
}
