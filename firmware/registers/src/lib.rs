//! The register map: the one contract between the firmware and the hardware it drives (docs/architecture.md, "The contract"), and the
//! [`bus`] over which the firmware sees it.
//!
//! Every offset, field, width and access rule is defined in this crate and nowhere else. The map has room for
//! [`MAX_SMS`] SMs and [`KERNEL_SLOTS`] kernel slots whatever the machine has, so that offsets never move. All registers are
//! 32 bits wide, at byte offsets that are multiples of four, little endian.
//!
//! | region | offset | holds |
//! |---|---|---|
//! | [`global`] | `0x0000` | machine description, straps, time, interrupts, control |
//! | [`slot`] | `0x0800 + slot * 0x40` | one launched kernel |
//! | [`queue`] | `0x1000 + entry * 0x40` | one launch that waits, in the window of the queue |
//! | [`memory`] | `0x2000 + sm * 0xE0` | memory issue and the L1's ways of one SM |
//! | [`sm`] | `0x1_0000 + sm * 0x100` | one SM: profiling, counters, quotas, resident TBs |
//! | [`preempt`] | `0x2_0000 + sm * 0x500` | preemption of one SM |
//!
//! [`counters`] says what an SM counts, [`quantity`] which registers hold numbers with a fraction, [`remote`] how the map is reached over a line of
//! bytes.
//!
//! # Access rules
//! * Reads of unmapped or write-only offsets return 0, writes to unmapped or read-only offsets do nothing; both raise
//!   [`fault::BAD_ACCESS`]. SMs and slots beyond the machine's count are unmapped.
//! * A value beyond a field's range is clamped into it and raises [`fault::VALUE_RANGE`].
//! * Quotas are staged: [`sm::QUOTA`], [`global::QUOTA_ALL`] and [`global::QUOTA_SOME`] take effect when
//!   [`global::COMMIT`] is written, on one SM after the other. No window of an SM starts before its own have.
//! * 64-bit values are read low word first: that read latches the high word.
//! * Clear [`global::INT_STATUS`] first and read the event registers afterwards: nothing is lost that way.
//!
//! # Profiling window
//! Firmware writes [`global::PROFILE_WINDOW`] and arms SMs. When the partition of an armed SM is reached (for every slot
//! resident TBs equal the quota, or are fewer and that kernel has no TB left to issue) hardware clears the SM's counters,
//! raises PARTITION and starts the SM's window timer. When it expires, hardware latches the counters into the registers at
//! [`sm::COUNTERS`], clears them, disarms the SM and raises PROFILE_DONE. Windows are exact whatever the firmware's latency.
//!
//! # Active warps
//! [`sm::ACTIVE_WARPS`] and [`global::ACTIVE_WARPS_ALL`] limit how many of a kernel's warps each warp scheduler of an SM issues from: the oldest that are neither
//! at a barrier nor have issued all they have (static wavefront limiting, Rogers et al. 2012; Wang et al. 2018). A limit is in effect in the cycle in which it is written.
//!
//! # Shares of an SM
//! [`global::WARP_QUOTA`] and [`global::MISS_WEIGHT`] share warp instructions and the L1's miss resources out between the kernels on each SM (Wang et al. 2016;
//! Dai et al. 2018, section 4.5). They are of all SMs, and in effect in the cycle in which they are written.
//!
//! # DRAM requests
//! [`global::DRAM_ORDER`], [`global::DRAM_CAP`] and [`global::DRAM_SHARE`] say whose request a bank of DRAM serves next. They may be written at any
//! time: what waits then stays in its place.
//!
//! # Counters of kernels
//! [`global::KERNEL_SNAPSHOT`] latches what kernels did on the whole chip since their last latch. A window is what lies between two such
//! writes: firmware that wants one of 20,000 cycles writes the register, sets the timer, and writes it again when the timer is due.
//! [`global::KERNEL_CYCLES`] says how many cycles it came to be. The counters are there whatever SMs' own windows do, and these are not
//! touched. Counts of the L2 and of DRAM are of the moment at which an access is served, not of that at which it was issued.
//!
//! # Queue of launches
//! Launches wait in memory, and the firmware sees the first of them in the window ([`queue`]). With [`global::QUEUE_MODE`] 0 they get slots in the order in
//! which they became due, as many as are free. With 1 the firmware says which is next and when; then as many get a slot as it lets in.
//!
//! # Extra TBs
//! With [`feature::CONTEXTS`] an SM can hold TBs of a kernel beyond those that fit, extra ones, whose contexts lie on spare storage while they wait (Lin
//! et al. 2018). [`global::CONTEXT_ALLOWED`] says how many; quotas do not count them. Each kernel has intervals of
//! [`global::CONTEXT_INTERVAL`] cycles, at the end of which hardware latches what the whole chip did in them: windows are exact whatever the
//! firmware's latency, and one that comes while the last is looked at is lost.

#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(not(target_os = "none"), forbid(unsafe_code))]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

#[cfg(test)]
extern crate std;

#[macro_use]
mod describe;

pub mod bus;
pub mod counters;
pub mod global;
pub mod memory;
pub mod preempt;
pub mod quantity;
pub mod queue;
pub mod remote;
pub mod slot;
pub mod sm;

mod fields;
mod fingerprint;
mod policy_code;

pub use describe::{Access, Register};
pub use fields::{
    PhaseCode, context_allowed, context_bound, dram_order, fault, feature, interrupt, memory_active, memory_mode, mode, monitor, option,
    preempt_command, preempt_reserve, preempt_scheme, preempt_tb, search_found, slot_control, slot_status, sm_control, sm_state, sm_status,
    technique,
};
pub use fingerprint::fingerprint;

pub use policy_code::PolicyCode;

/// SMs that the map has room for.
pub const MAX_SMS: usize = 256;
/// Kernel slots that the map has room for.
pub const KERNEL_SLOTS: usize = 8;
/// Words of an SM bit map: one bit per SM, SM 0 in bit 0 of word 0.
pub const SM_WORDS: usize = MAX_SMS / 32;
/// Value of [`global::ID`]: "MIAS" in ASCII, most significant byte first.
pub const ID_VALUE: u32 = 0x4D49_4153;
/// Value of [`global::VERSION`]: major in the upper half, minor in the lower.
pub const VERSION_VALUE: u32 = 0x0001_000C;
/// Longest profiling window in cycles: 17 bits (sources.md D34).
pub const MAX_WINDOW: u32 = (1 << 17) - 1;
/// Bits of most of the counters of kernels, from [`global::KERNEL_WARP_INSTS`] on: the 19 bits that an SM's warp instructions or L2 accesses take in the
/// longest window, times [`MAX_SMS`] (sources.md D143).
pub const KERNEL_COUNT_BITS: u32 = 27;
/// Counts by which the firmware tells how busy the chip was.
pub const CONTEXT_COUNTS: usize = 6;
/// Their arrays, a count for each kernel slot, in the order of [`global::CONTEXT_CAPACITY`].
pub const CONTEXT_ARRAYS: [u32; CONTEXT_COUNTS] = [
    global::CONTEXT_INSTS,
    global::CONTEXT_L1_HITS,
    global::CONTEXT_REQUEST_FLITS,
    global::CONTEXT_REPLY_FLITS,
    global::CONTEXT_L2_HITS,
    global::CONTEXT_DRAM_SECTORS,
];
/// First offset beyond the map.
pub const MAP_END: u32 = preempt::BASE + MAX_SMS as u32 * preempt::STRIDE;

/// Word index and bit of an SM in an SM bit map.
#[must_use]
pub const fn sm_bit(sm: usize) -> (usize, u32) {
    (sm / 32, 1 << (sm % 32))
}
