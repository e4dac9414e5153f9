//! Active lanes of issued instructions by cost class: unit, number of registers read, and whether
//! one is written. There is one counter per combination, so that issue increments only one.

use crate::counts::Count;
use mias_warp_trace::isa::MAX_SOURCES;
use std::num::NonZeroU64;

/// Number of combinations of registers read (0 to 4) and written (0 or 1).
const OPERANDS: usize = (MAX_SOURCES + 1) * 2;
/// Number of counters: 9 units times the combinations, rounded up to a power of two, so that an
/// index needs no check.
const CLASSES: usize = 128;

/// Counter of an instruction, determined at decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneClass(u8);

impl LaneClass {
    /// Class of unit number `unit`, at most 11, with `sources` registers read, and one written or
    /// none.
    pub(crate) fn new(unit: usize, sources: usize, writes: bool) -> Self {
        LaneClass((unit * OPERANDS + 2 * sources + usize::from(writes)) as u8)
    }
}

/// Lane counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCounts {
    lanes: [u64; CLASSES],
}

impl Default for LaneCounts {
    fn default() -> Self {
        LaneCounts { lanes: [0; CLASSES] }
    }
}

impl LaneCounts {
    /// Counts an instruction that executes in `lanes` lanes.
    #[inline]
    pub(crate) fn count(&mut self, class: LaneClass, lanes: u32) {
        self.lanes[usize::from(class.0) & (CLASSES - 1)] += u64::from(lanes);
    }

    /// Lanes of a unit.
    pub(crate) fn of_unit(&self, unit: usize) -> u64 {
        self.lanes[unit * OPERANDS..(unit + 1) * OPERANDS].iter().sum()
    }

    /// Number of registers read, one per lane and operand.
    pub fn register_reads(&self) -> u64 {
        self.operands(|operands| operands as u64 / 2)
    }

    /// Number of registers written, one per lane.
    pub fn register_writes(&self) -> u64 {
        self.operands(|operands| operands as u64 % 2)
    }

    /// Sum over all lanes.
    pub fn total(&self) -> u64 {
        self.operands(|_| 1)
    }

    fn operands(&self, weight: impl Fn(usize) -> u64) -> u64 {
        self.lanes.iter().enumerate().map(|(class, lanes)| weight(class % OPERANDS) * lanes).sum()
    }
}

impl Count for LaneCounts {
    fn add(&mut self, other: &LaneCounts) {
        self.lanes.add(&other.lanes);
    }

    fn since(&self, before: &LaneCounts) -> LaneCounts {
        LaneCounts { lanes: self.lanes.since(&before.lanes) }
    }

    fn extended(&self, before: &LaneCounts, rest: u64, span: NonZeroU64) -> LaneCounts {
        LaneCounts { lanes: self.lanes.extended(&before.lanes, rest, span) }
    }
}
