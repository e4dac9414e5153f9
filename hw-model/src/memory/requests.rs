//! Request subnet, with the requests in flight in it.
//!
//! Of the partitions it needs only which slices accept packets, and when. So it can move the
//! requests of a quantum of cycles in parallel with other components
//! ([`super::deferred_requests`]).

use super::address::AddressMapper;
use super::counters::CounterTable;
use super::crossbar::Crossbar;
use super::flits::Flits;
use super::packets::{L2Request, PacketId, Packets};
use super::port::Outbox;
use super::{MemoryCounters, Request};
use crate::config::GpuConfig;

/// Subnet from the injection ports of SMs to slices.
#[derive(Clone, Debug)]
pub struct RequestNet {
    mapper: AddressMapper,
    flits: Flits,
    subnet: Crossbar<PacketId>,
    packets: Packets,
    counters: CounterTable,
}

impl RequestNet {
    /// Creates an empty subnet. All memory is allocated here.
    pub(super) fn new(config: &GpuConfig, mapper: &AddressMapper, flits: Flits) -> Self {
        let (net, sms) = (&config.interconnect, config.sm.count);
        let slices = config.dram.channels * config.l2.slices_per_channel;
        RequestNet {
            mapper: mapper.clone(),
            flits,
            // The reference counts SMs and slices as ports of one kind, SMs first, and skips port 0
            // at the start too.
            subnet: Crossbar::new((sms, slices), net, net.arbiter.step() - 1),
            // A packet in transfer has reserved space at its output.
            packets: Packets::new((sms * net.input_buffer + slices * net.output_buffer) as usize),
            counters: CounterTable::new(0),
        }
    }

    /// Free entries of the injection ports, from that of SM `first` on.
    #[inline]
    pub(super) fn room(&self, first: usize) -> impl Iterator<Item = u32> {
        self.subnet.room(first)
    }

    /// Free entries of the fullest injection port.
    pub(super) fn least_room(&self) -> u32 {
        self.subnet.least_room().0
    }

    /// True if the SM's injection port can take one more packet.
    #[inline]
    pub(super) fn can_inject(&self, sm: u16) -> bool {
        self.subnet.can_push(sm.into())
    }

    /// Injects a packet; there must be space.
    #[inline]
    pub fn inject(&mut self, request: Request) {
        let location = self.mapper.locate(request.sector);
        let flits = self.flits.request(request.kind, request.more_sectors);
        self.counters.of(request.kernel).request_packets += u64::from(flits);
        let packet = self.packets.insert(L2Request { request, local: location.sector });
        self.subnet.push(request.sm.into(), location.slice as usize, flits, packet);
    }

    /// Injects all requests in `outbox`, in order, and empties it.
    #[inline]
    pub fn inject_all(&mut self, outbox: &mut Outbox) {
        outbox.drain().for_each(|request| self.inject(request));
    }

    /// Runs one step.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.subnet.advance();
    }

    /// Set of slices for which a packet waits.
    #[inline]
    pub(super) fn waiting(&self) -> &[u64] {
        self.subnet.waiting()
    }

    /// Removes the packet that waits for a slice.
    #[inline]
    pub(super) fn pop(&mut self, slice: usize) -> Option<L2Request> {
        self.subnet.pop(slice).map(|packet| self.packets.remove(packet))
    }

    /// True if packets wait at an injection port, or are in transfer.
    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        self.subnet.has_queued()
    }

    /// True if the subnet has no packet.
    pub(super) fn is_idle(&self) -> bool {
        self.subnet.is_idle()
    }

    /// Counters of a kernel slot: packets that entered.
    pub(super) fn counters(&self, kernel: u8) -> MemoryCounters {
        self.counters.get(kernel)
    }

    /// Sets the counters of a kernel slot to zero.
    pub(super) fn reset_counters(&mut self, kernel: u8) {
        self.counters.reset(kernel);
    }

    /// Number of packets in the subnet.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        self.packets.held()
    }
}
