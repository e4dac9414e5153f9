//! Second half of a quantum of cycles: the request subnet moves the requests of SMs, at once or
//! deferred.
//!
//! It is independent of the first half of the next quantum: a packet that a slice accepts leaves
//! its delay after the end of the next quantum ([`MemorySystem::longest_quantum`] ensures this). So
//! the subnet may be [deferred](MemorySystem::defer_requests) by a quantum. It then runs in another
//! thread while the reply subnet does the next step. Packets accepted for slices meanwhile wait in
//! lists, and the slices take them before they run again.

use super::MemorySystem;
use super::packets::L2Request;
use super::port::{MOST_PER_CYCLE, Outboxes};
use super::quantum::{Ticks, Turned};
use super::requests::RequestNet;

/// Data that the first half of a quantum leaves for the second.
#[derive(Clone, Debug, Default)]
pub(super) struct SecondHalf {
    /// Ticks by core cycle.
    pub(super) ticks: Vec<Ticks>,
    /// Initial set of slices that accept packets, and its changes, by time.
    pub(super) accepting: Vec<u64>,
    pub(super) turns: Vec<(usize, Turned)>,
    turned: usize,
}

impl SecondHalf {
    /// Creates empty data with memory for these numbers of ticks, slices and turns.
    pub(super) fn new(ticks: usize, slices: usize, turns: usize) -> Self {
        SecondHalf {
            ticks: Vec::with_capacity(ticks),
            accepting: vec![0; slices.div_ceil(64)],
            turns: Vec::with_capacity(turns),
            turned: 0,
        }
    }

    /// Runs the second half of the quantum. `inject` injects the requests of each cycle, the first
    /// being 0; `deliver` receives each packet that a slice accepts, with the L2 cycle.
    fn run(
        &mut self,
        requests: &mut RequestNet,
        mut inject: impl FnMut(&mut RequestNet, usize),
        mut deliver: impl FnMut(usize, u64, L2Request),
    ) {
        self.turned = 0;
        for cycle in 0..self.ticks.len() {
            let Ticks { steps, l2, .. } = self.ticks[cycle].clone();
            for now in l2 {
                self.slices_accept(requests, now, &mut deliver);
            }
            for _ in 0..steps {
                requests.advance();
            }
            inject(requests, cycle);
        }
    }

    #[inline]
    fn slices_accept(&mut self, requests: &mut RequestNet, now: u64, deliver: &mut impl FnMut(usize, u64, L2Request)) {
        for w in 0..requests.waiting().len() {
            let waiting = requests.waiting()[w];
            let mut rest = if waiting == 0 { 0 } else { waiting & self.accepting_in(now)[w] };
            while rest != 0 {
                let slice = w * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if let Some(packet) = requests.pop(slice) {
                    deliver(slice, now, packet);
                }
            }
        }
    }

    /// Set of slices that accept packets in L2 cycle `now`; cycles must be queried in order.
    fn accepting_in(&mut self, now: u64) -> &[u64] {
        while let Some(&(slice, Turned { accepts, .. })) = self.turns.get(self.turned).filter(|(_, turn)| turn.from <= now) {
            put(&mut self.accepting, slice, accepts);
            self.turned += 1;
        }
        &self.accepting
    }
}

pub(super) fn put(set: &mut [u64], member: usize, is_in: bool) {
    set[member / 64] = set[member / 64] & !(1 << (member % 64)) | u64::from(is_in) << (member % 64);
}

/// Packet that slice `place` of a partition has accepted in L2 cycle `now`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) place: u16,
    pub(super) now: u64,
    pub(super) packet: L2Request,
}

/// Request subnet, deferred by a quantum, with all data that it needs to catch up. Any thread may
/// run it.
#[derive(Clone, Debug)]
pub struct DeferredRequests {
    requests: Option<Box<RequestNet>>,
    half: SecondHalf,
    /// Requests of SMs, by group.
    sent: Vec<Outboxes>,
    /// Packets that slices have accepted, by partition.
    accepted: Vec<Vec<Accepted>>,
    slice_bits: u32,
}

impl DeferredRequests {
    /// Runs the deferred cycles.
    pub fn run(&mut self) {
        let DeferredRequests { requests, half, sent, accepted, slice_bits } = self;
        let Some(requests) = requests else { return };
        let inject = |requests: &mut RequestNet, cycle| {
            for outbox in sent.iter_mut().filter_map(|outboxes| outboxes.sent_in(cycle)) {
                requests.inject_all(outbox);
            }
        };
        half.run(requests, inject, |slice, now, packet| {
            let (partition, place) = place_of(slice, *slice_bits);
            accepted[partition].push(Accepted { place: place as u16, now, packet });
        });
    }

    /// Number of deferred cycles.
    pub(super) fn cycles(&self) -> u64 {
        self.half.ticks.len() as u64
    }

    /// Lower bound for the free entries of the fullest injection port after the deferred cycles.
    pub(super) fn least_room(&self) -> u32 {
        let now = self.requests.as_ref().map_or(0, |requests| requests.least_room());
        now.saturating_sub((MOST_PER_CYCLE * self.half.ticks.len()) as u32)
    }
}

impl MemorySystem {
    /// Runs the second half of the planned quantum. `inject` must inject the requests of each
    /// cycle, the first being 0.
    pub fn catch_up(&mut self, inject: impl FnMut(&mut RequestNet, usize)) {
        self.take_accepted();
        let MemorySystem { requests, partitions, quantum, slice_bits, .. } = self;
        quantum.half.run(here(requests.as_deref_mut()), inject, |slice, now, packet| {
            let (partition, place) = place_of(slice, *slice_bits);
            partitions[partition].accept(place, packet, now);
        });
    }

    /// True if another quantum may be as long as the planned one if its second half is deferred.
    pub fn may_defer_requests(&self) -> bool {
        let cycles = self.quantum.half.ticks.len() as u64;
        let room = here(self.requests.as_deref()).least_room();
        2 * cycles <= self.quantum.delay && 2 * cycles * MOST_PER_CYCLE as u64 <= u64::from(room)
    }

    /// Defers the second half of the planned quantum. The requests of SMs are in `sent`, by group,
    /// which is then emptied. Until it has run, only the first half of another quantum may follow.
    pub fn defer_requests<'a>(&mut self, sent: impl Iterator<Item = &'a mut Outboxes>) {
        let mut deferred = self.spare.take().unwrap_or_else(|| {
            Box::new(DeferredRequests {
                requests: None,
                half: self.quantum.half.clone(),
                sent: Vec::new(),
                accepted: self.partitions.iter().map(|partition| Vec::with_capacity(partition.accepted.capacity())).collect(),
                slice_bits: self.slice_bits,
            })
        });
        deferred.requests = self.requests.take();
        std::mem::swap(&mut deferred.half, &mut self.quantum.half);
        for (at, outboxes) in sent.enumerate() {
            if deferred.sent.len() == at {
                deferred.sent.push(outboxes.like());
            }
            std::mem::swap(&mut deferred.sent[at], outboxes);
        }
        self.deferred = Some(deferred);
    }

    /// Lends the deferred subnet to another thread. It must be
    /// [returned](MemorySystem::has_caught_up) before SMs run.
    pub fn lend_deferred(&mut self) -> Option<Box<DeferredRequests>> {
        self.deferred.take()
    }

    /// Takes the request subnet back. Slices take their accepted packets when they next run.
    pub fn has_caught_up(&mut self, mut deferred: Box<DeferredRequests>) {
        self.requests = deferred.requests.take();
        for (partition, accepted) in self.partitions.iter_mut().zip(&mut deferred.accepted) {
            debug_assert!(partition.accepted.is_empty());
            std::mem::swap(&mut partition.accepted, accepted);
        }
        self.spare = Some(deferred);
    }

    /// Runs a deferred request subnet at once.
    pub fn catch_up_now(&mut self) {
        if let Some(mut deferred) = self.deferred.take() {
            self.take_accepted();
            deferred.run();
            self.has_caught_up(deferred);
            self.take_accepted();
        }
    }

    fn take_accepted(&mut self) {
        self.partitions.iter_mut().for_each(|partition| partition.take_accepted());
    }
}

/// Returns the request subnet, which must not be deferred.
#[inline]
pub(super) fn here<T>(requests: Option<T>) -> T {
    requests.expect("the request subnet has caught up")
}

/// Partition of a slice, and its index there.
#[inline]
pub(super) fn place_of(slice: usize, slice_bits: u32) -> (usize, usize) {
    (slice >> slice_bits, slice & ((1 << slice_bits) - 1))
}
