//! The register map between the thread-block scheduler firmware and the GPU that it schedules, and
//! the [`bus`] to it.
//!
//! The map is the only contract between the two (docs/explanation/architecture.md, "The contract").
//! Use this crate to write a firmware, a driver or a model of the hardware. This crate alone
//! defines every offset, field, width and access rule. The map has space for [`MAX_SMS`] SMs and
//! [`KERNEL_SLOTS`] kernel slots on every GPU, so offsets never move. All registers are 32 bits
//! wide and little endian, at byte offsets that are multiples of four.
//!
//! | region | offset | holds |
//! |---|---|---|
//! | [`global`] | `0x0000` | GPU description, straps, time, interrupts, control |
//! | [`slot`] | `0x0800 + slot * 0x40` | one launched kernel |
//! | [`queue`] | `0x1000 + entry * 0x40` | one waiting launch, in the window of the queue |
//! | [`memory`] | `0x2000 + sm * 0xE0` | memory issue and the L1's ways of one SM |
//! | [`sm`] | `0x1_0000 + sm * 0x100` | one SM: profiling, counters, quotas, resident TBs |
//! | [`preempt`] | `0x2_0000 + sm * 0x500` | preemption of one SM |
//!
//! [`counters`] describes the counters of an SM, [`quantity`] the registers with fractions, and
//! [`remote`] the bus over a byte stream.
//!
//! # Example
//! A bus needs two functions:
//!
//! ```rust
//! use mias_registers::bus::Bus;
//! use mias_registers::{ID_VALUE, global, slot};
//!
//! struct Memory([u32; 0x400]);
//!
//! impl Bus for Memory {
//!     fn read32(&mut self, offset: u32) -> u32 {
//!         self.0[offset as usize / 4]
//!     }
//!
//!     fn write32(&mut self, offset: u32, value: u32) {
//!         self.0[offset as usize / 4] = value;
//!     }
//! }
//!
//! let mut block = Memory([0; 0x400]);
//! block.write32(global::ID, ID_VALUE);
//! block.write32(slot::at(1, slot::GRID_TBS), 640);
//! assert_eq!(block.read32(global::ID), u32::from_be_bytes(*b"MIAS"));
//! assert_eq!(block.read32(slot::at(1, slot::GRID_TBS)), 640);
//! ```
//!
//! # Access rules
//! * Reads of unmapped or write-only offsets return 0. Writes to unmapped or read-only offsets do
//!   nothing. Both raise [`fault::BAD_ACCESS`]. SMs and slots beyond the GPU's count are
//!   unmapped.
//! * A value beyond a field's range is clamped to it and raises [`fault::VALUE_RANGE`].
//! * Quotas are staged: [`sm::QUOTA`], [`global::QUOTA_ALL`] and [`global::QUOTA_SOME`] take effect
//!   when [`global::COMMIT`] is written, on one SM after the other. No window of an SM starts
//!   before its own quotas take effect.
//! * 64-bit values are read low word first. That read latches the high word.
//! * Clear [`global::INT_STATUS`] first and read the event registers afterwards, so that no event
//!   is lost.
//!
//! # Versions
//! The upper half of [`global::VERSION`] counts incompatible changes, the lower half additions.
//! * A newer block of the same upper half may define registers at unmapped offsets, and bits that
//!   are 0 in status, fault, feature and option registers. It raises the line for a new status bit
//!   only once the firmware has enabled it in [`global::INT_ENABLE`].
//! * A firmware ignores bits that it does not know and never clears them. It takes every event that
//!   it knows, whichever other bits are set. A status of all ones is no answer.
//! * A firmware refuses a block with another upper half or fewer additions, with
//!   [`fault::WRONG_MAP`].
//!
//! # Profiling window
//! The firmware writes [`global::PROFILE_WINDOW`] and arms SMs. An armed SM reaches its partition
//! when the resident TBs of every slot equal the quota, or are fewer and that kernel has no TB left
//! to issue. Hardware then clears the SM's counters, raises PARTITION and starts the SM's window
//! timer. When the timer expires, hardware latches the counters into the registers at
//! [`sm::COUNTERS`], clears them, disarms the SM and raises PROFILE_DONE. Windows are exact at any
//! firmware latency.
//!
//! # Active warps
//! [`sm::ACTIVE_WARPS`] and [`global::ACTIVE_WARPS_ALL`] limit the number of a kernel's warps from
//! which each warp scheduler of an SM issues. These are the oldest warps that wait at no barrier
//! and have instructions left (static wavefront limiting, Rogers et al. 2012; Wang et al. 2018). A
//! limit takes effect in the cycle in which it is written.
//!
//! # Shares of an SM
//! [`global::WARP_QUOTA`] and [`global::MISS_WEIGHT`] partition warp instructions and the L1's miss
//! resources among the kernels on each SM (Wang et al. 2016; Dai et al. 2018, section 4.5). They
//! apply to all SMs, and take effect in the cycle in which they are written.
//!
//! # DRAM requests
//! [`global::DRAM_ORDER`], [`global::DRAM_CAP`] and [`global::DRAM_SHARE`] select the order in
//! which a DRAM bank serves the kernels' requests. They may be written at any time. Waiting
//! requests keep their places.
//!
//! # Counters of kernels
//! [`global::KERNEL_SNAPSHOT`] latches the counts of kernels over the whole chip since their last
//! latch. A window lies between two such writes. For a window of 20,000 cycles the firmware writes
//! the register, sets the timer, and writes the register again when the timer expires.
//! [`global::KERNEL_CYCLES`] has the actual length. These counters and the SMs' own windows do not
//! affect each other. Counts of the L2 and of DRAM refer to the time at which an access is served,
//! not to its issue.
//!
//! # Queue of launches
//! Launches wait in memory, and the firmware sees the first of them in the window ([`queue`]). With
//! [`global::QUEUE_MODE`] 0 they get free slots in the order in which they became due. With 1 the
//! firmware selects the next launch and the time of its admission.
//!
//! # Extra TBs
//! With [`feature::OVERSUBSCRIPTION`] an SM can hold extra TBs of a kernel, beyond those that fit.
//! Their contexts are in spare storage while they wait (Lin et al. 2018).
//! [`global::CONTEXT_ALLOWED`] sets their number, and quotas do not count them. Each kernel has
//! intervals of
//! [`global::CONTEXT_INTERVAL`] cycles. At the end of an interval hardware latches the counts of
//! the whole chip. Intervals are exact at any firmware latency. An interval that ends before the
//! firmware has read the last one is lost.

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

/// Number of SMs in the map.
pub const MAX_SMS: usize = 256;
/// Number of kernel slots in the map.
pub const KERNEL_SLOTS: usize = 8;
/// Words of an SM bit map: one bit per SM, SM 0 in bit 0 of word 0.
pub const SM_WORDS: usize = MAX_SMS / 32;
/// Value of [`global::ID`]: "MIAS" in ASCII, most significant byte first.
pub const ID_VALUE: u32 = 0x4D49_4153;
/// Value of [`global::VERSION`]: major in the upper half, minor in the lower.
pub const VERSION_VALUE: u32 = 0x0001_000C;
/// Longest profiling window in cycles: 17 bits (sources.md D34).
pub const MAX_WINDOW: u32 = (1 << 17) - 1;
/// Bits of most counters of kernels, from [`global::KERNEL_WARP_INSTS`] on (sources.md D143).
///
/// They are the 19 bits of an SM's warp instructions or L2 accesses in the longest window, times
/// [`MAX_SMS`].
pub const KERNEL_COUNT_BITS: u32 = 27;
/// Number of counts from which the firmware classifies the chip's utilization.
pub const CONTEXT_COUNTS: usize = 6;
/// Offsets of the arrays of utilization counts, in the order of [`global::CONTEXT_CAPACITY`]. Each
/// has one count per kernel slot.
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

/// Returns the word index and the bit of an SM in an SM bit map.
#[must_use]
pub const fn sm_bit(sm: usize) -> (usize, u32) {
    (sm / 32, 1 << (sm % 32))
}
