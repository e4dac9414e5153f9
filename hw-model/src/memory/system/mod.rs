//! The memory system as the SMs see it, and the order of events in it.
//!
//! One core tick is, as sources.md D72 gives it: replies leave the slices for the
//! crossbar; the DRAM cycles that fall into it; each slice takes a packet from the crossbar and runs; both subnets move
//! one step. The SMs take their replies before it and inject after it.
//!
//! Slices and channels sleep ([`super::partition`]), which is what [`MemorySystem::quiet_cycles`] is made of.
//!
//! Nothing that SMs send is seen by slices and channels before the crossbar has moved. So these may run their part of a tick while the SMs
//! still run the cycle before ([`MemorySystem::begin_tick`]), and the tick does the rest.

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

/// Crossbar, L2 and DRAM.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    mapper: AddressMapper,
    /// Slices per channel, a power of two: its logarithm.
    pub(super) slice_bits: u32,
    /// The request subnet; none while it is deferred.
    pub(super) requests: Option<Box<RequestNet>>,
    pub(super) replies: Crossbar<Reply>,
    #[expect(clippy::vec_box, reason = "they change hands between threads")]
    pub(super) partitions: Vec<Box<Partition>>,
    /// Core cycles passed.
    pub(super) core: u64,
    pub(super) interconnect: ClockDomain,
    pub(super) l2: ClockDomain,
    pub(super) dram: ClockDomain,
    /// Slices with a reply for the crossbar, bit per slice.
    pub(super) replying: Vec<u64>,
    pub(super) counters: CounterTable,
    /// What of the next tick has been done.
    pub(super) begun: Option<Begun>,
    /// Kernels that there are, bit per slot.
    pub(super) kernels: u8,
    /// What slices are to be told of who owns which ways; none where they are shared.
    pub(super) ways: Option<Box<WayChanges>>,
    /// What channels are to be told of the order of their requests, and which they have been told.
    pub(super) dram_orders: DramOrders,
    /// What one half of a quantum of cycles leaves for the other.
    pub(super) quantum: Quantum,
    /// The request subnet while it is deferred, unless it is elsewhere.
    pub(super) deferred: Option<Box<DeferredRequests>>,
    /// What it is put into, if it has been before.
    pub(super) spare: Option<Box<DeferredRequests>>,
}

/// What slices and channels have done of a tick, and what is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// Steps that the crossbar has to move.
    steps: u64,
    /// [`MemorySystem::quiet_cycles`] before. If there were any, nothing was done.
    quiet_cycles: u64,
}

impl MemorySystem {
    /// An empty memory system. All memory is allocated here.
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

    /// Room for one more packet in the SM's injection port, whatever its flits.
    #[inline]
    pub fn can_inject(&self, sm: u16, _kind: RequestKind) -> bool {
        self.requests().can_inject(sm)
    }

    /// Packets that the injection ports have room for, from that of SM `first` on.
    #[inline]
    pub fn room(&self, first: usize) -> impl Iterator<Item = u32> {
        self.requests().room(first)
    }

    /// Injects a packet.
    ///
    /// # Panics
    /// If there is no room ([`MemorySystem::can_inject`]), or no such SM.
    #[inline]
    pub fn inject(&mut self, request: Request) {
        here(self.requests.as_deref_mut()).inject(request);
    }

    /// Passes one core cycle.
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

    /// Does ahead what slices and channels have to do in the next [`MemorySystem::tick`]. What is injected until then is part of that tick
    /// all the same, and counters show nothing of it before.
    pub fn begin_tick(&mut self) {
        if self.begun.is_none() && !self.ways_may_change() && !self.dram_orders.pending() {
            let quiet_cycles = self.quiet_cycles();
            self.partitions.iter_mut().for_each(|partition| partition.swap_counters());
            let steps = self.run_slices_and_channels();
            self.partitions.iter_mut().for_each(|partition| partition.swap_counters());
            self.begun = Some(Begun { steps, quiet_cycles });
        }
    }

    /// The tick that was begun is due, if one was.
    fn end_of_begun(&mut self) -> Option<Begun> {
        let begun = self.begun.take()?;
        for partition in &mut self.partitions {
            partition.counters.take_over(&mut partition.ahead);
        }
        Some(begun)
    }

    /// All of a tick but the crossbar, which moves so many steps afterwards.
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

    /// The next reply for the SM, if its port has one. Replies arrive at one per cycle at most.
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

    /// SMs that have a reply waiting: bit `sm % 64` of word `sm / 64`.
    #[inline]
    pub fn replies_waiting(&self) -> &[u64] {
        self.replies.waiting()
    }

    /// No packet anywhere, write-backs included.
    pub fn is_idle(&self) -> bool {
        self.requests().is_idle() && self.replies.is_idle() && self.partitions.iter().all(|partition| partition.is_idle())
    }

    /// Core cycles for which [`MemorySystem::tick`] would change nothing but the time, if nothing is injected; 0 if
    /// unknown, [`u64::MAX`] if for ever. Replies that wait for an SM do not count.
    pub fn quiet_cycles(&self) -> u64 {
        if self.ways.as_ref().is_some_and(|ways| ways.pending()) || self.dram_orders.pending() {
            return 0;
        }
        if let Some(begun) = self.begun {
            // Only requests may have come since.
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

    /// Passes `cycles` core cycles at once; at most [`MemorySystem::quiet_cycles`].
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

    /// Event counts of a kernel slot (0 to 7) since the start or since they were reset.
    pub fn counters(&self, kernel: u8) -> MemoryCounters {
        let mut sum = self.counters.get(kernel);
        sum.add(&self.requests().counters(kernel));
        self.partitions.iter().for_each(|partition| sum.add(&partition.counters.get(kernel)));
        sum
    }

    /// L2 look-ups of an SM's requests whose replies it has taken since the start, all kernels together.
    pub fn sm_l2(&self, sm: usize) -> SmL2 {
        self.counters.sm_l2(sm)
    }

    /// Sets the counters of a kernel slot to zero, for its next launch.
    pub fn reset_counters(&mut self, kernel: u8) {
        self.counters.reset(kernel);
        here(self.requests.as_deref_mut()).reset_counters(kernel);
        self.partitions.iter_mut().for_each(|partition| partition.counters.reset(kernel));
    }

    /// Brings the sector of byte address / 32 `sector` into L2 at once, clean: a copy from the host passes through L2.
    pub fn preload(&mut self, sector: u64) {
        let location = self.mapper.locate(sector);
        let (partition, place) = self.find_mut(location.slice as usize);
        partition.slices[place].preload(location.sector);
    }

    /// Each slice gives the crossbar one reply, if it has one and there is room.
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

    /// The number of the partition that a slice is in, and its place there.
    #[inline]
    pub(super) fn place_of(&self, slice: usize) -> (usize, usize) {
        place_of(slice, self.slice_bits)
    }

    /// The partition that a slice is in, and its place there.
    #[inline]
    pub(super) fn find_mut(&mut self, slice: usize) -> (&mut Partition, usize) {
        let (partition, place) = self.place_of(slice);
        (&mut self.partitions[partition], place)
    }

    /// The request subnet.
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
