//! Memory partition: a channel, the L2 slices that share it, and their requests. Partitions are
//! connected only by the crossbar, so each can run on its own thread.
//!
//! Slices and channels sleep: each has the number of its next cycle, and new input moves it
//! forward. A skipped cycle would have changed nothing.

use super::address::AddressMapper;
use super::clock::ClockDomain;
use super::counters::CounterTable;
use super::deferred_requests::Accepted;
use super::dram::Channel;
use super::flits::Flits;
use super::l2::{Answer, L2Slice};
use super::packets::{L2Request, Packets};
use super::quantum::{Answered, Ticks, Turned, most_ticks};
use super::{Reply, Request};
use crate::config::{GpuConfig, L2WriteMiss};
use std::ops::Range;

/// Memory partition.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub(super) slices: Vec<L2Slice>,
    pub(super) channel: Channel,
    pub(super) packets: Packets,
    mapper: AddressMapper,
    /// Next L2 cycle of each slice.
    slice_wake: Vec<u64>,
    /// Next DRAM cycle of the channel.
    channel_wake: u64,
    /// Core cycle in which the channel's delay ends.
    delay_ends: u64,
    pub(super) counters: CounterTable,
    /// Counts of a tick that runs ahead, invisible before the tick.
    pub(super) ahead: CounterTable,
    /// Answers of the slices in a quantum of cycles, in the order of time, and number of those sent
    /// to the crossbar.
    pub(super) answers: Vec<Answered>,
    pub(super) sent: usize,
    /// Set of slices that accept packets from the crossbar at the start of a quantum, and its
    /// changes.
    pub(super) accepting: u64,
    pub(super) turns: Vec<Turned>,
    /// Packets accepted for slices that have not taken them yet, since the request subnet was
    /// deferred.
    pub(super) accepted: Vec<Accepted>,
    flits: Flits,
}

impl Partition {
    /// Creates an empty partition. All memory is allocated here.
    pub(super) fn new(config: &GpuConfig, mapper: &AddressMapper, flits: Flits) -> Self {
        let (queues, clocks) = (&config.l2.queues, &config.clocks);
        let slices = config.l2.slices_per_channel;
        // Writes that DRAM acknowledges travel there and back.
        let to_dram_and_back = match config.l2.write_miss {
            L2WriteMiss::LazyFetch => 0,
            L2WriteMiss::Fetch => config.l2.miss_queue + queues.to_dram + config.dram.queue + config.dram.return_queue + queues.from_dram,
        };
        let per_slice =
            config.l2.latency + 2 * queues.from_crossbar + config.l2.mshrs * config.l2.mshr_merges + to_dram_and_back + queues.to_crossbar;
        let channel = Channel::new(config);
        // In each of its cycles a slice accepts at most one packet, and changes its acceptance at
        // most once.
        let slice_cycles = most_ticks(clocks.l2_khz, clocks.core_khz) * slices as usize;
        Partition {
            packets: Packets::new((slices * per_slice) as usize),
            mapper: mapper.clone(),
            slices: (0..slices).map(|_| L2Slice::new(&config.l2)).collect(),
            slice_wake: vec![u64::MAX; slices as usize],
            channel_wake: channel.first_event(),
            channel,
            delay_ends: u64::MAX,
            counters: CounterTable::new(0),
            ahead: CounterTable::new(0),
            answers: Vec::with_capacity(most_ticks(clocks.interconnect_khz, clocks.core_khz) * slices as usize),
            sent: 0,
            accepting: 0,
            turns: Vec::with_capacity(slice_cycles),
            accepted: Vec::with_capacity(slice_cycles),
            flits,
        }
    }

    /// Passes a packet from the crossbar to slice `place` in L2 cycle `now`.
    #[inline]
    pub(super) fn accept(&mut self, place: usize, packet: L2Request, now: u64) {
        let leaves = self.slices[place].accept(self.packets.insert(packet), now);
        self.slice_wake[place] = self.slice_wake[place].min(leaves);
    }

    /// Passes the accepted packets to the slices.
    pub(super) fn take_accepted(&mut self) {
        let mut accepted = std::mem::take(&mut self.accepted);
        for Accepted { place, now, packet } in accepted.drain(..) {
            self.accept(place.into(), packet, now);
        }
        self.accepted = accepted;
    }

    /// Removes an answered request: its SM, the flits of the reply, and the reply.
    #[inline]
    pub(super) fn leave(&mut self, Answer { id, hit }: Answer) -> (u16, u8, Reply) {
        let Request { sector, kind, more_sectors, kernel, tag, sm, .. } = self.packets.remove(id).request;
        let flits = self.flits.reply(kind, more_sectors);
        self.counters.of(kernel).reply_packets += u64::from(flits);
        (sm, flits, Reply { sector, kind, kernel, tag, l2_hit: hit })
    }

    /// Starts or stops counting separately, for a tick that runs ahead.
    pub(super) fn swap_counters(&mut self) {
        self.counters.swap_kernels(&mut self.ahead);
    }

    /// Runs the channel for the DRAM cycles `cycles` of core cycle `core`.
    #[inline(always)]
    pub(super) fn run_channel(&mut self, cycles: Range<u64>, core: u64) {
        if self.delay_ends <= core {
            self.channel_wake = self.channel_wake.min(cycles.start);
        }
        let mut t = self.channel_wake.max(cycles.start);
        while t < cycles.end {
            let (next, filled) = self.channel.cycle(t, core, &mut self.slices, &self.mapper, &mut self.counters);
            if let Some(place) = filled {
                self.slice_wake[place] = 0;
            }
            self.delay_ends = self.channel.delay_ends();
            self.channel_wake = next;
            t = if self.delay_ends <= core { t + 1 } else { next };
        }
    }

    /// Runs cycle `now` of slice `place`, if it is awake. Returns true if it was.
    #[inline(always)]
    pub(super) fn run_slice(&mut self, place: usize, now: u64) -> bool {
        if self.slice_wake[place] > now {
            return false;
        }
        let slice = &mut self.slices[place];
        if slice.cycle(now, &self.packets, &mut self.counters) {
            self.channel.look_at(place, slice);
            self.channel_wake = 0;
        }
        self.slice_wake[place] = slice.next_event(now);
        true
    }

    /// True if anything happens in the partition up to and including the ticks of `end` and before
    /// core cycle `core`, apart from arrivals from the crossbar.
    pub(super) fn has_work(&self, end: &Ticks, core: u64) -> bool {
        self.channel_wake < end.dram.end
            || self.delay_ends < core
            || self.slice_wake.iter().any(|&wake| wake < end.l2.end)
            || self.slices.iter().any(|slice| !slice.to_crossbar.is_empty())
    }

    /// Runs the cycles of `ticks`, the first of which is core cycle `core`, without arrivals from
    /// the crossbar.
    pub(super) fn run_ahead(&mut self, ticks: &[Ticks], core: u64) {
        self.take_accepted();
        self.answers.clear();
        self.turns.clear();
        self.sent = 0;
        self.accepting = 0;
        for (place, slice) in self.slices.iter().enumerate() {
            self.accepting |= u64::from(slice.can_accept()) << place;
        }
        for (cycle, ticks) in ticks.iter().enumerate() {
            for _ in 0..ticks.steps {
                for place in 0..self.slices.len() {
                    if let Some(answer) = self.slices[place].to_crossbar.pop() {
                        let (sm, flits, reply) = self.leave(answer);
                        self.answers.push(Answered { cycle: cycle as u16, place: place as u16, sm, flits, reply });
                    }
                }
            }
            self.run_channel(ticks.dram.clone(), core + cycle as u64);
            for now in ticks.l2.clone() {
                for place in 0..self.slices.len() {
                    let accepted = self.slices[place].can_accept();
                    if self.run_slice(place, now) {
                        let accepts = self.slices[place].can_accept();
                        if accepts != accepted {
                            self.turns.push(Turned { from: now + 1, place: place as u16, accepts });
                        }
                    }
                }
            }
        }
    }

    /// Number of core cycles in which nothing happens in the partition, from core cycle `core` on;
    /// [`u64::MAX`] if nothing ever does.
    pub(super) fn quiet_cycles(&self, core: u64, l2: &ClockDomain, dram: &ClockDomain) -> u64 {
        let mut quiet = if self.delay_ends == u64::MAX { u64::MAX } else { self.delay_ends.saturating_sub(core) };
        let slices = self.slice_wake.iter().copied().min().unwrap_or(u64::MAX);
        for (clock, wake) in [(l2, slices), (dram, self.channel_wake)] {
            if wake != u64::MAX {
                quiet = quiet.min(clock.cycles_before(wake));
            }
        }
        quiet
    }

    /// True if the partition has no packet, including write-backs.
    pub(super) fn is_idle(&self) -> bool {
        self.slices.iter().all(L2Slice::is_idle) && self.channel.is_idle()
    }
}
