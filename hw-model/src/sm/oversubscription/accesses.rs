//! Memory accesses of a context move, for the energy report (sources.md D182).
//!
//! In place, a context consists of registers and, where TBs are switched for shared memory, of
//! shared memory. In spare storage it is one piece, or one piece per warp. A warp's state outside
//! its registers counts as registers. Pieces begin at a unit of the space, so each takes whole
//! accesses.

use super::plan::{Limit, Plan, UNIT_BYTES};
use super::record::MovedContext;
use crate::sm::KernelCounters;

/// Bytes that a lane reads or writes of a register.
const LANE_BYTES: u32 = 4;

/// Accesses of a context move, equal in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accesses {
    /// Lanes of registers in place, and in spare storage.
    lanes: u64,
    lanes_elsewhere: u64,
    /// Passes through the banks of shared memory, in place and in spare storage.
    shared_passes: u64,
    /// Number of L1 accesses.
    l1: u64,
}

impl Accesses {
    /// Accesses of a context of a kernel that is switched according to `plan`; an L1 access moves
    /// `l1_bytes`.
    pub(super) fn of(plan: &Plan, context: &MovedContext, l1_bytes: u32) -> Self {
        let all: u32 = context.bytes.iter().sum();
        let shared_bytes = if plan.limit == Limit::Shared { plan.tb_bytes.min(all) } else { 0 };
        // Where registers move, each warp's context is a piece.
        let piece = |bytes: u32| if plan.limit == Limit::Registers { plan.warp_bytes } else { bytes };
        let elsewhere = |part: usize, access_bytes: u32| {
            let bytes = context.bytes[part];
            u64::from(bytes.checked_div(piece(bytes)).unwrap_or(0)) * u64::from(piece(bytes).div_ceil(access_bytes))
        };
        // A pass moves a unit: 32 banks of 4 bytes.
        Accesses {
            lanes: (all - shared_bytes).div_ceil(LANE_BYTES).into(),
            lanes_elsewhere: elsewhere(2, LANE_BYTES),
            shared_passes: u64::from(shared_bytes.div_ceil(UNIT_BYTES)) + elsewhere(0, UNIT_BYTES),
            l1: elsewhere(1, l1_bytes),
        }
    }

    /// Counts the accesses of a context that leaves its place or returns to it.
    pub(super) fn count(&self, leaves: bool, counters: &mut KernelCounters) {
        let (read, written) = if leaves { (self.lanes, self.lanes_elsewhere) } else { (self.lanes_elsewhere, self.lanes) };
        counters.context_register_reads += read;
        counters.context_register_writes += written;
        counters.context_shared_passes += self.shared_passes;
        counters.context_l1_accesses += self.l1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Capacity, Level, Spilled};
    use super::*;

    fn plan(limit: Limit, warp_bytes: u32, tb_bytes: u32) -> Plan {
        Plan {
            level: Level::Tb,
            limit,
            native: 8,
            most_extra: 8,
            warps: 3,
            registers: Capacity::default(),
            shared: Capacity::default(),
            spilled: Spilled::default(),
            spilled_registers: 0,
            warp_bytes,
            tb_bytes,
            in_l1: false,
        }
    }

    /// By hand: 20 registers and 128 bytes of a warp are 672 lanes, and 21 passes or 84 sectors in
    /// spare storage; two such warps separately.
    #[test]
    fn registers_of_warps() {
        let of = |bytes| Accesses::of(&plan(Limit::Registers, 2_688, 0), &MovedContext { tb: 0, warp: Some(0), bytes }, 32);
        assert_eq!(of([2_688, 0, 0]), Accesses { lanes: 672, lanes_elsewhere: 0, shared_passes: 21, l1: 0 });
        assert_eq!(of([0, 2_688, 0]), Accesses { lanes: 672, lanes_elsewhere: 0, shared_passes: 0, l1: 84 });
        assert_eq!(of([2_688, 0, 2_688]), Accesses { lanes: 2 * 672, lanes_elsewhere: 672, shared_passes: 21, l1: 0 });
    }

    /// HG: 12,288 bytes of shared memory and three warps of 128 go to registers: 96 passes and 96
    /// lanes on one side, 3,168 lanes on the other.
    #[test]
    fn shared_memory_of_a_tb() {
        let of = Accesses::of(&plan(Limit::Shared, 128, 12_288), &MovedContext { tb: 0, warp: None, bytes: [0, 0, 12_672] }, 32);
        assert_eq!(of, Accesses { lanes: 96, lanes_elsewhere: 3_168, shared_passes: 96, l1: 0 });
        let mut counters = KernelCounters::default();
        of.count(true, &mut counters);
        assert_eq!((counters.context_register_reads, counters.context_register_writes, counters.context_shared_passes), (96, 3_168, 96));
        of.count(false, &mut counters);
        assert_eq!((counters.context_register_reads, counters.context_register_writes), (3_264, 3_264));
    }

    /// Virtual thread: three states of 48 bytes are 36 lanes and two passes.
    #[test]
    fn states_of_warps() {
        let of = Accesses::of(&plan(Limit::Slots, 48, 0), &MovedContext { tb: 0, warp: None, bytes: [144, 0, 0] }, 32);
        assert_eq!(of, Accesses { lanes: 36, lanes_elsewhere: 0, shared_passes: 2, l1: 0 });
    }
}
