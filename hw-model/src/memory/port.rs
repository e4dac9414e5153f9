//! Where the requests of SMs wait until all SMs have run their cycle.
//!
//! Whether a request may enter the crossbar depends on its SM's own injection port alone, and that port is emptied by
//! [`MemorySystem::tick`], never while SMs run. So an SM that is told at the beginning of a cycle how much room there is decides as one
//! that asks each time; and requests that enter afterwards, in the order of SMs, meet the crossbar as they would have before. An SM needs
//! nothing of the memory system while it runs a cycle, and SMs may run side by side (own).

use super::{MemorySystem, Request, RequestKind};

/// Most requests that an SM sends in a cycle: a miss of its L1, and a sector past it.
pub(super) const MOST_PER_CYCLE: usize = 2;

/// Requests of some SMs of one cycle, in the order of SMs.
#[derive(Clone, Debug)]
pub struct Outbox {
    requests: Vec<Request>,
}

impl Outbox {
    /// An empty one, with memory for a cycle of so many SMs.
    pub fn new(sms: usize) -> Self {
        Outbox { requests: Vec::with_capacity(sms * MOST_PER_CYCLE) }
    }

    /// Whether nothing has been sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// What an SM sends its requests of a cycle through, if its injection port has `room` for so many.
    #[inline]
    pub fn port(&mut self, room: u32) -> Port<'_> {
        Port { room, outbox: self }
    }
}

/// The way of one SM's requests into an [`Outbox`] during a cycle.
#[derive(Debug)]
pub struct Port<'a> {
    room: u32,
    outbox: &'a mut Outbox,
}

impl Port<'_> {
    /// Room for one more packet in the SM's injection port, whatever its flits.
    #[inline]
    pub fn can_inject(&self, _kind: RequestKind) -> bool {
        self.room > 0
    }

    /// Takes a packet.
    ///
    /// # Panics
    /// In builds with overflow checks, if there is no room ([`Port::can_inject`]); in others [`MemorySystem::inject`] will.
    #[inline]
    pub fn inject(&mut self, request: Request) {
        self.room -= 1;
        self.outbox.requests.push(request);
    }
}

impl MemorySystem {
    /// Injects all that is in `outbox`, in its order. It is empty then.
    #[inline]
    pub fn inject_all(&mut self, outbox: &mut Outbox) {
        for request in &outbox.requests {
            self.inject(*request);
        }
        outbox.requests.clear();
    }
}
