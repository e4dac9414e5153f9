//! The window of the launch queue: launches that have arrived and wait for a slot, each with its
//! descriptor (sources.md D200).
//!
//! The queue itself is in memory and may be long. Hardware shows the firmware its head: up to
//! [`ENTRIES`] launches, in the order in which they became due. A launch keeps its entry until it
//! is admitted. Later launches wait and are not visible. With [`super::global::QUEUE_MODE`] 1 a
//! launch gets a slot by a firmware command ([`super::global::QUEUE_ADMIT`]). Its launch latency
//! runs from its arrival in the window.
//!
//! Registers of an empty entry ([`super::global::QUEUE_ENTRIES`]) are 0.

/// Offset of entry 0.
pub const BASE: u32 = 0x1000;
/// Bytes from entry to entry.
pub const STRIDE: u32 = 0x40;
/// Entries of the window (assumption: four times the number of kernels that run together).
pub const ENTRIES: usize = 16;
/// Highest count of [`PASSED`], at which it saturates: 8 bits.
pub const MOST_PASSED: u32 = u8::MAX as u32;

/// Returns the offset of an entry's register.
#[must_use]
pub const fn at(entry: usize, register: u32) -> u32 {
    BASE + entry as u32 * STRIDE + register
}

registers! {
    /// Identity of the kernel, as in [`super::slot::IDENTITY`].
    IDENTITY = 0x00, ReadOnly;
    /// TBs of the grid.
    GRID_TBS = 0x04, ReadOnly;
    /// Threads per TB.
    TB_THREADS = 0x08, ReadOnly;
    /// Registers per thread.
    THREAD_REGISTERS = 0x0C, ReadOnly;
    /// Shared memory per TB in bytes, static and dynamic.
    TB_SHARED_BYTES = 0x10, ReadOnly;
    /// Priority, larger is more urgent; 0 by default.
    PRIORITY = 0x14, ReadOnly;
    /// Stream that the kernel was launched into.
    STREAM = 0x18, ReadOnly;
    /// Cycles in which the kernel must have its room, as in [`super::slot::LATENCY_LIMIT`].
    LATENCY_LIMIT = 0x1C, ReadOnly;
    /// Launches that entered the window earlier, since reset, modulo 2^32. It gives the order of
    /// age.
    NUMBER = 0x20, ReadOnly;
    /// Number of times that the launch was passed over: launches that entered the window later and
    /// were admitted earlier. It saturates at [`MOST_PASSED`].
    PASSED = 0x24, ReadOnly;
}
