//! Requests in flight, stored once where they are, in the request subnet or in a partition; the
//! queues there carry their numbers.

use super::Request;

/// Request, with its sector's local number in its slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct L2Request {
    pub(super) request: Request,
    pub(super) local: u64,
}

/// Number of a request in flight.
pub(super) type PacketId = u32;

/// Number that stands for no request.
pub(super) const NO_PACKET: PacketId = PacketId::MAX;

/// Storage for the requests in flight. Free numbers are reused, the last first.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    packets: Vec<L2Request>,
    free: Vec<PacketId>,
}

impl Packets {
    /// Creates storage for `capacity` requests: as many as all queues together can hold, so that it
    /// never grows.
    pub(super) fn new(capacity: usize) -> Self {
        Packets { packets: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    #[inline]
    pub(super) fn insert(&mut self, packet: L2Request) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.packets[id as usize] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as PacketId - 1
            }
        }
    }

    /// Number of requests in flight.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        (self.packets.len() - self.free.len()) as u64
    }

    #[inline]
    pub(super) fn get(&self, id: PacketId) -> &L2Request {
        &self.packets[id as usize]
    }

    /// Removes a request and frees its number.
    #[inline]
    pub(super) fn remove(&mut self, id: PacketId) -> L2Request {
        self.free.push(id);
        self.packets[id as usize]
    }
}
