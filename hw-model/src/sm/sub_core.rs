//! One sub-core: which of its warps could issue, its scheduler's memory, and its execution units.
//!
//! Warp slot `w` belongs to sub-core `w mod sub-cores`; masks here are over the sub-core's own warps, bit `w / sub-cores`.

use super::collector::UNITS_PADDED;
use super::inflight::{UNITS, Unit};
use super::scheduler::Picker;
use crate::config::{SmConfig, UnitTiming};

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

/// One sub-core.
#[derive(Clone, Debug)]
pub(super) struct SubCore {
    pub readiness: Readiness,
    pub picker: Picker,
}

impl SubCore {
    pub(super) fn new(config: &SmConfig) -> Self {
        SubCore { readiness: Readiness::default(), picker: Picker::new(config.warp_scheduler) }
    }
}

/// Timing of each unit, in the order of [`Unit`]. The load/store unit is a model of its own; its entry is not used.
pub(super) fn unit_timings(config: &SmConfig) -> [UnitTiming; UNITS] {
    let units = &config.units;
    let mem = UnitTiming { latency: 1, interval: 1 };
    [units.sp, units.sfu, mem, units.tensor, units.dp, units.int, units.branch, units.texture, units.uniform]
}
