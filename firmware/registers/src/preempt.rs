//! Preemption registers of an SM: its TBs, their progress, and commands that remove them (Shieh
//! 2016, section 3.4; sources.md D133).
//!
//! A TB on an SM has a *place*: a number from 0 to [`MAX_PLACES`] - 1. It is the lowest that is
//! free when the TB arrives, and belongs to the TB until it leaves. Registers and shared memory of
//! a TB are contiguous ranges. A kernel that preempts others takes aligned ranges (Shieh 2016,
//! section 3.2). Its n-th *position* starts at n times the demand of one of its TBs. There are as
//! many positions as an empty SM holds TBs of the kernel.
//!
//! An SM requests space under three conditions:
//!
//! * The kernel in some slot may have another TB there by its quota.
//! * That TB does not fit.
//! * A TB that must yield is there: its kernel has a lower priority or exceeds its own quota.
//!
//! [`super::global::PREEMPT_WANTED`] has the SMs that request space, and [`WANTED`] the kernel.
//!
//! The firmware answers in two steps. It reserves positions ([`RESERVED_SLOT`], [`RESERVED_LOW`],
//! [`RESERVED_HIGH`]), so that no other kernel takes the freed space. It then commands the
//! technique for each victim ([`COMMAND`]). Commands of several TBs and SMs run concurrently.

use super::KERNEL_SLOTS;

/// Offset of SM 0.
pub const BASE: u32 = 0x2_0000;
/// Bytes from SM to SM.
pub const STRIDE: u32 = 0x500;

/// Most TBs of an SM with preemption, which are the bits of a set of victims.
pub const MAX_PLACES: usize = 32;
/// Most positions of a preempting kernel (Shieh 2016, table 3.1).
pub const MAX_POSITIONS: usize = 64;
/// Value of an unknown cycle count.
pub const UNKNOWN: u32 = u32::MAX;

/// Returns the offset of an SM's register.
#[must_use]
pub const fn at(sm: usize, register: u32) -> u32 {
    BASE + sm as u32 * STRIDE + register
}

registers! {
    /// TB in each place: [`super::preempt_tb`]; 0 if the place is empty.
    TB[MAX_PLACES] = 0x000, ReadOnly;
    /// Warp instructions that the TB in each place has issued, saturating.
    TB_INSTS[MAX_PLACES] = 0x080, ReadOnly;
    /// Cycles since the TB arrived or resumed, saturating. A TB that was switched continues its
    /// earlier count.
    TB_CYCLES[MAX_PLACES] = 0x100, ReadOnly;
    /// First register of the TB in each place.
    TB_REGISTERS[MAX_PLACES] = 0x180, ReadOnly;
    /// First byte of shared memory of the TB in each place.
    TB_SHARED[MAX_PLACES] = 0x200, ReadOnly;
    /// Cycles until the TB ends if nothing changes, if a source outside the machine provides them
    /// (the oracle of Shieh 2016, section 4.2); otherwise [`UNKNOWN`].
    TB_LEFT[MAX_PLACES] = 0x280, ReadOnly, Some(super::preempt::UNKNOWN);
    /// Makes the TB in a place leave: writes are [`super::technique`] codes. Reads show the outcome
    /// of the last command for this place: [`super::preempt_command`].
    COMMAND[MAX_PLACES] = 0x300, ReadWrite;

    /// TBs of each slot's kernel that have ended on this SM. This and the following four are halved
    /// together when one of them would overflow, which keeps their ratios.
    ENDED_TBS[KERNEL_SLOTS] = 0x380, ReadOnly;
    /// Warp instructions of the ended TBs.
    ENDED_INSTS[KERNEL_SLOTS] = 0x3A0, ReadOnly;
    /// Cycles of the ended TBs on the SM.
    ENDED_CYCLES[KERNEL_SLOTS] = 0x3C0, ReadOnly;
    /// Sum of the ended TBs' cycles per warp instruction, each rounded down to sixteenths and at
    /// most 4,095.
    ENDED_CPI[KERNEL_SLOTS] = 0x3E0, ReadOnly;
    /// Sum of the squares of the ended TBs' cycles per warp instruction, in 256ths.
    ENDED_CPI_SQUARES[KERNEL_SLOTS] = 0x400, ReadOnly;

    /// Kernel that requests space: the slot + 1 in bits 0 to 3, 0 for none. Bits 8 to 15 have the
    /// number of further TBs that its quota allows here.
    WANTED = 0x420, ReadOnly;
    /// Kernel with reserved positions: [`super::preempt_reserve`]. Writing 0 frees them.
    RESERVED_SLOT = 0x424, ReadWrite;
    /// Reserved positions 0 to 31, one bit each. A bit is cleared when a TB of that kernel takes
    /// the position. All are cleared when the kernel has no TB left to issue.
    RESERVED_LOW = 0x428, ReadWrite;
    /// Reserved positions 32 to 63.
    RESERVED_HIGH = 0x42C, ReadWrite;
}
