//! Allocation on an SM that preempts: ranges of a TB's registers and shared memory, and the
//! reservation for the kernel for which others are preempted (Shieh 2016, sections 3.1 and 3.2;
//! sources.md D133).

use super::places::{Places, Ranges};
use super::{Preemption, Resident};
use crate::sm::tb::TbSlot;
use crate::sm::{Program, Resources, Sm};
use mias_registers::preempt::MAX_POSITIONS;
use mias_registers::preempt_reserve;

/// Reservation for a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reserved {
    slot: Option<u8>,
    whole_sm: bool,
    positions: u64,
    demand: Resources,
}

impl Reserved {
    /// Reserved positions that exist in `places`, and the ranges of each.
    fn kept(self, places: &Places, demand: &Resources) -> impl Iterator<Item = (usize, Ranges)> {
        let positions = (0..MAX_POSITIONS).filter(move |position| self.positions >> position & 1 != 0);
        positions.filter_map(move |position| Some((position, places.position(position, demand)?)))
    }

    /// Releases one position. A whole reserved SM stays its kernel's until the kernel has left, and
    /// so while TBs of others or of its own are resident.
    fn release(&mut self, own_are_here: bool) {
        if self.positions == 0 && !(self.whole_sm && own_are_here) {
            *self = Reserved::default();
        }
    }
}

impl Preemption {
    /// Ranges of the next TB of the kernel in `slot`, and its position, with `others` of other
    /// kernels resident and these free resources.
    fn find(&self, slot: u8, demand: &Resources, others: bool, free: &Resources) -> Option<(Ranges, Option<usize>)> {
        let reserved = self.reserved;
        let anywhere = |but: &[Ranges]| Some((self.places.find(demand, but)?, None));
        let Some(owner) = reserved.slot else { return anywhere(&[]) };
        if owner == slot {
            if reserved.whole_sm && others {
                return None;
            }
            if reserved.positions == 0 {
                return anywhere(&[]);
            }
            let mut kept = reserved.kept(&self.places, demand);
            return kept.find(|(_, ranges)| self.places.is_free(*ranges)).map(|(position, ranges)| (ranges, Some(position)));
        }
        if reserved.whole_sm {
            return None;
        }
        // Capacity reserved for the owner is not available.
        let kept = reserved.positions.count_ones();
        let left = |have: u32, each: u32| have.checked_sub(each.saturating_mul(kept));
        let of = &reserved.demand;
        if demand.threads > left(free.threads, of.threads)? || demand.tbs > left(free.tbs, of.tbs)? {
            return None;
        }
        let mut blocked = [Ranges::default(); MAX_POSITIONS];
        let mut count = 0;
        for (blocked, (_, ranges)) in blocked.iter_mut().zip(reserved.kept(&self.places, of)) {
            *blocked = ranges;
            count += 1;
        }
        anywhere(&blocked[..count])
    }

    /// True if capacity is reserved for a kernel other than that in `slot`.
    pub(super) fn is_reserved_but_for(&self, slot: u8) -> bool {
        self.reserved.slot.is_some_and(|owner| owner != slot)
    }

    /// Takes ranges for a TB, with `others` of other kernels resident and these free resources;
    /// none if there are none. Its reserved position is released.
    pub(super) fn take_ranges(&mut self, tb: &TbSlot, others: bool, free: &Resources) -> Option<Ranges> {
        let (ranges, position) = self.find(tb.kernel, &tb.demand, others, free)?;
        if let Some(position) = position {
            self.reserved.positions &= !(1 << position);
            self.reserved.release(true);
        }
        Some(ranges)
    }

    /// Handles the departure of a TB of the kernel in `slot`; `others` is true if others of it are
    /// resident.
    pub(in crate::sm) fn vacated(&mut self, slot: u8, others: bool) {
        if self.reserved.slot == Some(slot) {
            self.reserved.release(others);
        }
    }
}

impl Sm {
    /// True if a position is available for a TB of the kernel in `slot`.
    pub(in crate::sm) fn has_place(&self, slot: u8, demand: &Resources) -> bool {
        let others = self.resident_kernels & !(1 << slot) != 0;
        self.preemption.as_ref().is_none_or(|preemption| {
            preemption.places.free_place().is_some() && preemption.find(slot, demand, others, &self.free).is_some()
        })
    }

    /// Assigns a position to a TB, new or resumed, in a TB slot. `cycles` is its earlier time on
    /// SMs.
    pub(in crate::sm) fn takes_place(&mut self, tb_slot: usize, cycles: u64, program: &Program, from: u64) {
        let others = self.resident_kernels & !(1 << self.tbs[tb_slot].kernel) != 0;
        let (tb, free) = (&self.tbs[tb_slot], &mut self.free);
        let Some(preemption) = &mut self.preemption else { return };
        let Some(place) = preemption.places.free_place() else { return };
        // Its own demand is already taken.
        free.give_back(&tb.demand);
        let ranges = preemption.take_ranges(tb, others, free);
        free.take(&tb.demand);
        if let Some(ranges) = ranges {
            preemption.comes(place, ranges, Resident::new(tb_slot, tb, cycles, program, from));
        }
    }

    /// Reserves positions for the kernel in a slot, whose TBs take `demand`, as `word`
    /// ([`preempt_reserve`]) says. A word of 0 releases them.
    pub(crate) fn reserve(&mut self, word: u32, positions: u64, demand: &Resources) {
        if let Some(preemption) = &mut self.preemption {
            let slot = (word & preempt_reserve::SLOT).checked_sub(1).map(|slot| slot as u8);
            let whole_sm = word & preempt_reserve::WHOLE_SM != 0;
            let there = (0..MAX_POSITIONS).filter(|position| preemption.places.position(*position, demand).is_some());
            let positions = there.fold(0, |there, position| there | 1 << position) & positions;
            preemption.reserved = slot.map_or(Reserved::default(), |_| Reserved { slot, whole_sm, positions, demand: *demand });
        }
    }

    /// Releases the reservation for the kernel in a slot. A whole reserved SM is kept while TBs of
    /// the kernel are resident.
    pub(crate) fn give_reserved_free(&mut self, slot: u8) {
        let here = self.resident.get(usize::from(slot)).is_some_and(|&tbs| tbs > 0);
        if let Some(preemption) = &mut self.preemption
            && preemption.reserved.slot == Some(slot)
        {
            preemption.reserved.positions = 0;
            preemption.vacated(slot, here);
        }
    }

    /// Current reservation, in the format of [`Sm::reserve`].
    pub(crate) fn reserved(&self) -> (u32, u64) {
        let Some(Reserved { slot, whole_sm, positions, .. }) = self.preemption.as_ref().map(|preemption| preemption.reserved) else {
            return (0, 0);
        };
        let whole = if whole_sm { preempt_reserve::WHOLE_SM } else { 0 };
        slot.map_or((0, 0), |slot| ((u32::from(slot) + 1) | whole, positions))
    }
}
