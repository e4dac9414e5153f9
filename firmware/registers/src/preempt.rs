//! Registers of preemption on an SM: the TBs that are there, what they have done, and commands that take them off (Shieh 2016, section 3.4;
//! sources.md D133).
//!
//! A TB on an SM has a *place*: a number from 0 to [`MAX_PLACES`] - 1, the lowest that is free when the TB comes, which is its until it
//! leaves. Registers and shared memory of a TB are contiguous ranges. A kernel that is to have room takes aligned ranges (Shieh 2016, section
//! 3.2): its n-th *position* begins at n times what one of its TBs takes, and there are as many positions as an empty SM holds of its TBs.
//!
//! An SM wants room if the kernel in some slot may have another TB there, by its quota, and does not fit, and a TB of a kernel that has to yield
//! is there: one of lower priority, or one beyond its own quota. [`super::global::PREEMPT_WANTED`] says which SMs do, [`WANTED`] for whom. What the
//! firmware answers: it reserves positions ([`RESERVED_SLOT`], [`RESERVED_LOW`], [`RESERVED_HIGH`]), so that nobody else takes what becomes
//! free, and commands for each victim how it leaves ([`COMMAND`]). Commands of several TBs and SMs are carried out at once.

use super::KERNEL_SLOTS;

/// Offset of SM 0.
pub const BASE: u32 = 0x2_0000;
/// Bytes from SM to SM.
pub const STRIDE: u32 = 0x500;

/// Most TBs of an SM that preempts: bits of a set of victims.
pub const MAX_PLACES: usize = 32;
/// Most positions of a kernel that is to have room (Shieh 2016, table 3.1).
pub const MAX_POSITIONS: usize = 64;
/// A count of cycles that nobody knows.
pub const UNKNOWN: u32 = u32::MAX;

/// Offset of an SM's register.
#[must_use]
pub const fn at(sm: usize, register: u32) -> u32 {
    BASE + sm as u32 * STRIDE + register
}

registers! {
    /// The TB in each place: [`super::preempt_tb`]; 0 if there is none.
    TB[MAX_PLACES] = 0x000, ReadOnly;
    /// Warp instructions that the TB in each place has issued, saturating.
    TB_INSTS[MAX_PLACES] = 0x080, ReadOnly;
    /// Cycles since it came, or came back, saturating. A TB that was switched out counts on from what it had.
    TB_CYCLES[MAX_PLACES] = 0x100, ReadOnly;
    /// Its first register.
    TB_REGISTERS[MAX_PLACES] = 0x180, ReadOnly;
    /// Its first byte of shared memory.
    TB_SHARED[MAX_PLACES] = 0x200, ReadOnly;
    /// Cycles until it ends if nothing changes, where something outside the machine has said so (the oracle of Shieh 2016, section 4.2);
    /// [`UNKNOWN`] else.
    TB_LEFT[MAX_PLACES] = 0x280, ReadOnly, Some(super::preempt::UNKNOWN);
    /// Makes the TB in a place leave: writes are [`super::technique`] codes. Reads show what came of the last command for this place:
    /// [`super::preempt_command`].
    COMMAND[MAX_PLACES] = 0x300, ReadWrite;

    /// Of each slot's kernel, TBs that have ended on this SM. With the four that follow it is halved when one of them would overflow, so
    /// that their ratios stay.
    ENDED_TBS[KERNEL_SLOTS] = 0x380, ReadOnly;
    /// The warp instructions of these TBs.
    ENDED_INSTS[KERNEL_SLOTS] = 0x3A0, ReadOnly;
    /// Their cycles on the SM.
    ENDED_CYCLES[KERNEL_SLOTS] = 0x3C0, ReadOnly;
    /// The sum of their cycles per warp instruction, each rounded down to sixteenths and at most 4,095.
    ENDED_CPI[KERNEL_SLOTS] = 0x3E0, ReadOnly;
    /// The sum of the squares of these, in 256ths.
    ENDED_CPI_SQUARES[KERNEL_SLOTS] = 0x400, ReadOnly;

    /// Who wants room: the slot + 1 in bits 0 to 3, 0 for nobody; in bits 8 to 15 how many more TBs it may have here by its quota.
    WANTED = 0x420, ReadOnly;
    /// For whom positions are reserved: [`super::preempt_reserve`]. Writing 0 gives them free.
    RESERVED_SLOT = 0x424, ReadWrite;
    /// Positions reserved, 0 to 31, one bit each. A bit is cleared when a TB of that kernel takes the position, all when the kernel has no TB
    /// left to issue.
    RESERVED_LOW = 0x428, ReadWrite;
    /// Positions 32 to 63.
    RESERVED_HIGH = 0x42C, ReadWrite;
}
