//! What the images are built for. The library itself takes any machine that the register map has room for; an image has
//! static memory, and its budget (`budget.toml`) holds for these numbers.
//!
//! Two builds: 32 SMs with all of two rounds of configurations (sources.md D21), and, with the feature `sms-132`, the 132
//! SMs of today's largest chips.

/// SMs that an image schedules. A larger machine raises [`mias_registers::fault::MACHINE_TOO_LARGE`], and its surplus SMs stay
/// idle.
pub const SMS: u16 = if cfg!(feature = "sms-132") { LARGE_SMS } else { 32 };

/// SMs of the image with the feature `sms-132`.
pub const LARGE_SMS: u16 = 132;

/// Kernels that are scheduled at a time; further launches wait in the FIFO.
pub const KERNELS: usize = crate::configs::MAX_KERNELS;

/// Configurations that an image has room for: two rounds. With more, generation samples them at a fixed stride.
pub const CONFIGS: usize = if cfg!(feature = "sms-132") { LARGE_CONFIGS } else { 64 };

/// Configurations of the image with the feature `sms-132`.
pub const LARGE_CONFIGS: usize = 2 * LARGE_SMS as usize;

/// Core cycles after which the watchdog of an image expires while it works: assumption, a hundred times the longest work that is
/// measured (docs/decision-latency.md), in instructions, on a microcontroller of a tenth of the core clock.
pub const WATCHDOG_CYCLES: u32 = 200_000_000;

/// Nanoseconds between two looks of an image at a register block that does not answer yet: assumption, as long as some hundred
/// instructions.
pub const BLOCK_PAUSE_NS: u32 = 10_000;

/// Looks before an image gives up: assumption, a second in all.
pub const BLOCK_TRIES: u32 = 100_000;

/// Bytes of logs that an image with the feature `defmt` keeps: a power of two. Assumption: a dozen decisions.
pub const LOG_BYTES: usize = 1024;
