//! Sub-core: masks of its issuable warps, and its scheduler's state.
//!
//! Warp slot `w` belongs to sub-core `w mod sub-cores`; masks here are over the places of its warps
//! ([`Residents`]).
//!
//! Start reading with the plain twin, `plain.rs`: the waits of warps without masks.

use super::inflight::{UNITS, Unit};
use super::residents::{Moves, Residents};
use super::scheduler::Picker;
use crate::config::{SmConfig, UnitTiming};

/// Readiness masks of a sub-core's warps.
#[derive(Clone, Debug, Default)]
pub(super) struct Readiness {
    /// Valid warps: they have an instruction and wait at no barrier, fence or atomic.
    pub valid: u32,
    /// Ready warps: valid, and the registers of the instruction are free.
    pub ready: u32,
    /// Warps that wait for a load through the L1: valid with a register that one will write, or
    /// held by a fence or an atomic.
    pub on_memory: u32,
    /// Warps that wait for a load from shared or constant memory: valid with a register that one
    /// will write.
    pub on_chip: u32,
    /// Ready warps, by the unit of the next instruction.
    pub by_unit: [u32; UNITS],
    /// Ready warps whose unit has a free issue latch.
    issuable: u32,
    /// Mask of units with a full issue latch.
    latched: u16,
}

impl Readiness {
    /// Removes a warp from every mask; `unit` is that of its next instruction.
    pub(super) fn clear(&mut self, bit: u32, unit: Unit) {
        self.valid &= !bit;
        self.on_memory &= !bit;
        self.on_chip &= !bit;
        self.clear_ready(bit, unit);
    }

    /// Marks a warp not ready.
    #[inline]
    pub(super) fn clear_ready(&mut self, bit: u32, unit: Unit) {
        self.ready &= !bit;
        self.issuable &= !bit;
        self.by_unit[unit.index()] &= !bit;
    }

    /// Marks the warps of `bits`, one or none, ready for `unit`.
    #[inline]
    pub(super) fn set_ready(&mut self, bits: u32, unit: Unit) {
        self.ready |= bits;
        self.by_unit[unit.index()] |= bits;
        self.issuable |= if self.latched >> unit.index() & 1 == 0 { bits } else { 0 };
    }

    /// Marks the issue latch of `unit` full.
    #[inline]
    pub(super) fn latch(&mut self, unit: Unit) {
        self.latched |= 1 << unit.index();
        self.issuable &= !self.by_unit[unit.index()];
    }

    /// Marks the issue latch of the unit with this index free.
    #[inline]
    pub(super) fn unlatch(&mut self, unit: usize) {
        self.latched &= !(1 << unit);
        self.issuable |= self.by_unit[unit];
    }

    /// Updates the masks for moved warps.
    pub(super) fn moved(&mut self, moves: &Moves) {
        let masks = [&mut self.valid, &mut self.ready, &mut self.on_memory, &mut self.on_chip, &mut self.issuable];
        masks.into_iter().chain(&mut self.by_unit).for_each(|mask| *mask = moves.of(*mask));
    }

    /// Mask of warps that are ready for the memory pipeline.
    #[inline]
    pub(super) fn for_memory(&self) -> u32 {
        self.by_unit[Unit::Mem.index()]
    }

    /// Mask of warps that can issue: ready, with a free issue latch of their unit.
    #[inline]
    pub(super) fn issuable(&self) -> u32 {
        self.issuable
    }
}

/// Sub-core. Data used in every cycle comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct SubCore {
    pub readiness: Readiness,
    pub picker: Picker,
    pub residents: Residents,
}

impl SubCore {
    pub(super) fn new(config: &SmConfig) -> Self {
        SubCore {
            readiness: Readiness::default(),
            residents: Residents::new(config.warp_scheduler),
            picker: Picker::new(config.warp_scheduler),
        }
    }

    /// Adds a warp of `kernel`, younger than all others, with this local number. Returns true if
    /// others have moved.
    pub(super) fn arrive(&mut self, local: u32, kernel: u8, age: u32) -> bool {
        let moves = self.residents.arrive(local, kernel, age);
        if let Some(moves) = &moves {
            self.readiness.moved(moves);
        }
        self.picker.placed(&self.residents);
        moves.is_some()
    }

    /// Removes the warp with this local number.
    pub(super) fn leave(&mut self, local: u32) {
        self.residents.leave(local);
        self.picker.placed(&self.residents);
    }
}

/// Timing of each unit, in the order of [`Unit`]. The load/store unit has its own model; its entry
/// is not used.
pub(super) fn unit_timings(config: &SmConfig) -> [UnitTiming; UNITS] {
    let units = &config.units;
    let mem = UnitTiming { latency: 1, interval: 1 };
    [units.sp, units.sfu, mem, units.tensor, units.dp, units.int, units.branch, units.texture, units.uniform]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Change of a place (ready or not, for a unit) or of a unit.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Ready(u32, bool),
        Latch,
        Unlatch,
    }

    proptest! {
        /// A warp can issue if it is ready and its unit's latch is free, for any history.
        #[test]
        fn issuable_are_those_that_are_ready_for_a_free_latch(
            steps in prop::collection::vec((prop::sample::select(vec![Unit::Sp, Unit::Mem, Unit::Int, Unit::Uniform]), prop_oneof![
                (0u32..32, any::<bool>()).prop_map(|(place, ready)| Step::Ready(place, ready)),
                Just(Step::Latch),
                Just(Step::Unlatch),
            ]), 1..100),
        ) {
            let mut readiness = Readiness::default();
            let (mut ready, mut latched) = ([None::<Unit>; 32], [false; UNITS]);
            for (unit, step) in steps {
                match step {
                    Step::Ready(place, true) => {
                        if let Some(before) = ready[place as usize].replace(unit) {
                            readiness.clear_ready(1 << place, before);
                        }
                        readiness.set_ready(1 << place, unit);
                    }
                    Step::Ready(place, false) => {
                        if let Some(before) = ready[place as usize].take() {
                            readiness.clear_ready(1 << place, before);
                        }
                    }
                    Step::Latch => {
                        latched[unit.index()] = true;
                        readiness.latch(unit);
                    }
                    Step::Unlatch => {
                        latched[unit.index()] = false;
                        readiness.unlatch(unit.index());
                    }
                }
                for (place, unit) in ready.iter().enumerate() {
                    let expected = unit.is_some_and(|unit| !latched[unit.index()]);
                    prop_assert_eq!(readiness.issuable() >> place & 1 == 1, expected, "place {}", place);
                }
            }
        }
    }
}
