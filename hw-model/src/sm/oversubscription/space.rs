//! Unified space of an SM: allocation of the units of registers, shared memory and L1 (Lin et al.
//! 2018, section 6.6). A bit per unit of 128 bytes marks an allocated unit.
//!
//! All contexts of a kind have one size while a kernel has the SM, so there is no fragmentation.
//! Contexts in place fill their part from its start upwards, spilled ones from its end downwards.

use super::plan::{Capacity, Plan, Spilled};

/// Kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Registers of a warp, in the register file.
    Registers,
    /// Shared memory of a TB, in shared memory.
    Shared,
    /// Spilled context in spare storage.
    Spilled,
}

/// Places of an SM.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Bit per unit.
    bitmap: Box<[u64]>,
    registers: Capacity,
    shared: Capacity,
    /// First unit of shared memory.
    shared_start: u32,
    spilled: Spilled,
    /// Mask of free places, by kind.
    free: [u128; 3],
}

fn first(count: u32) -> u128 {
    if count == 0 { 0 } else { u128::MAX >> (128 - count.min(128)) }
}

impl Space {
    /// Creates a space of `units` units without places.
    pub(super) fn new(units: u32) -> Self {
        Space {
            bitmap: vec![0; units.div_ceil(64) as usize].into(),
            registers: Capacity::default(),
            shared: Capacity::default(),
            shared_start: 0,
            spilled: Spilled::default(),
            free: [0; 3],
        }
    }

    /// Arranges the places of a plan, all free.
    pub(super) fn arrange(&mut self, plan: &Plan, shared_start: u32) {
        self.bitmap.fill(0);
        (self.registers, self.shared, self.shared_start, self.spilled) = (plan.registers, plan.shared, shared_start, plan.spilled);
        self.free = [first(plan.registers.count), first(plan.shared.count), first(plan.spilled.count())];
    }

    /// First unit of a place, and its number of units.
    pub(super) fn units(&self, kind: Kind, place: u8) -> (u32, u32) {
        let place = u32::from(place);
        match kind {
            Kind::Registers => (place * self.registers.units, self.registers.units),
            Kind::Shared => (self.shared_start + place * self.shared.units, self.shared.units),
            Kind::Spilled => {
                let mut left = place;
                for (end, count) in self.spilled.parts {
                    if left < count {
                        return (end - (left + 1) * self.spilled.units, self.spilled.units);
                    }
                    left -= count;
                }
                (0, 0)
            }
        }
    }

    /// Part of the space of a spilled place: shared memory, the L1, registers.
    pub(super) fn part(&self, place: u8) -> usize {
        let [(_, shared), (_, l1), _] = self.spilled.parts;
        usize::from(u32::from(place) >= shared) + usize::from(u32::from(place) >= shared + l1)
    }

    /// Number of free places of a kind.
    pub(super) fn count(&self, kind: Kind) -> u32 {
        self.free[kind as usize].count_ones()
    }

    /// Takes the first free place of a kind.
    pub(super) fn take(&mut self, kind: Kind) -> Option<u8> {
        let free = &mut self.free[kind as usize];
        let place = (*free != 0).then(|| free.trailing_zeros() as u8)?;
        *free &= *free - 1;
        self.mark(kind, place, true);
        Some(place)
    }

    pub(super) fn give(&mut self, kind: Kind, place: u8) {
        self.free[kind as usize] |= 1 << place;
        self.mark(kind, place, false);
    }

    /// Sets or clears the bits of a place.
    fn mark(&mut self, kind: Kind, place: u8, taken: bool) {
        let (start, units) = self.units(kind, place);
        for unit in start..start + units {
            let (word, bit) = (&mut self.bitmap[unit as usize / 64], 1 << (unit % 64));
            debug_assert_eq!(*word & bit != 0, !taken, "unit {unit} is {} already", if taken { "taken" } else { "free" });
            *word = if taken { *word | bit } else { *word & !bit };
        }
    }

    /// Number of allocated units.
    pub(super) fn taken(&self) -> u32 {
        self.bitmap.iter().map(|word| word.count_ones()).sum()
    }
}

/// Cycles of a move of this many bytes.
pub(super) fn cycles(bytes: u32, bytes_per_cycle: u32) -> u64 {
    bytes.div_ceil(bytes_per_cycle).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::oversubscription::plan::{Level, Limit};
    use proptest::prelude::*;

    fn plan() -> Plan {
        Plan {
            level: Level::Warp,
            limit: Limit::Registers,
            native: 2,
            most_extra: 2,
            warps: 2,
            registers: Capacity { units: 7, count: 4 },
            shared: Capacity { units: 2, count: 4 },
            spilled: Spilled { units: 5, parts: [(60, 2), (70, 1), (40, 2)] },
            spilled_registers: 4,
            warp_bytes: 640,
            tb_bytes: 0,
            in_l1: true,
        }
    }

    /// Registers are units 0 to 39, shared memory 40 to 59, the L1 60 to 69.
    #[test]
    fn places_lie_where_the_plan_says() {
        let mut space = Space::new(70);
        space.arrange(&plan(), 40);
        let of = |kind, place| space.units(kind, place);
        assert_eq!([0, 1, 3].map(|place| of(Kind::Registers, place)), [(0, 7), (7, 7), (21, 7)]);
        assert_eq!([0, 3].map(|place| of(Kind::Shared, place)), [(40, 2), (46, 2)]);
        assert_eq!([0, 1, 2, 3, 4].map(|place| of(Kind::Spilled, place).0), [55, 50, 65, 35, 30]);
        assert_eq!([0, 1, 2, 3, 4].map(|place| space.part(place)), [0, 0, 1, 2, 2]);
    }

    #[test]
    fn cycles_are_bytes_over_bandwidth() {
        // Eq. 1 of Lin et al. 2018, for 12 KB and three warps of a unit each, at the bandwidths of
        // its figure 15.
        assert_eq!([64, 128, 256].map(|bandwidth| cycles(12_288 + 3 * 128, bandwidth)), [198, 99, 50]);
    }

    proptest! {
        /// The number of set bits equals that of the units of the taken places, for any sequence of
        /// changes.
        #[test]
        fn bits_are_the_sum_of_the_places(steps in prop::collection::vec((0usize..3, any::<bool>()), 1..200)) {
            let mut space = Space::new(70);
            space.arrange(&plan(), 40);
            let kinds = [Kind::Registers, Kind::Shared, Kind::Spilled];
            let mut taken: Vec<(Kind, u8)> = vec![];
            for (kind, take) in steps {
                let kind = kinds[kind];
                if take {
                    let had = space.count(kind);
                    let place = space.take(kind);
                    prop_assert_eq!(place.is_some(), had > 0);
                    taken.extend(place.map(|place| (kind, place)));
                } else if let Some(at) = taken.iter().position(|(of, _)| *of == kind) {
                    let (_, place) = taken.swap_remove(at);
                    space.give(kind, place);
                }
                let units: u32 = taken.iter().map(|&(kind, place)| space.units(kind, place).1).sum();
                prop_assert_eq!(space.taken(), units);
            }
        }
    }
}
