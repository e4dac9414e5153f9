//! Warp slots: position of each warp in its trace, its waits, and its scoreboard.

use super::inflight::Unit;
use mias_warp_trace::ShapeInst;
use std::ops::{Index, IndexMut, Range};

/// Maximum number of warp slots of an SM, including spare ones; numbers fit `u8`, masks over slots
/// 128 bits.
pub(super) const MAX_WARPS: usize = 128;

/// Warp slots of an SM, by number.
#[derive(Clone, Debug)]
pub(super) struct Warps(Box<[Warp; MAX_WARPS]>);

impl Warps {
    pub(super) fn new() -> Self {
        Warps(Box::new([Warp::EMPTY; MAX_WARPS]))
    }

    pub(super) fn range(&self, slots: Range<u8>) -> &[Warp] {
        &self.0[usize::from(slots.start)..usize::from(slots.end)]
    }
}

impl Index<u8> for Warps {
    type Output = Warp;

    fn index(&self, number: u8) -> &Warp {
        &self.0[usize::from(number) & (MAX_WARPS - 1)]
    }
}

impl IndexMut<u8> for Warps {
    fn index_mut(&mut self, number: u8) -> &mut Warp {
        &mut self.0[usize::from(number) & (MAX_WARPS - 1)]
    }
}

/// Reason why a warp with instructions left does not take part in scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The warp takes part in scheduling.
    None,
    /// The warp waits at a TB-wide barrier.
    Barrier,
    /// The warp waits until a fence, and with it all earlier accesses, has passed the load/store
    /// unit.
    Fence,
    /// The warp waits, after a fence, until its stores are acknowledged.
    Drain,
    /// The warp waits until its atomics have returned.
    Atomic,
    /// The warp waits for the fetch of its first instructions.
    Fetch,
}

/// Set of 256 registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegSet([u64; 4]);

impl RegSet {
    pub(super) fn contains(&self, reg: u16) -> bool {
        self.0[usize::from(reg >> 6 & 3)] >> (reg & 63) & 1 == 1
    }

    pub(super) fn meets(&self, other: &RegSet) -> bool {
        let both = |i: usize| self.0[i] & other.0[i];
        both(0) | both(1) | both(2) | both(3) != 0
    }

    /// True if both sets have a common register that is not in `but`.
    pub(super) fn meets_but(&self, but: &RegSet, other: &RegSet) -> bool {
        (0..4).any(|i| self.0[i] & !but.0[i] & other.0[i] != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn insert(&mut self, reg: u16) {
        self.0[usize::from(reg >> 6 & 3)] |= 1 << (reg & 63);
    }

    pub(super) fn remove(&mut self, reg: u16) {
        self.0[usize::from(reg >> 6 & 3)] &= !(1 << (reg & 63));
    }
}

/// Pending registers of a warp that a load will write without the L1. They are separate from
/// [`Warp`], since few instructions need them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnChip {
    /// Registers of loads from shared or constant memory.
    pub loads: RegSet,
    /// Registers of loads from constant memory.
    pub constant: RegSet,
}

impl OnChip {
    /// Waits of a warp whose next instruction `needs` registers, with `loading` those that loads
    /// will write: whether for a load through the L1, and whether for another load.
    pub(super) fn waits(&self, loading: &RegSet, needs: &RegSet) -> (bool, bool) {
        (loading.meets_but(&self.loads, needs), self.loads.meets(needs))
    }

    /// True if a warp whose next instruction `needs` registers waits for a load from shared memory.
    pub(super) fn waits_for_shared(&self, needs: &RegSet) -> bool {
        self.loads.meets_but(&self.constant, needs)
    }

    /// Records that a load has written its register. Returns true if it was a load from constant
    /// memory.
    pub(super) fn remove(&mut self, reg: u16) -> bool {
        let constant = self.constant.contains(reg);
        self.loads.remove(reg);
        self.constant.remove(reg);
        constant
    }
}

/// Warp slot: two cache lines of the host, the first with the data that every result uses.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Warp {
    /// Registers with a pending write, and those of the next instruction, if it has been examined.
    pub pending: RegSet,
    pub needs: RegSet,
    /// Pending registers that a load will write. [`OnChip`] has those of loads without the L1.
    pub loading: RegSet,
    /// Bit of the warp in its sub-core's masks.
    pub bit: u32,
    /// Next instruction: index into the kernel's shape instructions, and the end of this warp's
    /// shape.
    pub next: u32,
    pub end: u32,
    /// Next off-chip memory reference.
    pub next_mem: u32,
    /// Next instruction as executed, and its unit, if it has been examined.
    pub executed: ShapeInst,
    /// Number of instructions issued and not completed.
    pub in_flight: u16,
    /// Number of unacknowledged store sectors.
    pub stores: u16,
    /// Number of outstanding atomics.
    pub atomics: u16,
    pub live: bool,
    /// True if all instructions have issued.
    pub issued_all: bool,
    pub wait: Wait,
    pub unit: Unit,
    pub kernel: u8,
    pub tb_slot: u8,
}

const _: () = assert!(size_of::<Warp>() == 128);

impl Warp {
    pub(super) const EMPTY: Warp = Warp {
        pending: RegSet([0; 4]),
        needs: RegSet([0; 4]),
        loading: RegSet([0; 4]),
        bit: 0,
        next: 0,
        end: 0,
        next_mem: 0,
        executed: ShapeInst::NONE,
        in_flight: 0,
        stores: 0,
        atomics: 0,
        live: false,
        issued_all: false,
        wait: Wait::None,
        unit: Unit::Int,
        kernel: 0,
        tb_slot: 0,
    };

    /// True if everything has issued and nothing is outstanding: the warp may leave.
    pub(super) fn finished(&self) -> bool {
        self.live && self.issued_all && self.in_flight == 0 && self.stores == 0
    }
}
