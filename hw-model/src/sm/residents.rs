//! Warps of a sub-core, each with a place: its bit in the sub-core's masks.
//!
//! For schedulers that need the oldest warp, places are in the order of arrival, so that the oldest
//! of a set is its lowest bit. A search would cost the host an unpredictable branch in nearly every
//! cycle. Where places run out, the warps are compacted. Loose round robin uses warp slots as
//! places.

use crate::config::WarpSchedulerKind;

/// Maximum number of warps of a sub-core: masks over them have 32 bits.
const MAX_PLACES: usize = 32;

/// Maximum number of warp slots of a sub-core: more than places, since warps that only drain have
/// none.
const MAX_LOCALS: usize = 64;

/// Warps of a sub-core. A warp's local number is that of its slot in the sub-core. Data used in
/// every cycle comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Residents {
    /// Local number of the warp that took each place last.
    local: [u8; MAX_PLACES],
    /// Mask of taken places.
    live: u32,
    /// True if places are in the order of arrival; else by local number.
    by_age: bool,
    /// Kernel slot, by place.
    kernel: [u8; MAX_PLACES],
    /// Order of arrival, by place.
    age: [u32; MAX_PLACES],
    /// Bit of the place of each warp, by local number; 0 without a warp.
    bits: [u32; MAX_LOCALS],
}

/// New places of moved warps.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    before: u32,
}

impl Moves {
    /// Mask of the same warps after the move.
    pub(super) fn of(&self, mask: u32) -> u32 {
        let (mut after, mut rest) = (0, mask & self.before);
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            // They keep their order and leave no gaps.
            after |= 1 << (self.before & (bit - 1)).count_ones();
        }
        after
    }
}

impl Residents {
    pub(super) fn new(scheduler: WarpSchedulerKind) -> Self {
        let by_age = match scheduler {
            WarpSchedulerKind::Gto | WarpSchedulerKind::KernelLrr => true,
            WarpSchedulerKind::Lrr => false,
        };
        Residents { local: [0; MAX_PLACES], live: 0, by_age, kernel: [0; MAX_PLACES], age: [0; MAX_PLACES], bits: [0; MAX_LOCALS] }
    }

    /// Adds a warp of `kernel`, younger than all others, with this local number. Returns the moves
    /// of other warps, if any.
    pub(super) fn arrive(&mut self, local: u32, kernel: u8, age: u32) -> Option<Moves> {
        let local = local as usize & (MAX_LOCALS - 1);
        let mut moves = None;
        let place = if self.by_age {
            if self.live.leading_zeros() == 0 {
                moves = Some(self.close_ranks());
            }
            (u32::BITS - self.live.leading_zeros()) as usize & (MAX_PLACES - 1)
        } else {
            local & (MAX_PLACES - 1)
        };
        self.live |= 1 << place;
        (self.local[place], self.kernel[place], self.age[place], self.bits[local]) = (local as u8, kernel, age, 1 << place);
        moves
    }

    fn close_ranks(&mut self) -> Moves {
        let moves = Moves { before: self.live };
        let (mut rest, mut to) = (self.live, 0);
        while rest != 0 {
            let from = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            (self.local[to], self.kernel[to], self.age[to]) = (self.local[from], self.kernel[from], self.age[from]);
            self.bits[usize::from(self.local[to]) & (MAX_LOCALS - 1)] = 1 << to;
            to += 1;
        }
        self.live = moves.of(self.live);
        moves
    }

    /// Removes the warp with this local number.
    pub(super) fn leave(&mut self, local: u32) {
        self.live &= !std::mem::take(&mut self.bits[local as usize & (MAX_LOCALS - 1)]);
    }

    /// Mask of taken places.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// Bit of the warp with this local number; 0 if there is none.
    #[inline]
    pub(super) fn bit(&self, local: u32) -> u32 {
        self.bits[local as usize & (MAX_LOCALS - 1)]
    }

    /// Local number of the warp that took the place last.
    #[inline]
    pub(super) fn local(&self, place: u32) -> u32 {
        self.local[place as usize & (MAX_PLACES - 1)].into()
    }

    /// Kernel slot of the warp that took the place last.
    #[inline]
    pub(super) fn kernel(&self, place: u32) -> u8 {
        self.kernel[place as usize & (MAX_PLACES - 1)]
    }

    /// Order of arrival of the warp that took the place last.
    pub(super) fn age(&self, place: u32) -> u32 {
        self.age[place as usize & (MAX_PLACES - 1)]
    }

    /// Place of the oldest of a set; any place if the set is empty.
    #[inline]
    pub(super) fn oldest(&self, mut set: u32) -> u32 {
        let mut oldest = set.trailing_zeros();
        if self.by_age {
            return oldest;
        }
        set &= set.wrapping_sub(1);
        while set != 0 {
            let place = set.trailing_zeros();
            set &= set - 1;
            oldest = if self.age(place) < self.age(oldest) { place } else { oldest };
        }
        oldest
    }
}

#[cfg(test)]
#[path = "residents_tests.rs"]
mod tests;
