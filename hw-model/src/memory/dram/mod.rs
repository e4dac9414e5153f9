//! Device memory: one [`Channel`] per memory channel, each a controller over banks in bank groups.
//!
//! The numbers are those of sources.md D86 and D87, and the mechanisms are GPGPU-Sim's (sources.md
//! D69). Options beyond GPGPU-Sim are off in the built-in GPUs: refresh, tFAW, a row-hit cap,
//! and orders of requests that distinguish kernels ([`scheduler`]). One row command and, if it
//! comes later in the scan of the banks, one column command may issue in the same cycle, as in
//! GPGPU-Sim.

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

use super::packets::{NO_PACKET, PacketId};

/// DRAM request: a fetch, a write that the L2 forwards, or the write-back of the modified sectors
/// of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DramRequest {
    /// First local sector number in the slice; for a write-back, that of the line.
    pub(super) sector: u64,
    /// Packet that is answered at completion; only for a write, or [`NO_PACKET`].
    pub(super) answers: PacketId,
    /// Row of the request.
    pub(super) row: u32,
    /// Bank of the request.
    pub(super) bank: u32,
    /// Requesting slice of the channel.
    pub(super) slice: u8,
    /// Number of atoms to transfer.
    pub(super) atoms: u8,
    /// True for a write or write-back, false for a read.
    pub(super) is_write: bool,
    /// Kernel slot.
    pub(super) kernel: u8,
}

impl Default for DramRequest {
    /// Default: a read of no sector that answers no packet.
    fn default() -> Self {
        DramRequest { sector: 0, answers: NO_PACKET, row: 0, bank: 0, slice: 0, atoms: 0, is_write: false, kernel: 0 }
    }
}

/// Request whose data have all crossed the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Finished {
    /// Local sector number in the slice.
    pub(super) sector: u64,
    /// Packet that is answered now, or [`NO_PACKET`].
    pub(super) answers: PacketId,
    /// Requesting slice of the channel.
    pub(super) slice: u8,
    /// True for a write or write-back, false for a read.
    pub(super) is_write: bool,
}

#[cfg(test)]
mod checker_tests;
#[cfg(test)]
mod option_tests;
#[cfg(test)]
mod order_tests;
