//! Warp slots: where each warp is in its trace, what it waits for, and its scoreboard.

use super::inflight::Unit;
use mias_warp_trace::ShapeInst;
use std::ops::{Index, IndexMut, Range};

/// Most warp slots that an SM may have, spare ones included; numbers fit `u8`, masks over slots 128 bits.
pub(super) const MAX_WARPS: usize = 128;

/// The warp slots of an SM, by number.
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

/// Why a warp with instructions left does not take part in scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// It does take part.
    None,
    /// At a TB-wide barrier.
    Barrier,
    /// At a fence, until the fence has passed the load/store unit, and with it all earlier accesses.
    Fence,
    /// DeferredRequests a fence, until its stores are acknowledged.
    Drain,
    /// Until its atomics have returned.
    Atomic,
    /// Its first instructions are being fetched.
    Fetch,
}

/// A set of 256 registers.
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

    /// Whether they meet in a register that is not in `but`.
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

/// Pending registers of a warp that a load will write that does not go through the L1. Beside [`Warp`], because few instructions look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnChip {
    /// A load from shared or constant memory.
    pub loads: RegSet,
    /// A load from constant memory.
    pub constant: RegSet,
}

impl OnChip {
    /// What a warp waits for whose next instruction `needs` registers of which loads will write `loading`: whether for a load through the
    /// L1, and whether for another.
    pub(super) fn waits(&self, loading: &RegSet, needs: &RegSet) -> (bool, bool) {
        (loading.meets_but(&self.loads, needs), self.loads.meets(needs))
    }

    /// Whether it waits for a load from shared memory.
    pub(super) fn waits_for_shared(&self, needs: &RegSet) -> bool {
        self.loads.meets_but(&self.constant, needs)
    }

    /// A load has written its register. Whether it was one from constant memory.
    pub(super) fn remove(&mut self, reg: u16) -> bool {
        let constant = self.constant.contains(reg);
        self.loads.remove(reg);
        self.constant.remove(reg);
        constant
    }
}

/// A warp slot: two lines of the host's cache, the first with what every result looks at.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Warp {
    /// Registers with a write pending, and those of the next instruction, if it has been looked at.
    pub pending: RegSet,
    pub needs: RegSet,
    /// Pending registers that a load will write. Which of them are of loads that do not go through the L1, [`OnChip`] says.
    pub loading: RegSet,
    /// What stands for it in its sub-core's masks.
    pub bit: u32,
    /// Next instruction: index into the kernel's shape instructions, and the end of this warp's shape.
    pub next: u32,
    pub end: u32,
    /// Next off-chip memory reference.
    pub next_mem: u32,
    /// The next instruction as executed, and its unit, if it has been looked at.
    pub executed: ShapeInst,
    /// Instructions issued and not completed.
    pub in_flight: u16,
    /// Sectors of stores not acknowledged.
    pub stores: u16,
    /// Atomics not returned.
    pub atomics: u16,
    pub live: bool,
    /// All instructions have issued.
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

    /// Everything issued and nothing outstanding: the warp may leave.
    pub(super) fn finished(&self) -> bool {
        self.live && self.issued_all && self.in_flight == 0 && self.stores == 0
    }
}
