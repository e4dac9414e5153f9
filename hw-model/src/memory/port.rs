//! Where the requests of SMs wait until all SMs have run their cycle.
//!
//! Whether a request may enter the crossbar depends on its SM's own injection port alone, and that port is emptied by
//! [`MemorySystem::tick`], never while SMs run. So an SM that is told at the beginning of a cycle how much room there is decides as one
//! that asks each time; and requests that enter afterwards, in the order of SMs, meet the crossbar as they would have before. An SM needs
//! nothing of the memory system while it runs a cycle, and SMs may run side by side (own).

use super::deferred_requests::here;
use super::quantum::MOST_CYCLES;
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

    /// Takes all requests out, in their order.
    #[inline]
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Request> {
        self.requests.drain(..)
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

/// Requests of some SMs in a quantum of cycles.
#[derive(Clone, Debug)]
pub struct Outboxes {
    /// By cycle.
    cycles: Vec<Outbox>,
    /// Cycles in which anything was sent, bit per cycle.
    sent: u64,
    sms: usize,
}

impl Outboxes {
    /// Empty ones, with memory for so many SMs.
    pub fn new(sms: usize) -> Self {
        Outboxes { cycles: (0..MOST_CYCLES).map(|_| Outbox::new(sms)).collect(), sent: 0, sms }
    }

    /// Empty ones with as much memory.
    pub fn like(&self) -> Self {
        Outboxes::new(self.sms)
    }

    /// From cycle `cycle` on, the first being 0, which also serves a cycle by itself.
    #[inline]
    pub fn from(&mut self, cycle: usize) -> &mut [Outbox] {
        &mut self.cycles[cycle..]
    }

    /// Notes in which cycles anything was sent, so that who injects it looks into no other outbox:
    /// they are in the cache of the core that ran the SMs.
    pub fn note_sent(&mut self) {
        let bits = self.cycles.iter().enumerate().map(|(cycle, outbox)| u64::from(!outbox.is_empty()) << cycle);
        self.sent = bits.sum();
    }

    /// Cycles in which anything was sent.
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
    /// Injects all that is in `outbox`, in its order. It is empty then.
    #[inline]
    pub fn inject_all(&mut self, outbox: &mut Outbox) {
        here(self.requests.as_deref_mut()).inject_all(outbox);
    }
}
