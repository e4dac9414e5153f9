//! The request subnet, and the requests that are on their way in it.
//!
//! Of the partitions it needs to know no more than which slices take packets, and when, so that it can move what SMs have sent in a quantum of
//! cycles while others do something else ([`super::deferred_requests`]).

use super::address::AddressMapper;
use super::counters::CounterTable;
use super::crossbar::Crossbar;
use super::flits::Flits;
use super::packets::{L2Request, PacketId, Packets};
use super::port::Outbox;
use super::{MemoryCounters, Request};
use crate::config::GpuConfig;

/// From injection ports of SMs to slices.
#[derive(Clone, Debug)]
pub struct RequestNet {
    mapper: AddressMapper,
    flits: Flits,
    subnet: Crossbar<PacketId>,
    packets: Packets,
    counters: CounterTable,
}

impl RequestNet {
    /// An empty one. All memory is allocated here.
    pub(super) fn new(config: &GpuConfig, mapper: &AddressMapper, flits: Flits) -> Self {
        let (net, sms) = (&config.interconnect, config.sm.count);
        let slices = config.dram.channels * config.l2.slices_per_channel;
        RequestNet {
            mapper: mapper.clone(),
            flits,
            // The reference counts SMs and slices as ports of one kind, SMs first, and skips port 0 at the start too.
            subnet: Crossbar::new((sms, slices), net, net.arbiter.step() - 1),
            // One on its way has room at its output.
            packets: Packets::new((sms * net.input_buffer + slices * net.output_buffer) as usize),
            counters: CounterTable::new(0),
        }
    }

    /// Packets that the injection ports have room for, from that of SM `first` on.
    #[inline]
    pub(super) fn room(&self, first: usize) -> impl Iterator<Item = u32> {
        self.subnet.room(first)
    }

    /// How many more packets the fullest injection port can take.
    pub(super) fn least_room(&self) -> u32 {
        self.subnet.least_room().0
    }

    /// Whether the SM's injection port can take one more packet.
    #[inline]
    pub(super) fn can_inject(&self, sm: u16) -> bool {
        self.subnet.can_push(sm.into())
    }

    /// Injects a packet; there must be room.
    #[inline]
    pub fn inject(&mut self, request: Request) {
        let location = self.mapper.locate(request.sector);
        let flits = self.flits.request(request.kind, request.more_sectors);
        self.counters.of(request.kernel).request_packets += u64::from(flits);
        let packet = self.packets.insert(L2Request { request, local: location.sector });
        self.subnet.push(request.sm.into(), location.slice as usize, flits, packet);
    }

    /// Injects all that is in `outbox`, in its order. It is empty then.
    #[inline]
    pub fn inject_all(&mut self, outbox: &mut Outbox) {
        outbox.drain().for_each(|request| self.inject(request));
    }

    /// One step.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.subnet.advance();
    }

    /// Slices for which a packet waits, as a bit set.
    #[inline]
    pub(super) fn waiting(&self) -> &[u64] {
        self.subnet.waiting()
    }

    /// The packet that waits for a slice leaves.
    #[inline]
    pub(super) fn pop(&mut self, slice: usize) -> Option<L2Request> {
        self.subnet.pop(slice).map(|packet| self.packets.remove(packet))
    }

    /// Whether packets wait at an injection port, or are on their way.
    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        self.subnet.has_queued()
    }

    /// No packet anywhere.
    pub(super) fn is_idle(&self) -> bool {
        self.subnet.is_idle()
    }

    /// What was counted of a kernel slot: packets that entered.
    pub(super) fn counters(&self, kernel: u8) -> MemoryCounters {
        self.counters.get(kernel)
    }

    /// Sets the counters of a kernel slot to zero.
    pub(super) fn reset_counters(&mut self, kernel: u8) {
        self.counters.reset(kernel);
    }

    /// Packets on their way.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        self.packets.held()
    }
}
