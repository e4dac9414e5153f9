//! Capacities of the images. The library supports any GPU in the register map; an image has
//! static memory, and its budget (`budget.toml`) holds for these numbers.
//!
//! There are two builds: 32 SMs with two full rounds of configurations (sources.md D21), and, with
//! the feature `sms-132`, the 132 SMs of current large chips.

/// Number of SMs that an image schedules.
///
/// A larger GPU raises [`mias_registers::fault::GPU_TOO_LARGE`], and its surplus SMs stay
/// idle.
pub const SMS: u16 = if cfg!(feature = "sms-132") { LARGE_SMS } else { 32 };

/// Number of SMs that the image with the feature `sms-132` schedules.
pub const LARGE_SMS: u16 = 132;

/// Number of kernels that are scheduled at a time. Further launches wait in the FIFO.
pub const KERNELS: usize = crate::configs::MAX_KERNELS;

/// Capacity of an image in configurations: two rounds. Generation samples a larger number at a
/// fixed stride.
pub const CONFIGS: usize = if cfg!(feature = "sms-132") { LARGE_CONFIGS } else { 64 };

/// Capacity in configurations of the image with the feature `sms-132`.
pub const LARGE_CONFIGS: usize = 2 * LARGE_SMS as usize;

/// Core cycles after which the watchdog of a working image expires.
///
/// Assumption: a hundred times the longest measured work (docs/porting/decision-latency.md), in
/// instructions, on a microcontroller with a tenth of the core clock.
pub const WATCHDOG_CYCLES: u32 = 200_000_000;

/// Nanoseconds between two polls of a register block that does not answer yet. Assumption: the time
/// of a few hundred instructions.
pub const BLOCK_PAUSE_NS: u32 = 10_000;

/// Polls before an image gives up. Assumption: one second in total.
pub const BLOCK_TRIES: u32 = 100_000;

/// Log bytes of an image with the feature `defmt`, a power of two. Assumption: a dozen decisions.
pub const LOG_BYTES: usize = 1024;
