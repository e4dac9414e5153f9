//! Arrival and end of extra TBs (Lin et al. 2018, sections 6.4 and 6.5; sources.md D163).

use super::super::cycle_accounting::EVERY_SUB_CORE;
use super::super::operands::MAX_SUB_CORES;
use super::super::tb::{NewTb, TbSlot};
use super::super::{Program, Resources, Sm};
use super::plan::{Level, Limit, Plan};
use super::space::Kind;
use super::tables::{NO_TB, NO_WARP, NOWHERE, State};
use super::{Oversubscription, TbTime};

/// Mask of all warps of a TB.
fn all(warps: u8) -> u32 {
    u32::MAX.checked_shr(32 - u32::from(warps)).unwrap_or(0)
}

impl Oversubscription {
    /// Mask of the warps in `live` that would be in place, for a TB whose first warp has number
    /// `first`; none if the TB does not fit.
    fn placement(&self, plan: &Plan, first: u32, live: u32, sub_core_mask: u8, stands_back: bool) -> Option<u32> {
        let count = live.count_ones();
        let [registers, shared, spilled] = [Kind::Registers, Kind::Shared, Kind::Spilled].map(|kind| self.space.count(kind));
        let mut slots = self.slots.map(u32::count_ones);
        let mut slot = |warp: u32| {
            let left = &mut slots[(first + warp) as usize & usize::from(sub_core_mask) & (MAX_SUB_CORES - 1)];
            let had = *left > 0;
            *left = left.saturating_sub(1);
            had
        };
        let mut warps = (0..32u32).filter(|warp| live >> warp & 1 != 0);
        if plan.limit == Limit::Registers && plan.level == Level::Warp {
            let (mut present, mut left) = (0, if stands_back { 0 } else { registers });
            for warp in warps {
                if left > 0 && slot(warp) {
                    left -= 1;
                    present |= 1 << warp;
                }
            }
            return (shared > 0 && (live & !present).count_ones() <= spilled).then_some(present);
        }
        let slots_for_all = warps.all(slot);
        let (here, there) = match plan.limit {
            Limit::Registers if shared == 0 => (false, false),
            Limit::Registers => (registers >= count, spilled >= count),
            Limit::Shared | Limit::Slots if registers < count => (false, false),
            Limit::Shared => (shared > 0, spilled > 0),
            Limit::Slots => (shared > 0, shared > 0 && spilled > 0),
        };
        if here && slots_for_all { Some(live) } else { there.then_some(0) }
    }

    /// Assigns places to a TB; the warps in `present` are in place.
    fn place(&mut self, plan: &Plan, tb_slot: usize, first: u8, live: u32, present: u32, sub_core_mask: u8) {
        let tb_present = present == live;
        let tb_place = plan.limit != Limit::Shared || tb_present;
        let spills_tb = plan.limit != Limit::Registers && !tb_present;
        let tb = &mut self.tables.tbs[tb_slot];
        tb.valid = true;
        tb.shared = if tb_place { self.space.take(Kind::Shared).unwrap_or(NOWHERE) } else { NOWHERE };
        tb.spilled = if spills_tb { self.space.take(Kind::Spilled).unwrap_or(NOWHERE) } else { NOWHERE };
        for warp in (0..32u8).filter(|warp| live >> warp & 1 != 0) {
            let (number, here) = (first + warp, present >> warp & 1 != 0);
            let mut entry = NO_WARP;
            entry.valid = true;
            entry.state = if here { State::Running } else { State::Ready };
            if here || plan.limit != Limit::Registers {
                entry.registers = self.space.take(Kind::Registers).unwrap_or(NOWHERE);
            } else {
                entry.spilled = self.space.take(Kind::Spilled).unwrap_or(NOWHERE);
            }
            if here {
                entry.slot = self.take_slot(usize::from(number & sub_core_mask));
            }
            self.tables.put(number, entry);
        }
        self.look = true;
    }

    pub(super) fn take_slot(&mut self, sub_core: usize) -> u8 {
        let free = &mut self.slots[sub_core & (MAX_SUB_CORES - 1)];
        let slot = free.trailing_zeros();
        *free &= free.saturating_sub(1);
        if slot < u32::BITS { slot as u8 } else { NOWHERE }
    }

    pub(super) fn give_slot(&mut self, number: u8, sub_core: usize) {
        let slot = std::mem::replace(&mut self.tables.warps[usize::from(number)].slot, NOWHERE);
        if slot != NOWHERE {
            self.slots[sub_core & (MAX_SUB_CORES - 1)] |= 1 << slot;
        }
    }

    /// Releases the places of a warp that has ended, or whose TB was removed from the SM.
    fn forget_warp(&mut self, number: u8, sub_core: usize) {
        self.give_slot(number, sub_core);
        let entry = self.tables.remove(number);
        for (kind, place) in [(Kind::Registers, entry.registers), (Kind::Spilled, entry.spilled)] {
            if place != NOWHERE {
                self.space.give(kind, place);
            }
        }
        if self.switched.is_some_and(|(_, plan)| plan.level == Level::Warp) {
            self.forget_unit(number);
        }
        self.look = true;
    }

    fn forget_tb(&mut self, tb_slot: usize) {
        let entry = std::mem::replace(&mut self.tables.tbs[tb_slot], NO_TB);
        for (kind, place) in [(Kind::Shared, entry.shared), (Kind::Spilled, entry.spilled)] {
            if place != NOWHERE {
                self.space.give(kind, place);
            }
        }
        if self.switched.is_some_and(|(_, plan)| plan.level == Level::Tb) {
            self.forget_unit(tb_slot as u8);
        }
        self.look = true;
    }

    /// Removes a warp or TB from the queues of context moves.
    fn forget_unit(&mut self, unit: u8) {
        self.stalled.retain(|&other| other != unit);
        self.ready.retain(|&other| other != unit);
        if let Some(moving) = &mut self.moving {
            moving.out = moving.out.filter(|&other| other != unit);
            moving.into = moving.into.filter(|&other| other != unit);
        }
    }
}

impl Sm {
    /// True if one more TB of the kernel in `slot` may arrive beyond those that fit: the kernel has
    /// the SM alone, no more of its TBs fit, and there is space for the context.
    pub(crate) fn can_take_extra(&self, slot: u8) -> bool {
        let Some(oversubscription) = &self.oversubscription else { return false };
        let at = usize::from(slot);
        let Some(plan) = oversubscription.plans[at].as_ref().and_then(|plans| plans.get(self.lsu.is_past_l1())) else { return false };
        let most = oversubscription.most_extra[at].min(plan.most_extra);
        let others = self.resident_kernels != 1 << slot || oversubscription.switched.is_some_and(|(kernel, _)| kernel != slot);
        if others
            || !self.has_extra_place(slot)
            || oversubscription.extras >= most
            || self.resident[at] != plan.native
            || self.find_tb_slot().is_none()
        {
            return false;
        }
        let Some(first) = self.find_run(plan.warps, self.numbers_where_switched()) else { return false };
        if oversubscription.is_switching() {
            oversubscription
                .placement(plan, first, all(plan.warps as u8), self.sub_core_mask, self.comes_first(oversubscription).is_some())
                .is_some()
        } else {
            self.has_slots_for_all(oversubscription.slots_per_sub_core)
        }
    }

    /// True if no sub-core has more warps than slots, without those that only drain.
    fn has_slots_for_all(&self, slots: u32) -> bool {
        let mut used = [0u32; MAX_SUB_CORES];
        for tb in self.tbs.iter().filter(|tb| tb.live && !tb.evicted) {
            for number in tb.first_warp..tb.first_warp + tb.warps {
                used[self.sub_core(number)] += u32::from(self.warps[number].live);
            }
        }
        used.iter().all(|&used| used <= slots)
    }

    /// Accepts a TB of the kernel in slot `kernel` beyond those that fit. Ignored unless
    /// [`Sm::can_take_extra`].
    pub(crate) fn take_extra(&mut self, kernel: u8, tb: NewTb, demand: &Resources, program: &Program, now: u64) {
        self.begin_to_switch(kernel);
        let count = demand.threads / 32;
        let (Some(first), Some(tb_slot)) = (self.find_warps(count), self.find_tb_slot()) else { return };
        self.account_sleep(now + 1);
        self.warp_slots_used |= u128::MAX >> (128 - count) << first;
        self.accounting.changed = EVERY_SUB_CORE;
        self.kernels[usize::from(kernel)].tbs_issued += 1;
        self.tbs[tb_slot] = TbSlot { extra: true, ..TbSlot::new(kernel, first, tb, demand, self.next_age) };
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.extras += 1;
            oversubscription.counts[usize::from(kernel)].extra_tbs += 1;
        }
        self.takes_extra_place(tb_slot, program, now + 1);
        self.place_tb(tb_slot, all(count as u8));
        self.tbs[tb_slot].issuing = self.start_warps(kernel, tb_slot, first, program, now);
        self.count_tbs(kernel, now + 1);
    }

    /// Starts switching the contexts of the kernel in a slot: all resident TBs enter the tables.
    fn begin_to_switch(&mut self, kernel: u8) {
        let (past_l1, sub_core_mask) = (self.lsu.is_past_l1(), self.sub_core_mask);
        let Some(oversubscription) = &mut self.oversubscription else { return };
        if oversubscription.is_switching() {
            return;
        }
        let Some(plan) = oversubscription.plans[usize::from(kernel)].as_ref().and_then(|plans| plans.get(past_l1)).copied() else { return };
        oversubscription.switched = Some((kernel, plan));
        oversubscription.space.arrange(&plan, oversubscription.map.shared);
        oversubscription.slots = [u32::MAX.checked_shr(32 - oversubscription.slots_per_sub_core).unwrap_or(0); MAX_SUB_CORES];
        for (tb_slot, tb) in self.tbs.iter().enumerate().filter(|(_, tb)| tb.live && !tb.evicted) {
            let live = (0..tb.warps).filter(|warp| self.warps[tb.first_warp + warp].live).fold(0, |live, warp| live | 1 << warp);
            oversubscription.place(&plan, tb_slot, tb.first_warp, live, live, sub_core_mask);
        }
        self.keep_one();
    }

    /// Assigns places to a TB that has arrived, where contexts are switched; `live` is the mask of
    /// its existing warps.
    pub(in crate::sm) fn place_tb(&mut self, tb_slot: usize, live: u32) {
        let sub_core_mask = self.sub_core_mask;
        let TbSlot { first_warp, .. } = self.tbs[tb_slot];
        let stands_back = self.oversubscription.as_ref().is_some_and(|oversubscription| self.comes_first(oversubscription).is_some());
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let Some((_, plan)) = oversubscription.switched else { return };
        if let Some(present) = oversubscription.placement(&plan, first_warp.into(), live, sub_core_mask, stands_back) {
            oversubscription.place(&plan, tb_slot, first_warp, live, present, sub_core_mask);
        }
        self.keep_one();
    }

    /// True if a TB that fits finds places where contexts are switched, or if contexts are not
    /// switched.
    pub(in crate::sm) fn has_context_places(&self, slot: u8, warps: u32) -> bool {
        let Some(oversubscription) = &self.oversubscription else { return true };
        let Some((kernel, plan)) = oversubscription.switched else { return true };
        let first = self.find_warps(warps);
        let stands_back = self.comes_first(oversubscription).is_some();
        let fits = |first| oversubscription.placement(&plan, first, all(warps as u8), self.sub_core_mask, stands_back).is_some();
        kernel == slot && first.is_some_and(fits)
    }

    /// True if a warp that has arrived is in place.
    pub(in crate::sm) fn is_in_place(&self, number: u8) -> bool {
        self.oversubscription.as_ref().is_none_or(|oversubscription| !oversubscription.is_away(number))
    }

    /// Handles the end of a warp.
    pub(in crate::sm) fn context_ended(&mut self, number: u8) {
        let sub_core = self.sub_core(number);
        let Some(oversubscription) = &mut self.oversubscription else { return };
        oversubscription.missed[usize::from(number)] = super::RegSet::default();
        if !oversubscription.holds(self.warps[number].tb_slot)
            && oversubscription.is_switching()
            && oversubscription.tables.warps[usize::from(number)].valid
        {
            oversubscription.forget_warp(number, sub_core);
        }
        self.retry_extra_tb();
    }

    /// Releases the context of a TB that has ended, or was removed from the SM.
    pub(in crate::sm) fn context_given_up(&mut self, tb_slot: usize) {
        let TbSlot { first_warp, warps, .. } = self.tbs[tb_slot];
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.kept = oversubscription.kept.filter(|&kept| usize::from(kept) != tb_slot);
            oversubscription.pinned &= !(1 << (tb_slot % 64));
            oversubscription.leaving &= oversubscription.pinned;
        }
        for number in first_warp..first_warp + warps {
            self.context_ended(number);
        }
        if let Some(oversubscription) = &mut self.oversubscription
            && oversubscription.is_switching()
        {
            oversubscription.forget_tb(tb_slot);
        }
        self.keep_one();
    }

    /// Handles the end of a TB, from cycle `from` on. Returns true if no capacity becomes free: it
    /// was an extra TB, or an extra TB has become native.
    pub(in crate::sm) fn extra_takes_over(&mut self, tb_slot: usize, from: u64) -> bool {
        self.context_given_up(tb_slot);
        if self.tbs[tb_slot].extra {
            self.extra_has_gone(tb_slot, from);
            return true;
        }
        let kernel = self.tbs[tb_slot].kernel;
        let extras = self.tbs.iter().enumerate().filter(|(_, tb)| tb.live && tb.extra && tb.kernel == kernel);
        let Some((oldest, _)) = extras.min_by_key(|(_, tb)| tb.age) else { return false };
        if !self.becomes_native(oldest) {
            return false;
        }
        self.no_more_extra(oldest, from);
        true
    }

    /// Handles the end or removal of an extra TB, from cycle `from` on.
    pub(in crate::sm) fn extra_has_gone(&mut self, tb_slot: usize, from: u64) {
        self.no_more_extra(tb_slot, from);
        let TbSlot { kernel, .. } = self.tbs[tb_slot];
        // Preempted native TBs may have left before it.
        if self.resident[usize::from(kernel)] == 0 && !self.has_extras() {
            self.last_has_gone(kernel, from);
        }
    }

    /// Records that a TB is not an extra one from cycle `from` on: it is native, or has left.
    fn no_more_extra(&mut self, tb_slot: usize, from: u64) {
        self.tbs[tb_slot].extra = false;
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.extras -= 1;
        }
        self.accounting.changed = EVERY_SUB_CORE;
        self.count_tbs(self.tbs[tb_slot].kernel, from);
    }

    /// True if extra TBs are resident.
    pub(in crate::sm) fn has_extras(&self) -> bool {
        self.oversubscription.as_ref().is_some_and(|oversubscription| oversubscription.extras > 0)
    }

    /// Number of warp numbers where contexts are switched; TBs that only drain are not in the
    /// table.
    pub(in crate::sm) fn numbers_where_switched(&self) -> u32 {
        let numbers = self.oversubscription.as_ref().map_or(0, |oversubscription| oversubscription.numbers());
        if self.preemption.is_some() { numbers.max(self.plain_slots) } else { numbers }
    }

    /// Updates the number of a kernel's TBs from cycle `from` on.
    pub(in crate::sm) fn count_tbs(&mut self, kernel: u8, from: u64) {
        let native = self.resident[usize::from(kernel)];
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let extras = if oversubscription.switched.is_some_and(|(switched, _)| switched == kernel) { oversubscription.extras } else { 0 };
        let time: &mut TbTime = &mut oversubscription.times[usize::from(kernel)];
        time.set(native + extras, from);
    }
}
