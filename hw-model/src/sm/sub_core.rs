//! One sub-core: which of its warps could issue, its scheduler's memory, and its execution units.
//!
//! Warp slot `w` belongs to sub-core `w mod sub-cores`; masks here are over the sub-core's own warps, bit `w / sub-cores`.

use super::inflight::{UNITS, Unit};
use super::operands::UNITS_PADDED;
use super::scheduler::Picker;
use crate::config::{SmConfig, UnitTiming};

/// Most warps of a sub-core: masks over them have 32 bits.
const MAX_LOCALS: usize = 32;

/// Warps of a sub-core that could issue, by what holds them.
#[derive(Clone, Debug, Default)]
pub(super) struct Readiness {
    /// Has an instruction and waits at no barrier, fence or atomic.
    pub valid: u32,
    /// Valid, and its instruction's registers are free.
    pub ready: u32,
    /// Waits for a load: valid with a register that a load will write, or held by a fence or an atomic.
    pub on_memory: u32,
    /// Ready, by the unit of the next instruction.
    pub by_unit: [u32; UNITS_PADDED],
}

impl Readiness {
    /// Takes a warp out of every mask; `unit` is that of its next instruction.
    pub(super) fn clear(&mut self, bit: u32, unit: Unit) {
        self.valid &= !bit;
        self.on_memory &= !bit;
        self.clear_ready(bit, unit);
    }

    /// Marks a warp not ready.
    pub(super) fn clear_ready(&mut self, bit: u32, unit: Unit) {
        self.ready &= !bit;
        self.by_unit[unit.index()] &= !bit;
    }

    /// Marks a warp ready for `unit`.
    pub(super) fn set_ready(&mut self, bit: u32, unit: Unit) {
        self.ready |= bit;
        self.by_unit[unit.index()] |= bit;
    }

    /// Warps whose unit's issue latch is free. `issued_full` has all ones for a unit whose latch is taken.
    pub(super) fn issuable(&self, issued_full: &[u32; UNITS_PADDED]) -> u32 {
        let held = self.by_unit.iter().zip(issued_full).fold(0, |held, (warps, full)| held | warps & full);
        self.ready & !held
    }
}

/// What schedulers and accounting have to know of a sub-core's warps, by local number: close together, because they go through
/// several warps at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Residents {
    live: u32,
    age: [u32; MAX_LOCALS],
    kernel: [u8; MAX_LOCALS],
}

impl Residents {
    /// A warp of `kernel` takes the place.
    pub(super) fn arrive(&mut self, local: u32, kernel: u8, age: u32) {
        let at = local as usize & (MAX_LOCALS - 1);
        self.live |= 1 << at;
        (self.age[at], self.kernel[at]) = (age, kernel);
    }

    /// The warp has left.
    pub(super) fn leave(&mut self, local: u32) {
        self.live &= !(1 << (local as usize & (MAX_LOCALS - 1)));
    }

    /// Places taken.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// Kernel slot of the warp that took the place last.
    pub(super) fn kernel(&self, local: u32) -> u8 {
        self.kernel[local as usize & (MAX_LOCALS - 1)]
    }

    /// The oldest of a set (not empty).
    pub(super) fn oldest(&self, mut set: u32) -> u32 {
        let mut oldest = set.trailing_zeros();
        let age = |local: u32| self.age[local as usize & (MAX_LOCALS - 1)];
        set &= set.wrapping_sub(1);
        while set != 0 {
            let local = set.trailing_zeros();
            set &= set - 1;
            oldest = if age(local) < age(oldest) { local } else { oldest };
        }
        oldest
    }
}

/// One sub-core.
#[derive(Clone, Debug)]
pub(super) struct SubCore {
    pub readiness: Readiness,
    pub residents: Residents,
    pub picker: Picker,
}

impl SubCore {
    pub(super) fn new(config: &SmConfig) -> Self {
        SubCore { readiness: Readiness::default(), residents: Residents::default(), picker: Picker::new(config.warp_scheduler) }
    }
}

/// Timing of each unit, in the order of [`Unit`]. The load/store unit is a model of its own; its entry is not used.
pub(super) fn unit_timings(config: &SmConfig) -> [UnitTiming; UNITS] {
    let units = &config.units;
    let mem = UnitTiming { latency: 1, interval: 1 };
    [units.sp, units.sfu, mem, units.tensor, units.dp, units.int, units.branch, units.texture, units.uniform]
}
