//! Candidate victim sets: the TBs that block each position of a kernel (Shieh 2016, section 3.3.1
//! and figures 3.3, 3.8 and 3.9).
//!
//! A preempting kernel takes *positions*: its n-th starts at n times the demand of one of its TBs,
//! in registers and in shared memory (Shieh 2016, section 3.2). A TB is in the set of a position if
//! its registers or its shared memory overlap it: the union of the sets of both. A set has one bit
//! for each place of an SM. The other demands of a TB (threads, and with them warp slots, and a TB
//! slot) are not bound to a position. [`super::residents`] adds further victims for them
//! (sources.md D134).

use mias_firmware::resources::Resources;
use mias_registers::preempt::{MAX_PLACES, MAX_POSITIONS};

/// Set of places of an SM, one bit each.
pub type Places = u32;

/// Victim sets of a kernel's positions on an SM.
#[derive(Clone, Debug)]
pub struct Sets {
    sets: [Places; MAX_POSITIONS],
    /// Available positions, one bit each.
    open: u64,
    /// Demand of one TB.
    registers: u32,
    shared_bytes: u32,
}

impl Sets {
    /// Sets without positions.
    pub const NONE: Self = Self { sets: [0; MAX_POSITIONS], open: 0, registers: 0, shared_bytes: 0 };

    /// Creates empty sets for the `positions` positions of TBs with `demand`.
    #[must_use]
    pub fn new(demand: &Resources, positions: u8) -> Self {
        let mut sets = Self::NONE;
        sets.begin(demand, positions);
        sets
    }

    /// Creates empty sets in place.
    pub(super) fn begin(&mut self, demand: &Resources, positions: u8) {
        for set in self.sets.iter_mut().take(positions.into()) {
            *set = 0;
        }
        (self.open, self.registers, self.shared_bytes) = (bits_below(positions.into()), demand.registers, demand.shared_bytes);
    }

    /// Adds the TB in a place, whose registers and shared bytes are ranges of start and length.
    pub fn add(&mut self, place: usize, registers: (u32, u32), shared: (u32, u32)) {
        let mut reached = positions(registers, self.registers) | positions(shared, self.shared_bytes);
        reached &= self.open;
        while let Some(position) = take_lowest(&mut reached) {
            if let Some(set) = self.sets.get_mut(usize::from(position)) {
                *set |= 1 << (place % MAX_PLACES);
            }
        }
    }

    /// Removes positions that are reserved or taken.
    pub fn close(&mut self, positions: u64) {
        self.open &= !positions;
    }

    /// Clears the bits of removed victims in all available sets (Shieh 2016, figure 3.9).
    pub fn update(&mut self, victims: Places) {
        let mut open = self.open;
        while let Some(position) = take_lowest(&mut open) {
            if let Some(set) = self.sets.get_mut(usize::from(position)) {
                *set &= !victims;
            }
        }
    }

    /// Returns the TBs that block a position; none if it is not available.
    #[must_use]
    pub fn get(&self, position: u8) -> Option<Places> {
        let open = self.open.checked_shr(position.into()).unwrap_or(0) & 1 != 0;
        self.sets.get(usize::from(position)).filter(|_| open).copied()
    }

    /// Returns the available positions, the lowest first, and the TBs that block them.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Places)> {
        let mut open = self.open;
        core::iter::from_fn(move || {
            let position = take_lowest(&mut open)?;
            Some((position, *self.sets.get(usize::from(position))?))
        })
    }
}

/// Returns the positions that a range from `start` on overlaps, if each takes `each`.
fn positions((start, length): (u32, u32), each: u32) -> u64 {
    let last = start.saturating_add(length.saturating_sub(1));
    match (length, start.checked_div(each), last.checked_div(each)) {
        (1.., Some(first), Some(last)) => bits_below(last.saturating_add(1)) & !bits_below(first),
        _ => 0,
    }
}

/// Removes the lowest bit and returns its number.
fn take_lowest(bits: &mut u64) -> Option<u8> {
    let lowest = bits.trailing_zeros();
    let found = *bits != 0;
    *bits &= bits.wrapping_sub(1);
    found.then_some(lowest as u8)
}

/// Returns a mask of the `count` lowest bits.
fn bits_below(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit.wrapping_sub(1))
}

/// Returns the numbers of the set bits, the lowest first.
pub(super) fn bits(mut set: Places) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        let found = set != 0;
        set &= set.wrapping_sub(1);
        found.then_some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn demand(registers: u32, shared_bytes: u32) -> Resources {
        Resources { threads: 32, registers, shared_bytes, tbs: 1 }
    }

    /// Prints sets as in figures 3.8 and 3.9: place 0 on the left, of eight.
    fn printed(sets: &Sets, positions: u8) -> Vec<u8> {
        (0..positions).map(|position| (sets.sets[usize::from(position)] as u8).reverse_bits()).collect()
    }

    /// Shieh 2016, figure 3.3(b): the range between positions 0 and 1 belongs to TB0, TB1 and TB2.
    #[test]
    fn figure_3_3() {
        let mut sets = Sets::new(&demand(2500, 0), 2);
        (0..4).for_each(|place| sets.add(place, (1000 * place as u32, 1000), (0, 0)));
        assert_eq!(sets.get(0), Some(0b0111));
    }

    /// Shieh 2016, figure 3.8: eight TBs, of which a position takes slightly more than two, and
    /// 3.9: candidate 1 is preempted.
    #[test]
    fn figure_3_9() {
        let mut sets = Sets::new(&demand(230, 0), 4);
        for (place, (start, end)) in
            [(0, 90), (90, 180), (180, 270), (270, 370), (370, 480), (480, 580), (580, 700), (700, 790)].into_iter().enumerate()
        {
            sets.add(place, (start, end - start), (0, 0));
        }
        assert_eq!(printed(&sets, 4), [0b1110_0000, 0b0011_1000, 0b0000_1110, 0b0000_0011]);
        let victims = sets.get(1).unwrap();
        sets.update(victims);
        assert_eq!(printed(&sets, 4), [0b1100_0000, 0, 0b0000_0110, 0b0000_0011]);
    }

    #[test]
    fn a_position_that_is_closed_is_not_to_be_had() {
        let mut sets = Sets::new(&demand(100, 0), 3);
        sets.close(0b010);
        assert_eq!(sets.iter().collect::<Vec<_>>(), [(0, 0), (2, 0)]);
        assert_eq!([sets.get(1), sets.get(3), sets.get(64)], [None; 3]);
    }

    proptest! {
        /// A TB is in the set of a position if and only if they share a register or a byte of
        /// shared memory, counted one by one.
        #[test]
        fn the_union_is_who_overlaps(
            each in (0..40_u32, 0..40_u32),
            count in 0..=64_u8,
            ranges in proptest::collection::vec(((0..300_u32, 0..60_u32), (0..300_u32, 0..60_u32)), 0..=32),
        ) {
            let mut sets = Sets::new(&demand(each.0, each.1), count);
            for (place, (registers, shared)) in ranges.iter().enumerate() {
                sets.add(place, *registers, *shared);
            }
            let meet = |(start, length): (u32, u32), n: u32, each: u32| (n * each..(n + 1) * each).any(|x| (start..start + length).contains(&x));
            for position in 0..count {
                let n = u32::from(position);
                let expected = ranges.iter().enumerate().filter(|(_, (registers, shared))| meet(*registers, n, each.0) || meet(*shared, n, each.1));
                let expected = expected.fold(0, |set, (place, _)| set | 1_u32 << place);
                prop_assert_eq!(sets.get(position), Some(expected), "position {}", position);
            }
            prop_assert_eq!(sets.iter().count(), usize::from(count));
        }

        /// Clearing the bits of victims equals computing the sets without them.
        #[test]
        fn updating_is_finding_anew_without_the_victims(
            each in (1..40_u32, 1..40_u32),
            ranges in proptest::collection::vec(((0..300_u32, 0..60_u32), (0..300_u32, 0..60_u32)), 0..=32),
            victims: u32,
        ) {
            let find = |left: u32| {
                let mut sets = Sets::new(&demand(each.0, each.1), 64);
                for (place, (registers, shared)) in ranges.iter().enumerate().filter(|(place, _)| left >> place & 1 != 0) {
                    sets.add(place, *registers, *shared);
                }
                sets
            };
            let mut updated = find(u32::MAX);
            updated.update(victims);
            prop_assert_eq!(updated.sets, find(!victims).sets);
        }
    }
}
