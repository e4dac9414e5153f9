//! One sub-core: which of its warps could issue, its scheduler's memory, its operand collector and its execution units.
//!
//! Warp slot `w` belongs to sub-core `w mod sub-cores`; masks here are over the sub-core's own warps, bit `w / sub-cores`.

use super::collector::OperandCollector;
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
    pub by_unit: [u32; UNITS],
    /// Units with a bit set in `by_unit`.
    pub units: u16,
}

impl Readiness {
    /// Takes a warp out of every mask; `unit` is that of its next instruction.
    pub(super) fn clear(&mut self, bit: u32, unit: Unit) {
        self.valid &= !bit;
        self.on_memory &= !bit;
        if self.ready & bit != 0 {
            self.ready &= !bit;
            let of_unit = &mut self.by_unit[unit.index()];
            *of_unit &= !bit;
            self.units &= !(u16::from(*of_unit == 0) << unit.index());
        }
    }

    /// Marks a warp ready for `unit`.
    pub(super) fn set_ready(&mut self, bit: u32, unit: Unit) {
        self.ready |= bit;
        self.by_unit[unit.index()] |= bit;
        self.units |= 1 << unit.index();
    }

    /// Warps whose unit's issue latch is free.
    pub(super) fn issuable(&self, issued_full: u16) -> u32 {
        let mut units = self.units & !issued_full;
        if units == self.units {
            return self.ready;
        }
        let mut warps = 0;
        while units != 0 {
            warps |= self.by_unit[units.trailing_zeros() as usize];
            units &= units - 1;
        }
        warps
    }
}

/// One sub-core.
#[derive(Clone, Debug)]
pub(super) struct SubCore {
    pub readiness: Readiness,
    pub picker: Picker,
    pub operands: OperandCollector,
    /// Cycle from which a unit accepts its next instruction.
    pub unit_free: [u64; UNITS],
    /// Whether the scheduler issued in the current cycle.
    pub issued: bool,
}

impl SubCore {
    pub(super) fn new(config: &SmConfig) -> Self {
        SubCore {
            readiness: Readiness::default(),
            picker: Picker::new(config.warp_scheduler),
            operands: OperandCollector::new(config.collector_units / config.sub_cores, config.register_banks / config.sub_cores),
            unit_free: [0; UNITS],
            issued: false,
        }
    }
}

/// Timing of each unit, in the order of [`Unit`]. The load/store unit is a model of its own; its entry is not used.
pub(super) fn unit_timings(config: &SmConfig) -> [UnitTiming; UNITS] {
    let units = &config.units;
    let mem = UnitTiming { latency: 1, interval: 1 };
    [units.sp, units.sfu, mem, units.tensor, units.dp, units.int, units.branch, units.texture, units.uniform]
}
