//! Memory system beyond the SM's miss queue: crossbar, L2 slices, DRAM.
//!
//! The interface to an SM is two queues: requests in ([`Request`]), replies out ([`Reply`]). A
//! packet has one 32-byte sector, or up to a line where caches have no sectors. A reply carries the
//! SM's identifier of its request.
//!
//! ```text
//! SM -> crossbar -> delay -> L2 slice -> miss queue -> delay -> memory controller -> banks
//! SM <- crossbar <---------- L2 slice <------------------------------ return queue <---+
//! ```

mod address;
mod clock;
mod counters;
mod crossbar;
mod deferred_requests;
mod dram;
mod dram_orders;
mod flits;
mod l2;
mod packets;
mod partition;
mod port;
mod quantum;
mod random_arbiter;
mod requests;
mod system;
mod ways;

pub use counters::{KERNEL_SLOTS, MemoryCounters, SmL2};
pub use deferred_requests::DeferredRequests;
pub use dram::{DramSettings, scheduler_bits};
pub use port::{Outbox, Outboxes, Port};
pub use quantum::{Lent, MOST_CYCLES as MAX_QUANTUM_CYCLES, most_arrivals};
pub use requests::RequestNet;
pub use system::MemorySystem;

#[cfg(test)]
mod system_tests;

/// Kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// Read; the reply carries data.
    #[default]
    Read,
    /// Write of the bytes of `byte_mask`; the reply is an acknowledgment.
    Write,
    /// Read-modify-write at the L2; the reply carries data.
    Atomic,
}

/// Packet from an SM to an L2 slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Byte address / 32 of the first sector.
    pub sector: u64,
    /// Bytes of the sector that are written; all ones for reads, and where caches have no sectors.
    pub byte_mask: u32,
    /// Number of further sectors that are requested or written. 0 where caches have sectors.
    pub more_sectors: u8,
    /// Issuing SM.
    pub sm: u16,
    /// Kernel slot, for the counters.
    pub kernel: u8,
    /// Kind of request.
    pub kind: RequestKind,
    /// Identifier chosen by the SM.
    pub tag: u32,
}

/// Packet from an L2 slice to an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Byte address / 32.
    pub sector: u64,
    /// Kind of the request.
    pub kind: RequestKind,
    /// Kernel slot.
    pub kernel: u8,
    /// Identifier of the request.
    pub tag: u32,
    /// True if the request hit in the L2.
    pub l2_hit: bool,
}
