//! Memory system from the SMs' side, and the order of its events.
//!
//! One core tick has these steps (sources.md D72): replies leave the slices for the crossbar; the
//! DRAM cycles of the tick run; each slice takes a packet from the crossbar and runs; both subnets
//! advance one step. The SMs take their replies before it and inject after it.
//!
//! Slices and channels sleep ([`super::partition`]), which determines
//! [`MemorySystem::quiet_cycles`].
//!
//! Slices and channels see requests of SMs only after the crossbar has advanced. So they may run
//! their part of a tick while the SMs still run the previous cycle ([`MemorySystem::begin_tick`]),
//! and the tick does the rest.

use super::address::AddressMapper;
use super::clock::ClockDomain;
use super::counters::{CounterTable, MemoryCounters, SmL2};
use super::crossbar::Crossbar;
use super::deferred_requests::{DeferredRequests, here, place_of};
use super::dram_orders::DramOrders;
use super::flits::Flits;
use super::l2::L2Slice;
use super::partition::Partition;
use super::quantum::Quantum;
use super::requests::RequestNet;
use super::ways::WayChanges;
use super::{Reply, Request, RequestKind};
use crate::config::GpuConfig;
use crate::counts::Count;

/// Memory system: crossbar, L2 and DRAM.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    mapper: AddressMapper,
    /// Logarithm of the slices per channel, a power of two.
    pub(super) slice_bits: u32,
    /// Request subnet; none while it is deferred.
    pub(super) requests: Option<Box<RequestNet>>,
    pub(super) replies: Crossbar<Reply>,
    #[expect(clippy::vec_box, reason = "they change hands between threads")]
    pub(super) partitions: Vec<Box<Partition>>,
    /// Number of core cycles passed.
    pub(super) core: u64,
    pub(super) interconnect: ClockDomain,
    pub(super) l2: ClockDomain,
    pub(super) dram: ClockDomain,
    /// Set of slices with a reply for the crossbar.
    pub(super) replying: Vec<u64>,
    pub(super) counters: CounterTable,
    /// Completed part of the next tick.
    pub(super) begun: Option<Begun>,
    /// Mask of the resident kernels.
    pub(super) kernels: u8,
    /// Pending changes of the ownership of ways; none where they are shared.
    pub(super) ways: Option<Box<WayChanges>>,
    /// Pending changes of the order of DRAM requests, and the current order.
    pub(super) dram_orders: DramOrders,
    /// Data that one half of a quantum of cycles leaves for the other.
    pub(super) quantum: Quantum,
    /// Deferred request subnet, unless it is lent.
    pub(super) deferred: Option<Box<DeferredRequests>>,
    /// Container for the next deferral, after the first one.
    pub(super) spare: Option<Box<DeferredRequests>>,
}

/// Completed part of a tick by slices and channels, and the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// Number of steps of the crossbar.
    steps: u64,
    /// [`MemorySystem::quiet_cycles`] at the start. If there were any, nothing was done.
    quiet_cycles: u64,
}

impl MemorySystem {
    /// Creates an empty memory system. All memory is allocated here.
    ///
    /// `config` must have passed [`GpuConfig::check`].
    pub fn new(config: &GpuConfig) -> Self {
        let clocks = &config.clocks;
        let net = &config.interconnect;
        let channels = config.dram.channels;
        let slices = channels * config.l2.slices_per_channel;
        let (mapper, flits) = (AddressMapper::new(&config.dram, &config.l2), Flits::new(net));
        MemorySystem {
            partitions: (0..channels).map(|_| Box::new(Partition::new(config, &mapper, flits))).collect(),
            requests: Some(Box::new(RequestNet::new(config, &mapper, flits))),
            mapper,
            slice_bits: config.l2.slices_per_channel.trailing_zeros(),
            replies: Crossbar::new((slices, config.sm.count), net, 0),
            core: 0,
            interconnect: ClockDomain::new(clocks.interconnect_khz, clocks.core_khz),
            l2: ClockDomain::new(clocks.l2_khz, clocks.core_khz),
            dram: ClockDomain::new(clocks.dram_khz, clocks.core_khz),
            replying: vec![0; slices.div_ceil(64) as usize],
            counters: CounterTable::new(config.sm.count),
            begun: None,
            kernels: 0,
            ways: config.l2.partition.as_ref().map(|_| Box::new(WayChanges::new(config))),
            dram_orders: DramOrders::new(&config.dram),
            quantum: Quantum::new(config),
            deferred: None,
            spare: None,
        }
    }

    /// True if the SM's injection port has space for one more packet of any length.
    #[inline]
    pub fn can_inject(&self, sm: u16, _kind: RequestKind) -> bool {
        self.requests().can_inject(sm)
    }

    /// Free entries of the injection ports, from that of SM `first` on, in packets.
    #[inline]
    pub fn room(&self, first: usize) -> impl Iterator<Item = u32> {
        self.requests().room(first)
    }

    /// Injects a packet.
    ///
    /// # Panics
    /// If there is no space ([`MemorySystem::can_inject`]), or no such SM.
    #[inline]
    pub fn inject(&mut self, request: Request) {
        here(self.requests.as_deref_mut()).inject(request);
    }

    /// Advances by one core cycle.
    pub fn tick(&mut self) {
        let steps = match self.end_of_begun() {
            Some(begun) => begun.steps,
            None => self.run_slices_and_channels(),
        };
        let requests = here(self.requests.as_deref_mut());
        for _ in 0..steps {
            requests.advance();
            self.replies.advance();
        }
        self.core += 1;
    }

    /// Runs the part of slices and channels of the next [`MemorySystem::tick`] ahead. Packets
    /// injected until then still belong to that tick, and counters do not show it earlier.
    pub fn begin_tick(&mut self) {
        if self.begun.is_none() && !self.ways_may_change() && !self.dram_orders.pending() {
            let quiet_cycles = self.quiet_cycles();
            self.partitions.iter_mut().for_each(|partition| partition.swap_counters());
            let steps = self.run_slices_and_channels();
            self.partitions.iter_mut().for_each(|partition| partition.swap_counters());
            self.begun = Some(Begun { steps, quiet_cycles });
        }
    }

    /// Finishes the tick that was begun, if one was.
    fn end_of_begun(&mut self) -> Option<Begun> {
        let begun = self.begun.take()?;
        for partition in &mut self.partitions {
            partition.counters.take_over(&mut partition.ahead);
        }
        Some(begun)
    }

    /// Runs a tick except for the crossbar. Returns the number of crossbar steps that must follow.
    fn run_slices_and_channels(&mut self) -> u64 {
        if self.ways.is_some() {
            self.apply_ways();
        }
        if self.dram_orders.pending() {
            self.apply_dram_orders();
        }
        let steps = self.interconnect.advance(1);
        for _ in steps.clone() {
            self.slices_to_crossbar();
        }
        let dram = self.dram.advance(1);
        for partition in &mut self.partitions {
            partition.run_channel(dram.clone(), self.core);
        }
        for now in self.l2.advance(1) {
            self.run_slices(now);
        }
        steps.end - steps.start
    }

    /// Next reply for the SM, if its port has one. At most one reply arrives per cycle.
    #[inline]
    pub fn peek_reply(&self, sm: u16) -> Option<&Reply> {
        self.replies.peek(sm.into())
    }

    /// Takes the next reply for the SM.
    #[inline]
    pub fn pop_reply(&mut self, sm: u16) -> Option<Reply> {
        let reply = self.replies.pop(sm.into());
        if let Some(reply) = &reply {
            self.counters.l2_replied(sm, reply.l2_hit);
        }
        reply
    }

    /// Set of SMs with a waiting reply: bit `sm % 64` of word `sm / 64`.
    #[inline]
    pub fn replies_waiting(&self) -> &[u64] {
        self.replies.waiting()
    }

    /// True if the memory system has no packet, including write-backs.
    pub fn is_idle(&self) -> bool {
        self.requests().is_idle() && self.replies.is_idle() && self.partitions.iter().all(|partition| partition.is_idle())
    }

    /// Number of core cycles in which [`MemorySystem::tick`] would change only the time, if nothing
    /// is injected; 0 if unknown, [`u64::MAX`] if unlimited. Replies that wait for an SM do not
    /// count.
    pub fn quiet_cycles(&self) -> u64 {
        if self.ways.as_ref().is_some_and(|ways| ways.pending()) || self.dram_orders.pending() {
            return 0;
        }
        if let Some(begun) = self.begun {
            // Only requests may have arrived since.
            return if self.requests().has_queued() { 0 } else { begun.quiet_cycles };
        }
        if self.requests().has_queued() || self.replies.has_queued() || self.replying.iter().any(|&word| word != 0) {
            return 0;
        }
        if self.requests().waiting().iter().any(|&word| word != 0) {
            return 0;
        }
        let quiet = self.partitions.iter().map(|partition| partition.quiet_cycles(self.core, &self.l2, &self.dram));
        quiet.min().unwrap_or(u64::MAX)
    }

    /// Advances by `cycles` core cycles at once; at most [`MemorySystem::quiet_cycles`].
    pub fn skip(&mut self, cycles: u64) {
        debug_assert!(cycles <= self.quiet_cycles());
        if cycles == 0 {
            return;
        }
        let ahead = u64::from(self.end_of_begun().is_some());
        self.interconnect.advance(cycles - ahead);
        self.l2.advance(cycles - ahead);
        self.dram.advance(cycles - ahead);
        self.core += cycles;
    }

    /// Event counts of a kernel slot (0 to 7) since the start or the last reset.
    pub fn counters(&self, kernel: u8) -> MemoryCounters {
        let mut sum = self.counters.get(kernel);
        sum.add(&self.requests().counters(kernel));
        self.partitions.iter().for_each(|partition| sum.add(&partition.counters.get(kernel)));
        sum
    }

    /// L2 look-ups of an SM's requests whose replies it has taken since the start, over all
    /// kernels.
    pub fn sm_l2(&self, sm: usize) -> SmL2 {
        self.counters.sm_l2(sm)
    }

    /// Sets the counters of a kernel slot to zero, for its next launch.
    pub fn reset_counters(&mut self, kernel: u8) {
        self.counters.reset(kernel);
        here(self.requests.as_deref_mut()).reset_counters(kernel);
        self.partitions.iter_mut().for_each(|partition| partition.counters.reset(kernel));
    }

    /// Loads a sector (byte address / 32) into the L2 at once, clean: a copy from the host passes
    /// through the L2.
    pub fn preload(&mut self, sector: u64) {
        let location = self.mapper.locate(sector);
        let (partition, place) = self.find_mut(location.slice as usize);
        partition.slices[place].preload(location.sector);
    }

    /// Lets each slice send one reply to the crossbar, if it has one and there is space.
    fn slices_to_crossbar(&mut self) {
        for w in 0..self.replying.len() {
            let mut rest = self.replying[w];
            while rest != 0 {
                let s = w * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if !self.replies.can_push(s) {
                    continue;
                }
                let (number, place) = self.place_of(s);
                let partition = &mut self.partitions[number];
                let queue = &mut partition.slices[place].to_crossbar;
                let Some(answer) = queue.pop() else { continue };
                if queue.is_empty() {
                    self.replying[w] &= !(1 << (s % 64));
                }
                let (sm, flits, reply) = partition.leave(answer);
                self.replies.push(s, sm.into(), flits, reply);
            }
        }
    }

    fn run_slices(&mut self, now: u64) {
        let requests = here(self.requests.as_deref_mut());
        for w in 0..requests.waiting().len() {
            let mut rest = requests.waiting()[w];
            while rest != 0 {
                let s = w * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let (partition, place) = place_of(s, self.slice_bits);
                if self.partitions[partition].slices[place].can_accept()
                    && let Some(packet) = requests.pop(s)
                {
                    self.partitions[partition].accept(place, packet, now);
                }
            }
        }
        for (number, partition) in self.partitions.iter_mut().enumerate() {
            for place in 0..1 << self.slice_bits {
                if partition.run_slice(place, now) && !partition.slices[place].to_crossbar.is_empty() {
                    let s = (number << self.slice_bits) + place;
                    self.replying[s / 64] |= 1 << (s % 64);
                }
            }
        }
    }

    /// Index of a slice's partition, and its index there.
    #[inline]
    pub(super) fn place_of(&self, slice: usize) -> (usize, usize) {
        place_of(slice, self.slice_bits)
    }

    /// Partition of a slice, and its index there.
    #[inline]
    pub(super) fn find_mut(&mut self, slice: usize) -> (&mut Partition, usize) {
        let (partition, place) = self.place_of(slice);
        (&mut self.partitions[partition], place)
    }

    /// Request subnet.
    #[inline]
    fn requests(&self) -> &RequestNet {
        here(self.requests.as_deref())
    }

    /// All slices.
    pub(super) fn slices_mut(&mut self) -> impl Iterator<Item = &mut L2Slice> {
        self.partitions.iter_mut().flat_map(|partition| &mut partition.slices)
    }
}

#[cfg(test)]
mod little_tests;
