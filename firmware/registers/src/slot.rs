//! Registers of a kernel slot: the descriptor of one launched kernel and its progress.
//!
//! Hardware fills a free slot at launch. The slot stays occupied until the firmware releases it
//! after COMPLETED, or rejects it.

/// Offset of slot 0.
pub const BASE: u32 = 0x0800;
/// Bytes from slot to slot.
pub const STRIDE: u32 = 0x40;

/// Returns the offset of a slot's register.
#[must_use]
pub const fn at(slot: usize, register: u32) -> u32 {
    BASE + slot as u32 * STRIDE + register
}

registers! {
    /// [`super::slot_status`] bits.
    STATUS = 0x00, ReadOnly;
    /// [`super::slot_control`] commands.
    CONTROL = 0x04, WriteOnly;
    /// TBs of the grid.
    GRID_TBS = 0x08, ReadOnly;
    /// Threads per TB.
    TB_THREADS = 0x0C, ReadOnly;
    /// Registers per thread.
    THREAD_REGISTERS = 0x10, ReadOnly;
    /// Shared memory per TB in bytes, static and dynamic.
    TB_SHARED_BYTES = 0x14, ReadOnly;
    /// Priority, larger is more urgent; 0 by default.
    PRIORITY = 0x18, ReadOnly;
    /// Stream that the kernel was launched into.
    STREAM = 0x1C, ReadOnly;
    /// TBs not yet issued.
    UNISSUED_TBS = 0x20, ReadOnly;
    /// TBs not yet retired.
    UNFINISHED_TBS = 0x24, ReadOnly;
    /// Cycles from the moment at which the kernel's TBs may issue until it must have its room; 0 if
    /// the launch has no limit.
    LATENCY_LIMIT = 0x28, ReadOnly;
    /// Identity of the kernel: launches with the same number execute the same code; 0 if the host
    /// gives none.
    IDENTITY = 0x2C, ReadOnly;
}
