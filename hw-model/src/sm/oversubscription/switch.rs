//! Context switching logic: moves and their times (Lin et al. 2018, sections 6.6 and 6.7, eq. 1 to
//! 3; sources.md D163 and D164).
//!
//! When the mover is free, the first ready context in its queue that has space moves in. Otherwise,
//! the first one for which a stalled context makes space swaps with it, and both moves take time.
//! If none is ready, the first stalled context with spare storage moves out. States and queues are
//! in [`super::states`].

use super::super::Sm;
use super::super::cycle_accounting::EVERY_SUB_CORE;
use super::super::operands::MAX_SUB_CORES;
use super::super::warp::Wait;
use super::Oversubscription;
use super::accesses::Accesses;
use super::plan::{Level, Limit, Plan};
use super::space::{Kind, cycles};
use super::tables::{NOWHERE, State};

/// Move: one context out of its place, one into its place, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) out: Option<u8>,
    pub(super) into: Option<u8>,
    /// First cycle in which the move is done.
    pub(super) ends: u64,
}

/// Resources that a warp or a TB needs to be in place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Footprint {
    warps: u32,
    slots: [u32; MAX_SUB_CORES],
}

impl Oversubscription {
    /// True if a unit with this footprint fits into its place.
    pub(super) fn has_room(&self, plan: &Plan, one: &Footprint) -> bool {
        let slots = self.slots.iter().zip(one.slots).all(|(free, needed)| free.count_ones() >= needed);
        slots
            && match plan.limit {
                Limit::Registers => self.space.count(Kind::Registers) >= one.warps,
                Limit::Shared => self.space.count(Kind::Shared) > 0,
                Limit::Slots => true,
            }
    }

    /// True if `out` and `into` can swap places.
    pub(super) fn may_change(&self, plan: &Plan, out: &Footprint, into: &Footprint) -> bool {
        let free = self.slots.iter().zip(out.slots).zip(into.slots);
        let slots = free.into_iter().all(|((free, left), needed)| free.count_ones() + left >= needed);
        let registers = self.space.count(Kind::Registers) + out.warps >= into.warps;
        let spilled = self.space.count(Kind::Spilled) + into.warps >= out.warps;
        slots && (plan.limit != Limit::Registers || registers && spilled)
    }

    /// True if a unit with this footprint has spare storage.
    fn may_leave(&self, plan: &Plan, one: &Footprint) -> bool {
        let needed = if plan.limit == Limit::Registers { one.warps } else { 1 };
        self.extras > 0 && self.space.count(Kind::Spilled) >= needed
    }
}

impl Sm {
    /// Switches contexts in cycle `now`.
    pub(in crate::sm) fn switch_contexts(&mut self, now: u64) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let Some((kernel, plan)) = oversubscription.switched else { return };
        if let Some(moved) = oversubscription.moving.filter(|moving| moving.ends <= now) {
            oversubscription.moving = None;
            oversubscription.look = true;
            self.moved(&plan, moved, now);
        }
        let Some(oversubscription) = &mut self.oversubscription else { return };
        if !oversubscription.look && self.accounting.changed | self.issued == 0 {
            return;
        }
        oversubscription.look = false;
        self.follow_states(&plan);
        self.begin_move(&plan, kernel, now);
        self.end_to_switch(now);
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.note_held(kernel, now);
        }
    }

    /// Next cycle after `now` with an internal switching event.
    pub(in crate::sm) fn next_context_switch(&self, now: u64) -> Option<u64> {
        let oversubscription = self.oversubscription.as_ref().filter(|oversubscription| oversubscription.is_switching())?;
        let looks = (oversubscription.look || self.accounting.changed != 0).then_some(now + 1);
        let moves = oversubscription.moving.map(|moving| moving.ends.max(now + 1));
        looks.into_iter().chain(moves).min()
    }

    /// Resources that a warp or a TB needs to be in place.
    pub(super) fn footprint(&self, level: Level, unit: u8) -> Footprint {
        let mut footprint = Footprint::default();
        for number in self.warps_of(level, unit).filter(|&number| self.warps[number].live) {
            footprint.warps += 1;
            footprint.slots[self.sub_core(number)] += 1;
        }
        footprint
    }

    /// Starts the next move, if the mover is free.
    fn begin_move(&mut self, plan: &Plan, kernel: u8, now: u64) {
        let Some(oversubscription) = &self.oversubscription else { return };
        if oversubscription.moving.is_some() {
            return;
        }
        if let Some(tb_slot) = self.comes_first(oversubscription) {
            if let Some((out, first)) = self.first_to_come(plan, tb_slot) {
                self.begin_move_of(plan, kernel, [out, Some(first)], now);
            }
            return;
        }
        let of = |unit: &u8| self.footprint(plan.level, *unit);
        let comes = oversubscription.ready.iter().copied().find(|unit| oversubscription.has_room(plan, &of(unit)));
        let (out, into) = if let Some(into) = comes {
            (None, Some(into))
        } else {
            let change = oversubscription.ready.iter().find_map(|ready| {
                let into = of(ready);
                let out = oversubscription.stalled.iter().find(|stalled| oversubscription.may_change(plan, &of(stalled), &into))?;
                Some((Some(*out), Some(*ready)))
            });
            let leaves = || {
                // A TB may need the slots of several stalled TBs.
                let may = oversubscription.ready.is_empty() || plan.level == Level::Tb;
                let out = oversubscription.stalled.iter().copied().find(|unit| may && oversubscription.may_leave(plan, &of(unit)))?;
                Some((Some(out), None))
            };
            let Some(change) = change.or_else(leaves) else { return };
            change
        };
        self.begin_move_of(plan, kernel, [out, into], now);
    }

    /// Starts this move in cycle `now`.
    fn begin_move_of(&mut self, plan: &Plan, kernel: u8, [out, into]: [Option<u8>; 2], now: u64) {
        // The source is read before its place is released, and the destination after its place is
        // taken.
        let comes = into.and_then(|into| self.moved_context(plan, into));
        self.reserve_places(plan, out, into);
        let leaves = out.and_then(|out| self.moved_context(plan, out));
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let bandwidth = oversubscription.config.bandwidth();
        let takes = [leaves, comes].into_iter().flatten().map(|context| cycles(context.bytes.iter().sum(), bandwidth)).sum();
        oversubscription.moving = Some(Move { out, into, ends: now + takes });
        let counts = &mut oversubscription.counts[usize::from(kernel)];
        counts.moving_cycles += takes;
        counts.switched_out += u64::from(out.is_some());
        counts.switched_in += u64::from(into.is_some());
        oversubscription.note_move(kernel, [leaves, comes], takes, now);
        let counters = &mut self.kernels[usize::from(kernel)];
        for (context, out) in [(leaves, true), (comes, false)] {
            if let Some(context) = context {
                Accesses::of(plan, &context, oversubscription.l1_access_bytes).count(out, counters);
            }
        }
    }

    /// Reserves the destinations of a move; the leaving unit is removed from its sub-core. Swapped
    /// units release their places.
    fn reserve_places(&mut self, plan: &Plan, out: Option<u8>, into: Option<u8>) {
        let change = out.is_some() && into.is_some();
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.stalled.retain(|&unit| Some(unit) != out);
            oversubscription.ready.retain(|&unit| Some(unit) != into);
        }
        for number in out.map_or(0..0, |unit| self.warps_of(plan.level, unit)) {
            if !self.warps[number].live {
                continue;
            }
            self.leave_sub_core(number);
            if let Some(oversubscription) = &mut self.oversubscription {
                oversubscription.tables.go(number, State::Absent);
            }
        }
        if change {
            self.give_places(plan, out, true);
            self.give_places(plan, into, false);
        }
        self.take_places(plan, into, true);
        self.take_places(plan, out, false);
        if change {
            // One of the two TBs may have more warps than the other.
            self.retry_extra_tb();
        }
    }

    /// Completes a move by cycle `now`.
    fn moved(&mut self, plan: &Plan, moved: Move, now: u64) {
        if moved.into.is_none() {
            self.give_places(plan, moved.out, true);
        }
        if moved.out.is_none() {
            self.give_places(plan, moved.into, false);
        }
        for number in moved.into.map_or(0..0, |unit| self.warps_of(plan.level, unit)) {
            if !self.warps[number].live {
                continue;
            }
            if let Some(oversubscription) = &mut self.oversubscription {
                if oversubscription.tables.warps[usize::from(number)].state == State::Absent {
                    // A TB may return with warps at a barrier.
                    oversubscription.tables.go(number, State::Ready);
                }
                oversubscription.tables.go(number, State::Running);
            }
            self.come_to_sub_core(number, now);
        }
        self.retry_extra_tb();
    }

    /// Takes the places of a unit that moves in, or out.
    fn take_places(&mut self, plan: &Plan, unit: Option<u8>, its: bool) {
        let Some(unit) = unit else { return };
        for number in self.warps_of(plan.level, unit).filter(|&number| self.warps[number].live) {
            let sub_core = self.sub_core(number);
            let Some(oversubscription) = &mut self.oversubscription else { return };
            if its {
                oversubscription.tables.warps[usize::from(number)].slot = oversubscription.take_slot(sub_core);
            }
            if plan.limit == Limit::Registers {
                let kind = if its { Kind::Registers } else { Kind::Spilled };
                let place = oversubscription.space.take(kind).unwrap_or(NOWHERE);
                let entry = &mut oversubscription.tables.warps[usize::from(number)];
                *(if its { &mut entry.registers } else { &mut entry.spilled }) = place;
            }
        }
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let entry = &mut oversubscription.tables.tbs[usize::from(unit) % self.tbs.len().max(1)];
        match (plan.limit, its) {
            (Limit::Shared, true) => entry.shared = oversubscription.space.take(Kind::Shared).unwrap_or(NOWHERE),
            (Limit::Shared | Limit::Slots, false) => entry.spilled = oversubscription.space.take(Kind::Spilled).unwrap_or(NOWHERE),
            (Limit::Registers, _) | (Limit::Slots, true) => {}
        }
    }

    /// Releases the places of a unit in place, or in spare storage.
    fn give_places(&mut self, plan: &Plan, unit: Option<u8>, its: bool) {
        let Some(unit) = unit else { return };
        for number in self.warps_of(plan.level, unit) {
            let sub_core = self.sub_core(number);
            let Some(oversubscription) = &mut self.oversubscription else { return };
            if its {
                oversubscription.give_slot(number, sub_core);
            }
            if plan.limit == Limit::Registers {
                let entry = &mut oversubscription.tables.warps[usize::from(number)];
                let place = std::mem::replace(if its { &mut entry.registers } else { &mut entry.spilled }, NOWHERE);
                if place != NOWHERE {
                    oversubscription.space.give(if its { Kind::Registers } else { Kind::Spilled }, place);
                }
            }
        }
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let entry = &mut oversubscription.tables.tbs[usize::from(unit) % self.tbs.len().max(1)];
        let (place, kind) = match (plan.limit, its) {
            (Limit::Shared, true) => (&mut entry.shared, Kind::Shared),
            (Limit::Shared | Limit::Slots, false) => (&mut entry.spilled, Kind::Spilled),
            (Limit::Registers, _) | (Limit::Slots, true) => return,
        };
        let place = std::mem::replace(place, NOWHERE);
        if place != NOWHERE {
            oversubscription.space.give(kind, place);
        }
    }

    /// Removes a warp from its sub-core's masks.
    fn leave_sub_core(&mut self, number: u8) {
        self.unschedule(number);
        let (sub_core, local) = (self.sub_core(number), self.local(number));
        self.warps[number].bit = 0;
        self.sub_cores[sub_core].leave(local);
        self.ranks_change(sub_core);
        if let Some(fetch) = &mut self.fetch {
            fetch.forget(number);
        }
        self.fetching.retain(|&(_, other)| other != number);
    }

    /// Adds a warp to its sub-core's masks again, as the youngest; its next instructions are
    /// fetched.
    fn come_to_sub_core(&mut self, number: u8, now: u64) {
        self.arrive(number);
        if self.warps[number].wait == Wait::None {
            self.warps[number].wait = Wait::Fetch;
        }
        self.fetch_first(number, now);
        self.accounting.changed = EVERY_SUB_CORE;
    }

    /// Stops switching if there are no extra TBs and all contexts are in place. TBs of other
    /// kernels may arrive from cycle `now` on.
    fn end_to_switch(&mut self, now: u64) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        if oversubscription.extras == 0 && oversubscription.moving.is_none() && oversubscription.tables.away() == 0 {
            oversubscription.stop_switching();
            self.drained = true;
            self.lend_l1(now + 1);
        }
    }
}
