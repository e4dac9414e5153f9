//! Registers of an SM: profiling, latched counters, TB quotas and resident TBs.

use super::KERNEL_SLOTS;
use crate::counters::COUNTERS as COUNTER_COUNT;

/// Offset of SM 0.
pub const BASE: u32 = 0x1_0000;
/// Bytes from SM to SM.
pub const STRIDE: u32 = 0x100;

/// Words of [`ACTIVE_WARPS`]: four kernel slots each.
pub const ACTIVE_WARPS_WORDS: usize = KERNEL_SLOTS / 4;
/// Bits of a slot's limit in a word of [`ACTIVE_WARPS`].
pub const ACTIVE_WARPS_BITS: u32 = 8;
/// Highest limit: more than the warps of a scheduler.
pub const MOST_ACTIVE_WARPS: u32 = (1 << 6) - 1;

/// Returns the offset of an SM's register.
#[must_use]
pub const fn at(sm: usize, register: u32) -> u32 {
    BASE + sm as u32 * STRIDE + register
}

registers! {
    /// [`super::sm_status`] bits.
    STATUS = 0x00, ReadOnly;
    /// [`super::sm_control`] commands.
    CONTROL = 0x04, WriteOnly;
    /// Saturated latched counters: bit n for the n-th [`crate::counters::Counter`].
    SATURATED = 0x08, ReadOnly;
    /// Counters as latched by the last PROFILE_DONE or snapshot, in the order of
    /// [`crate::counters::Counter`].
    COUNTERS[COUNTER_COUNT] = 0x10, ReadOnly;
    /// Warp instructions of the kernel in each slot, latched with the counters. Their sum is the
    /// counter of that name, and as wide.
    SLOT_WARP_INSTS[KERNEL_SLOTS] = 0x40, ReadOnly;
    /// Thread instructions of the kernel in each slot, latched with the counters. Their sum is the
    /// counter of that name, and as wide.
    SLOT_THREAD_INSTS[KERNEL_SLOTS] = 0x60, ReadOnly;
    /// Staged quota per slot: TBs of that kernel that the SM may hold, 0 to `SM_TBS`.
    QUOTA[KERNEL_SLOTS] = 0x80, ReadWrite;
    /// Resident TBs per slot.
    RESIDENT[KERNEL_SLOTS] = 0xA0, ReadOnly;
    /// Quota in effect per slot: as of the last commit that has reached the SM.
    ACTIVE_QUOTA[KERNEL_SLOTS] = 0xC0, ReadOnly;
    /// Requested state of the SM, a code of [`super::sm_state`]: ACTIVE, STALLED or GATED. A code
    /// beyond these is clamped to GATED. STALLED and ACTIVE take effect in the cycle of the write.
    /// GATED without [`super::feature::POWER_GATING`] raises UNSUPPORTED and does not change the
    /// request.
    STATE_REQUEST = 0xE0, ReadWrite;
    /// State of the SM: [`super::sm_state`].
    STATE = 0xE4, ReadOnly;
    /// Active-warp limits of the kernels in four slots, the first in the low byte. Each warp
    /// scheduler issues only from that number of the kernel's warps, 1 to 63; 0 for all. They are
    /// the oldest that wait at no barrier and have instructions left. A kernel that is new in its
    /// slot starts with the GPU's limit.
    ACTIVE_WARPS[ACTIVE_WARPS_WORDS] = 0xE8, ReadWrite, None;
}
