//! Registers of memory issue on an SM: what the hardware sees of each kernel's off-chip memory instructions, and what holds them back (Dai
//! et al. 2018, section 3; sources.md D123 and D127).
//!
//! Counters saturate and never wrap. They are read of one instant: [`super::global::MEMORY_SNAPSHOT`] latches them. A kernel that is new in its
//! slot begins with counts of 0 and the limit after reset, on all SMs.
//!
//! Also whose ways of the SM's L1 are how many, and what its utility monitors count (Qureshi and Patt 2006; sources.md D124 and D138). These
//! need no [`super::feature::MEMORY_ISSUE`]. Ways stay with their slot whatever kernel takes it.

use super::KERNEL_SLOTS;

/// Offset of SM 0.
pub const BASE: u32 = 0x2000;
/// Bytes from SM to SM.
pub const STRIDE: u32 = 0xE0;

/// Requests after which a slot's counters are latched (Dai et al. 2018, section 3.3.2: 10 bits).
pub const SAMPLE_REQUESTS: u32 = 1 << 10;
/// Bits of the latched counts of requests, reservation fails and cycles held back: 2^20 cycles of a poll with 8 requests or schedulers each.
pub const COUNT_BITS: u32 = 24;
/// Bits of the numbers in flight: more than the warps of an SM times the loads that a warp has outstanding.
pub const IN_FLIGHT_BITS: u32 = 10;
/// The highest limit, which is as many as 7 bits count (Dai et al. 2018, section 3.3.2).
pub const MOST_IN_FLIGHT: u32 = (1 << 7) - 1;

/// Words of [`L1_WAYS`]: two kernel slots each.
pub const WAYS_WORDS: usize = KERNEL_SLOTS / 2;
/// Bits of a slot's ways in such a word.
pub const WAYS_BITS: u32 = 16;
/// The most ways that a kernel can be given: those of the largest set ([`super::monitor`] counts as many).
pub const MOST_WAYS: u32 = 1 << 10;

/// The largest quota of warp instructions; one more stands for any number in the hardware.
pub const MOST_WARP_QUOTA: u32 = u32::MAX - 1;
/// The largest weight of a share of miss resources.
pub const MOST_MISS_WEIGHT: u32 = 1 << 10;

/// Offset of an SM's register.
#[must_use]
pub const fn at(sm: usize, register: u32) -> u32 {
    BASE + sm as u32 * STRIDE + register
}

registers! {
    /// What holds memory instructions back: [`super::memory_mode`].
    MODE = 0x00, ReadWrite, None;
    /// Slots that the last snapshot has latched, one bit each.
    READY = 0x04, ReadOnly;
    /// Which count of the L1's utility monitors `L1_MONITOR_HITS` shows: [`super::monitor`].
    L1_MONITOR = 0x08, ReadWrite;
    /// Hits that the kernel would have at that position in the order of use if it had the L1 alone, as of when the firmware was called; what
    /// was counted before the end of a period counts half. 32 bits; 0 without monitors, and at positions beyond the ways.
    L1_MONITOR_HITS = 0x0C, ReadOnly;
    /// Ways of the L1's sets that the kernels in two slots have, the even slot in the low half: 0 to 1024, as written. While all words are 0 the
    /// ways are divided as the machine does; else a kernel with 0 has one.
    L1_WAYS[WAYS_WORDS] = 0x10, ReadWrite;
    /// Requests (accesses of the L1, and what passes it by) of the kernel in each slot, latched; 24 bits.
    REQUESTS[KERNEL_SLOTS] = 0x20, ReadOnly;
    /// Reservation fails, latched; 24 bits.
    FAILS[KERNEL_SLOTS] = 0x40, ReadOnly;
    /// Scheduler-cycles in which warps could have issued and none was allowed to, charged to the kernel of the oldest, latched; 24 bits.
    HELD_CYCLES[KERNEL_SLOTS] = 0x60, ReadOnly;
    /// Most memory instructions in flight at a time, latched; 10 bits.
    PEAK[KERNEL_SLOTS] = 0x80, ReadOnly;
    /// Memory instructions in flight when the firmware was called; 10 bits.
    IN_FLIGHT[KERNEL_SLOTS] = 0xA0, ReadOnly;
    /// Most memory instructions in flight: 1 to 127, 0 for any number. Reads show the limit in effect, which is the written one only in
    /// mode `WRITTEN`.
    LIMIT[KERNEL_SLOTS] = 0xC0, ReadWrite, None;
}
