//! Device memory: one [`Channel`] per memory channel, each a controller over banks in bank groups.
//!
//! The numbers are those of sources.md D86 and D87, the mechanisms GPGPU-Sim's (sources.md D69). Options that GPGPU-Sim has not,
//! all off in the built-in machines: refresh, tFAW, a row-hit cap, orders of requests that know kernels ([`scheduler`]). One row command
//! and, if it comes later in the scan of the banks, one column command may issue in the same cycle, as in GPGPU-Sim.

mod bank;
mod candidates;
mod channel;
mod controller;
mod four_activates;
mod refresh;
mod scheduler;
mod timing;

pub(super) use channel::Channel;
pub use scheduler::{DramSettings, scheduler_bits};

use super::packets::{NOBODY, PacketId};

/// A read of what is fetched at once, a write that the L2 sends on, or the write-back of the modified sectors of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DramRequest {
    /// Local sector number of the slice, the first one; of a write-back, the line's.
    pub(super) sector: u64,
    /// The packet that is answered when it is done; of a write only, or [`NOBODY`].
    pub(super) answers: PacketId,
    /// Row.
    pub(super) row: u32,
    /// Bank.
    pub(super) bank: u32,
    /// Slice of the channel that asks.
    pub(super) slice: u8,
    /// Atoms to transfer.
    pub(super) atoms: u8,
    /// Write-back or read.
    pub(super) is_write: bool,
    /// Kernel slot.
    pub(super) kernel: u8,
}

impl Default for DramRequest {
    /// A read of no sector that answers nobody.
    fn default() -> Self {
        DramRequest { sector: 0, answers: NOBODY, row: 0, bank: 0, slice: 0, atoms: 0, is_write: false, kernel: 0 }
    }
}

/// A request whose data have all come over the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Finished {
    /// Local sector number of the slice.
    pub(super) sector: u64,
    /// The packet that is answered now, or [`NOBODY`].
    pub(super) answers: PacketId,
    /// Slice of the channel that asked.
    pub(super) slice: u8,
    /// Write-back or read.
    pub(super) is_write: bool,
}

#[cfg(test)]
mod checker_tests;
#[cfg(test)]
mod option_tests;
#[cfg(test)]
mod order_tests;
