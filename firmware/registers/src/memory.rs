//! Memory-issue registers of an SM: counts of each kernel's off-chip memory instructions, and
//! limits on them (Dai et al. 2018, section 3; sources.md D123 and D127).
//!
//! Counters saturate and never wrap. [`super::global::MEMORY_SNAPSHOT`] latches them at one
//! instant. A kernel that is new in its slot starts with counts of 0 and the reset value of the
//! limit, on all SMs.
//!
//! The region also has the kernels' ways of the SM's L1 and the counts of its utility monitors
//! (Qureshi and Patt 2006; sources.md D124 and D138). These do not need
//! [`super::feature::MEMORY_ISSUE`]. Ways stay with their slot when its kernel changes.

use super::KERNEL_SLOTS;

/// Offset of SM 0.
pub const BASE: u32 = 0x2000;
/// Bytes from SM to SM.
pub const STRIDE: u32 = 0xE0;

/// Requests after which a slot's counters are latched (Dai et al. 2018, section 3.3.2: 10 bits).
pub const SAMPLE_REQUESTS: u32 = 1 << 10;
/// Bits of the latched counts of requests, reservation fails and held cycles. They suffice for a
/// poll of 2^20 cycles with 8 requests or schedulers each.
pub const COUNT_BITS: u32 = 24;
/// Bits of the counts in flight: more than the warps of an SM times the outstanding loads of a
/// warp.
pub const IN_FLIGHT_BITS: u32 = 10;
/// Highest limit, the largest value of 7 bits (Dai et al. 2018, section 3.3.2).
pub const MOST_IN_FLIGHT: u32 = (1 << 7) - 1;

/// Words of [`L1_WAYS`]: two kernel slots each.
pub const WAYS_WORDS: usize = KERNEL_SLOTS / 2;
/// Bits of a slot's ways in a word of [`L1_WAYS`].
pub const WAYS_BITS: u32 = 16;
/// Most ways of a kernel: those of the largest set ([`super::monitor`] counts as many).
pub const MOST_WAYS: u32 = 1 << 10;

/// Largest quota of warp instructions. The hardware uses one more for unlimited.
pub const MOST_WARP_QUOTA: u32 = u32::MAX - 1;
/// Largest weight of a share of miss resources.
pub const MOST_MISS_WEIGHT: u32 = 1 << 10;

/// Returns the offset of an SM's register.
#[must_use]
pub const fn at(sm: usize, register: u32) -> u32 {
    BASE + sm as u32 * STRIDE + register
}

registers! {
    /// Mode by which memory instructions are held back: [`super::memory_mode`].
    MODE = 0x00, ReadWrite, None;
    /// Slots that the last snapshot has latched, one bit each.
    READY = 0x04, ReadOnly;
    /// Selects the count of the L1's utility monitors that `L1_MONITOR_HITS` shows:
    /// [`super::monitor`].
    L1_MONITOR = 0x08, ReadWrite;
    /// Hits that the kernel selected in `L1_MONITOR` would have at the selected position if it had
    /// the L1 alone. They are latched when the firmware is called. Counts from before the end of a
    /// period count half. 32 bits; 0 without monitors, and at positions beyond the ways.
    L1_MONITOR_HITS = 0x0C, ReadOnly;
    /// Ways per set of the L1 for the kernels in two slots, the even slot in the low half: 0 to
    /// 1024, as written. If all words are 0, the GPU's partitioning applies; otherwise a kernel
    /// with 0 has one way.
    L1_WAYS[WAYS_WORDS] = 0x10, ReadWrite;
    /// Requests of the kernel in each slot, latched; 24 bits. They are L1 accesses and accesses
    /// that bypass the L1.
    REQUESTS[KERNEL_SLOTS] = 0x20, ReadOnly;
    /// Reservation fails of the kernel in each slot, latched; 24 bits.
    FAILS[KERNEL_SLOTS] = 0x40, ReadOnly;
    /// Scheduler-cycles in which warps could have issued but were all held back, latched; 24 bits.
    /// They are charged to the kernel of the oldest warp.
    HELD_CYCLES[KERNEL_SLOTS] = 0x60, ReadOnly;
    /// Peak number of memory instructions in flight, latched; 10 bits.
    PEAK[KERNEL_SLOTS] = 0x80, ReadOnly;
    /// Memory instructions in flight when the firmware was called; 10 bits.
    IN_FLIGHT[KERNEL_SLOTS] = 0xA0, ReadOnly;
    /// Limit on memory instructions in flight: 1 to 127, 0 for unlimited. Reads show the limit in
    /// effect, which equals the written one only in mode `WRITTEN`.
    LIMIT[KERNEL_SLOTS] = 0xC0, ReadWrite, None;
}
