//! Cycles of the memory system many at a time, in two halves, with the same result as one by one ([`MemorySystem::tick`]).
//!
//! What an SM sends now leaves the L2's fixed delay [`L2Config::latency`](crate::config::L2Config::latency) cycles later. So slices, channels and the reply
//! subnet can be run for up to as many cycles without knowing what is sent meanwhile ([`MemorySystem::run_ahead`]); then SMs can run these
//! cycles, knowing what comes to them and when; last, the request subnet moves what they have sent ([`MemorySystem::catch_up`]). Only room
//! could tie the halves together in between, and where there is not enough of it for the worst case there is no such stretch
//! ([`MemorySystem::longest_stretch`]). (Own: the lookahead of conservative parallel simulation, Chandy and Misra 1979.)
//!
//! Each channel with its slices runs all the cycles before the next one does, while its state is in the host's nearest cache.

use super::l2::Answer;
use super::port::MOST_PER_CYCLE;
use super::{MemorySystem, Reply};
use crate::config::GpuConfig;
use std::ops::Range;

/// Core cycles of a stretch at most: what SMs send and take meanwhile is kept in lists (assumption; longer ones were no faster).
pub const MOST_CYCLES: u64 = 64;

/// Ticks of the other clocks in a core cycle.
#[derive(Clone, Debug, Default)]
struct Ticks {
    /// Steps of the crossbar.
    steps: u64,
    l2: Range<u64>,
    dram: Range<u64>,
}

/// A slice answers: in which cycle of the stretch, which slice, what.
#[derive(Clone, Copy, Debug)]
struct Answered {
    cycle: u16,
    slice: u16,
    answer: Answer,
}

/// A slice takes packets from the crossbar, or does not any more, from this L2 cycle on.
#[derive(Clone, Copy, Debug)]
struct Turned {
    from: u64,
    slice: u16,
    accepts: bool,
}

/// What the first half leaves for the second.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    /// Longest stretch by the clocks and the L2's delay.
    longest: u64,
    /// By core cycle.
    ticks: Vec<Ticks>,
    /// By channel, then time.
    answers: Vec<Vec<Answered>>,
    /// How many of a channel's answers have gone to the crossbar.
    sent: Vec<usize>,
    /// Slices that take packets, bit per slice, and what changes that, by time.
    accepting: Vec<u64>,
    turns: Vec<Turned>,
    turned: usize,
}

impl Stretch {
    /// All memory is allocated here.
    pub(super) fn new(config: &GpuConfig) -> Self {
        let (clocks, latency) = (&config.clocks, u64::from(config.l2.latency));
        // What is accepted in the first L2 cycle must not leave the delay before the stretch is over.
        let longest = (latency * u64::from(clocks.core_khz) / u64::from(clocks.l2_khz)).saturating_sub(1).min(MOST_CYCLES);
        let channels = config.dram.channels as usize;
        let slices = channels * config.l2.slices_per_channel as usize;
        let most_answers = most_ticks(clocks.interconnect_khz, clocks.core_khz) * config.l2.slices_per_channel as usize;
        Stretch {
            longest,
            ticks: Vec::with_capacity(MOST_CYCLES as usize),
            answers: (0..channels).map(|_| Vec::with_capacity(most_answers)).collect(),
            sent: vec![0; channels],
            accepting: vec![0; slices.div_ceil(64)],
            turns: Vec::with_capacity(most_ticks(clocks.l2_khz, clocks.core_khz) * slices),
            turned: 0,
        }
    }

    /// Whether each slice takes packets in L2 cycle `now`; cycles are asked for in their order.
    fn accepting_in(&mut self, now: u64) -> &[u64] {
        while let Some(&Turned { slice, accepts, .. }) = self.turns.get(self.turned).filter(|turn| turn.from <= now) {
            put(&mut self.accepting, slice.into(), accepts);
            self.turned += 1;
        }
        &self.accepting
    }
}

/// Ticks of a clock in a stretch, at most.
fn most_ticks(khz: u32, core_khz: u32) -> usize {
    (MOST_CYCLES * u64::from(khz)).div_ceil(core_khz.into()) as usize + 1
}

/// Replies that can come to an SM in a stretch, at most: those that wait for it, and one in every step of the crossbar.
pub fn most_arrivals(config: &GpuConfig) -> usize {
    config.interconnect.output_buffer as usize + most_ticks(config.clocks.interconnect_khz, config.clocks.core_khz)
}

fn put(set: &mut [u64], member: usize, is_in: bool) {
    set[member / 64] = set[member / 64] & !(1 << (member % 64)) | u64::from(is_in) << (member % 64);
}

impl MemorySystem {
    /// Core cycles for which the halves do not need each other; 0 if they do in the next one already.
    pub fn longest_stretch(&self) -> u64 {
        if self.begun.is_some() || self.ways.as_ref().is_some_and(|ways| ways.pending()) || self.dram_orders.pending() {
            return 0;
        }
        let (sent, _) = self.requests.least_room();
        let (answered, arrived) = self.replies.least_room();
        // Of a port a packet leaves in every step of the crossbar at most.
        let by_replies = self.interconnect.cycles_before(self.interconnect.ticks() + u64::from(answered.min(arrived)));
        self.stretch.longest.min(u64::from(sent) / MOST_PER_CYCLE as u64).min(by_replies)
    }

    /// First half of the next `cycles` cycles, of which there must not be more than [`MemorySystem::longest_stretch`] says. `arrives` is told
    /// of every reply that an SM can take: which SM, from which cycle on, and the reply. What it does not take goes
    /// [back](MemorySystem::give_back).
    pub fn run_ahead(&mut self, cycles: u64, mut arrives: impl FnMut(u16, u64, Reply)) {
        debug_assert!(cycles <= self.longest_stretch());
        for sm in 0..self.replies.outputs() {
            while let Some(reply) = self.replies.pop(sm) {
                arrives(sm as u16, self.core, reply);
            }
        }
        self.stretch.ticks.clear();
        for _ in 0..cycles {
            let steps = self.interconnect.advance(1);
            self.stretch.ticks.push(Ticks { steps: steps.end - steps.start, l2: self.l2.advance(1), dram: self.dram.advance(1) });
        }
        self.stretch.turns.clear();
        self.stretch.turned = 0;
        for channel in 0..self.channels.len() {
            self.run_channel_ahead(channel);
        }
        self.stretch.turns.sort_unstable_by_key(|turn| (turn.from, turn.slice));
        self.replies_cross(&mut arrives);
    }

    /// A channel and its slices, for the whole stretch.
    fn run_channel_ahead(&mut self, channel: usize) {
        let n = 1 << self.slice_bits;
        let slices = channel * n..(channel + 1) * n;
        let mut answers = std::mem::take(&mut self.stretch.answers[channel]);
        answers.clear();
        let ticks = std::mem::take(&mut self.stretch.ticks);
        for slice in slices.clone() {
            put(&mut self.stretch.accepting, slice, self.slices[slice].can_accept());
        }
        for (cycle, ticks) in ticks.iter().enumerate() {
            for _ in 0..ticks.steps {
                for slice in slices.clone() {
                    if let Some(answer) = self.slices[slice].to_crossbar.pop() {
                        answers.push(Answered { cycle: cycle as u16, slice: slice as u16, answer });
                    }
                }
            }
            self.run_channel(channel, ticks.dram.clone(), self.core + cycle as u64);
            for now in ticks.l2.clone() {
                for slice in slices.clone() {
                    if self.slice_wake[slice] > now {
                        continue;
                    }
                    let accepted = self.slices[slice].can_accept();
                    self.run_slice(slice, now);
                    let accepts = self.slices[slice].can_accept();
                    if accepts != accepted {
                        self.stretch.turns.push(Turned { from: now + 1, slice: slice as u16, accepts });
                    }
                }
            }
        }
        for slice in slices {
            put(&mut self.replying, slice, !self.slices[slice].to_crossbar.is_empty());
        }
        self.stretch.ticks = ticks;
        self.stretch.answers[channel] = answers;
    }

    /// What slices have answered crosses to the SMs.
    fn replies_cross(&mut self, arrives: &mut impl FnMut(u16, u64, Reply)) {
        let mut answers = std::mem::take(&mut self.stretch.answers);
        let mut sent = std::mem::take(&mut self.stretch.sent);
        sent.fill(0);
        for cycle in 0..self.stretch.ticks.len() {
            for (answers, sent) in answers.iter_mut().zip(&mut sent) {
                while let Some(&Answered { slice, answer, .. }) = answers.get(*sent).filter(|next| usize::from(next.cycle) == cycle) {
                    self.send_reply(slice.into(), answer);
                    *sent += 1;
                }
            }
            let visible = self.core + cycle as u64 + 1;
            for _ in 0..self.stretch.ticks[cycle].steps {
                self.replies.advance_to(|sm, reply| {
                    arrives(sm as u16, visible, reply);
                    None
                });
            }
        }
        (self.stretch.answers, self.stretch.sent) = (answers, sent);
    }

    /// Replies that an SM has not taken in the stretch, oldest first, wait for it; it has taken those that `taken` says.
    pub fn give_back(&mut self, sm: u16, taken: impl Iterator<Item = Reply>, left: impl Iterator<Item = Reply>) {
        for reply in taken {
            self.counters.l2_replied(sm, reply.l2_hit);
        }
        for reply in left {
            self.replies.wait_at(sm.into(), reply);
        }
    }

    /// Second half of cycle `cycle` of the stretch, the first being 0, one after the other. What SMs have sent in this cycle is to be
    /// injected after it, and before the next.
    pub fn catch_up(&mut self, cycle: usize) {
        let Ticks { steps, l2, .. } = self.stretch.ticks[cycle].clone();
        for now in l2 {
            self.slices_accept(now);
        }
        for _ in 0..steps {
            self.requests.advance();
        }
        self.core += 1;
    }

    fn slices_accept(&mut self, now: u64) {
        for w in 0..self.requests.waiting().len() {
            let waiting = self.requests.waiting()[w];
            let mut rest = if waiting == 0 { 0 } else { waiting & self.stretch.accepting_in(now)[w] };
            while rest != 0 {
                let slice = w * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if let Some(packet) = self.requests.pop(slice) {
                    let leaves = self.slices[slice].accept(packet, now);
                    self.slice_wake[slice] = self.slice_wake[slice].min(leaves);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "stretch_tests.rs"]
mod tests;
