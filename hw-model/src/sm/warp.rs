//! One warp slot: where the warp is in its trace, what it waits for, and its scoreboard.

use super::inflight::Unit;

/// Why a warp with instructions left does not take part in scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// It does take part.
    None,
    /// At a TB-wide barrier.
    Barrier,
    /// At a fence, until the fence has passed the load/store unit, and with it all earlier accesses.
    Fence,
    /// Behind a fence, until its stores are acknowledged.
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

    pub(super) fn insert(&mut self, reg: u16) {
        self.0[usize::from(reg >> 6 & 3)] |= 1 << (reg & 63);
    }

    pub(super) fn remove(&mut self, reg: u16) {
        self.0[usize::from(reg >> 6 & 3)] &= !(1 << (reg & 63));
    }
}

/// A warp slot.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub live: bool,
    /// All instructions have issued.
    pub issued_all: bool,
    pub wait: Wait,
    pub kernel: u8,
    pub tb_slot: u8,
    /// Order of arrival on the SM; the smaller is the older.
    pub age: u32,
    /// Next instruction: index into the kernel's shape instructions, and the end of this warp's shape.
    pub next: u32,
    pub end: u32,
    /// Next off-chip memory reference.
    pub next_mem: u32,
    /// The next instruction's registers and unit, if it has been looked at.
    pub needs: RegSet,
    pub unit: Unit,
    /// Registers with a write pending, and those of them that a load will write.
    pub pending: RegSet,
    pub loading: RegSet,
    /// Instructions issued and not completed.
    pub in_flight: u32,
    /// Stores not acknowledged.
    pub stores: u32,
    /// Atomics not returned.
    pub atomics: u32,
}

impl Warp {
    pub(super) const EMPTY: Warp = Warp {
        live: false,
        issued_all: false,
        wait: Wait::None,
        kernel: 0,
        tb_slot: 0,
        age: 0,
        next: 0,
        end: 0,
        next_mem: 0,
        needs: RegSet([0; 4]),
        unit: Unit::Int,
        pending: RegSet([0; 4]),
        loading: RegSet([0; 4]),
        in_flight: 0,
        stores: 0,
        atomics: 0,
    };

    /// Everything issued and nothing outstanding: the warp may leave.
    pub(super) fn finished(&self) -> bool {
        self.live && self.issued_all && self.in_flight == 0 && self.stores == 0
    }
}
