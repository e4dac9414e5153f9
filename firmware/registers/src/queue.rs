//! The window of the queue of launches: launches that have arrived and wait for a slot, each with its descriptor (sources.md D200).
//!
//! The queue itself lies in memory and may be long. Hardware shows the firmware its head: up to [`ENTRIES`] launches, in the order in which they
//! became due, each in an entry that is its own until it is admitted. What comes behind them waits, unseen. With
//! [`super::global::QUEUE_MODE`] 1 a launch gets a slot when the firmware says so ([`super::global::QUEUE_ADMIT`]), and its launch latency
//! runs from when it came into the window.
//!
//! Registers of an entry that is empty ([`super::global::QUEUE_ENTRIES`]) are 0.

/// Offset of entry 0.
pub const BASE: u32 = 0x1000;
/// Bytes from entry to entry.
pub const STRIDE: u32 = 0x40;
/// Entries of the window (assumption: four times as many as kernels run together).
pub const ENTRIES: usize = 16;
/// The highest count of [`PASSED`], where it stays: 8 bits.
pub const MOST_PASSED: u32 = u8::MAX as u32;

/// Offset of an entry's register.
#[must_use]
pub const fn at(entry: usize, register: u32) -> u32 {
    BASE + entry as u32 * STRIDE + register
}

registers! {
    /// Which kernel it is, as in [`super::slot::IDENTITY`].
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
    /// Cycles in which it is to have its room, as in [`super::slot::LATENCY_LIMIT`].
    LATENCY_LIMIT = 0x1C, ReadOnly;
    /// How many launches came into the window before it, since reset, modulo 2^32: who is older.
    NUMBER = 0x20, ReadOnly;
    /// How often it was passed over: launches that came into the window later and were admitted before it. It saturates at
    /// [`MOST_PASSED`].
    PASSED = 0x24, ReadOnly;
}
