//! Outboxes, in which the requests of SMs wait until all SMs have run their cycle.
//!
//! A request may enter the crossbar depending only on its SM's own injection port.
//! [`MemorySystem::tick`] empties that port, and never while SMs run. So an SM that receives the
//! free space at the start of a cycle decides as one that queries it each time. Requests that enter
//! afterwards, in the order of SMs, find the crossbar in the same state. An SM needs nothing of the
//! memory system during a cycle, and SMs may run in parallel (own).

use super::deferred_requests::here;
use super::quantum::MOST_CYCLES;
use super::{MemorySystem, Request, RequestKind};

/// Maximum number of requests that an SM sends in a cycle: a miss of its L1, and a sector past it.
pub(super) const MOST_PER_CYCLE: usize = 2;

/// Requests of some SMs in one cycle, in the order of SMs.
#[derive(Clone, Debug)]
pub struct Outbox {
    requests: Vec<Request>,
}

impl Outbox {
    /// Creates an empty outbox, with memory for a cycle of `sms` SMs.
    pub fn new(sms: usize) -> Self {
        Outbox { requests: Vec::with_capacity(sms * MOST_PER_CYCLE) }
    }

    /// True if nothing has been sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Removes all requests, in order.
    #[inline]
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Request> {
        self.requests.drain(..)
    }

    /// Port for an SM's requests of a cycle, with `room` free entries in its injection port.
    #[inline]
    pub fn port(&mut self, room: u32) -> Port<'_> {
        Port { room, outbox: self }
    }
}

/// Port of one SM into an [`Outbox`] during a cycle.
#[derive(Debug)]
pub struct Port<'a> {
    room: u32,
    outbox: &'a mut Outbox,
}

impl Port<'_> {
    /// True if the SM's injection port has space for one more packet of any length.
    #[inline]
    pub fn can_inject(&self, _kind: RequestKind) -> bool {
        self.room > 0
    }

    /// Sends a packet.
    ///
    /// # Panics
    /// In builds with overflow checks, if there is no space ([`Port::can_inject`]); in others
    /// [`MemorySystem::inject`] will.
    #[inline]
    pub fn inject(&mut self, request: Request) {
        self.room -= 1;
        self.outbox.requests.push(request);
    }
}

/// Requests of some SMs in a quantum of cycles.
#[derive(Clone, Debug)]
pub struct Outboxes {
    /// Outboxes by cycle.
    cycles: Vec<Outbox>,
    /// Mask of the cycles in which anything was sent.
    sent: u64,
    sms: usize,
}

impl Outboxes {
    /// Creates empty outboxes, with memory for `sms` SMs.
    pub fn new(sms: usize) -> Self {
        Outboxes { cycles: (0..MOST_CYCLES).map(|_| Outbox::new(sms)).collect(), sent: 0, sms }
    }

    /// Creates empty outboxes with as much memory.
    pub fn like(&self) -> Self {
        Outboxes::new(self.sms)
    }

    /// Outboxes from cycle `cycle` on; the first, 0, also serves a single cycle.
    #[inline]
    pub fn from(&mut self, cycle: usize) -> &mut [Outbox] {
        &mut self.cycles[cycle..]
    }

    /// Records the cycles in which anything was sent, so that the injecting thread reads no other
    /// outbox: they are in the cache of the core that ran the SMs.
    pub fn note_sent(&mut self) {
        let bits = self.cycles.iter().enumerate().map(|(cycle, outbox)| u64::from(!outbox.is_empty()) << cycle);
        self.sent = bits.sum();
    }

    /// Number of cycles in which anything was sent.
    pub fn cycles_sent(&self) -> u32 {
        self.sent.count_ones()
    }

    /// Requests of cycle `cycle`, if there are any.
    #[inline]
    pub fn sent_in(&mut self, cycle: usize) -> Option<&mut Outbox> {
        if self.sent >> cycle & 1 == 1 { Some(&mut self.cycles[cycle]) } else { None }
    }
}

const _: () = assert!(MOST_CYCLES <= u64::BITS as u64, "a bit per cycle");

impl MemorySystem {
    /// Injects all requests in `outbox`, in order, and empties it.
    #[inline]
    pub fn inject_all(&mut self, outbox: &mut Outbox) {
        here(self.requests.as_deref_mut()).inject_all(outbox);
    }
}
