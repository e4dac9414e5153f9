//! Quanta: many cycles of the memory system at a time, in two halves, with the same result as one
//! by one ([`MemorySystem::tick`]).
//!
//! A request of an SM leaves the L2's fixed delay
//! [`L2Config::latency`](crate::config::L2Config::latency) cycles later. So partitions and the
//! reply subnet can run up to that many cycles without the requests of these cycles
//! ([`MemorySystem::plan`] to [`MemorySystem::replies_cross`]). Then SMs run these cycles, with the
//! arrivals of their replies known. Last, the request subnet moves their requests
//! ([`MemorySystem::catch_up`]). Only full queues could couple the halves. If there is not enough
//! space for the worst case, there is no such quantum ([`MemorySystem::longest_quantum`]). (Own:
//! the lookahead of conservative parallel simulation, Chandy and Misra 1979.)
//!
//! Each partition runs all the cycles before the next one does, while its state is in the host's
//! nearest cache. It may also run on another thread ([`MemorySystem::lend`]).

use super::deferred_requests::{SecondHalf, here, put};
use super::partition::Partition;
use super::port::MOST_PER_CYCLE;
use super::{MemorySystem, Reply, SmL2};
use crate::config::GpuConfig;
use std::ops::Range;

/// Maximum number of core cycles of a quantum, since requests and replies are kept in lists
/// meanwhile (assumption).
pub const MOST_CYCLES: u64 = 64;

/// Ticks of the other clocks in a core cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks {
    /// Number of crossbar steps.
    pub(super) steps: u64,
    pub(super) l2: Range<u64>,
    pub(super) dram: Range<u64>,
}

/// Answer of a slice: cycle of the quantum, slice of its partition, SM, flits, and reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    pub(super) cycle: u16,
    pub(super) place: u16,
    pub(super) sm: u16,
    pub(super) flits: u8,
    pub(super) reply: Reply,
}

/// Change of a slice's acceptance of packets from the crossbar, from this L2 cycle on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    pub(super) from: u64,
    pub(super) place: u16,
    pub(super) accepts: bool,
}

/// Planned quantum.
#[derive(Clone, Debug)]
pub(super) struct Quantum {
    /// Cycles until a packet accepted in the first cycle leaves the L2's delay, minus one.
    pub(super) delay: u64,
    pub(super) half: SecondHalf,
}

impl Quantum {
    /// Creates the quantum. All memory is allocated here.
    pub(super) fn new(config: &GpuConfig) -> Self {
        let (clocks, latency) = (&config.clocks, u64::from(config.l2.latency));
        let slices = (config.dram.channels * config.l2.slices_per_channel) as usize;
        let turns = most_ticks(clocks.l2_khz, clocks.core_khz) * slices;
        Quantum {
            delay: (latency * u64::from(clocks.core_khz) / u64::from(clocks.l2_khz)).saturating_sub(1),
            half: SecondHalf::new(MOST_CYCLES as usize, slices, turns),
        }
    }
}

/// Maximum number of ticks of a clock in a quantum.
pub(super) fn most_ticks(khz: u32, core_khz: u32) -> usize {
    (MOST_CYCLES * u64::from(khz)).div_ceil(core_khz.into()) as usize + 1
}

/// Maximum number of replies to an SM in a quantum: those that wait for it, and one in every step
/// of the crossbar.
pub fn most_arrivals(config: &GpuConfig) -> usize {
    config.interconnect.output_buffer as usize + most_ticks(config.clocks.interconnect_khz, config.clocks.core_khz)
}

/// Partitions that another thread runs for a quantum.
#[derive(Clone, Debug, Default)]
pub struct Lent {
    #[expect(clippy::vec_box, reason = "they change hands between threads")]
    partitions: Vec<Box<Partition>>,
    /// Number of the first partition.
    first: usize,
    ticks: Vec<Ticks>,
    core: u64,
}

impl Lent {
    /// Number of the first partition.
    pub fn first(&self) -> usize {
        self.first
    }

    /// True if there are no partitions.
    pub fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// Runs the partitions.
    pub fn run(&mut self) {
        for partition in &mut self.partitions {
            partition.run_ahead(&self.ticks, self.core);
        }
    }
}

impl MemorySystem {
    /// Number of core cycles in which the halves of a quantum are independent; 0 if they are not in
    /// the next one.
    pub fn longest_quantum(&self) -> u64 {
        if self.begun.is_some() || self.ways.as_ref().is_some_and(|ways| ways.pending()) || self.dram_orders.pending() {
            return 0;
        }
        // A packet accepted in the first L2 cycle must not leave the delay before its slice takes
        // it.
        let (sent, delay) = match &self.deferred {
            None => (here(self.requests.as_deref()).least_room(), self.quantum.delay),
            Some(deferred) => (deferred.least_room(), self.quantum.delay.saturating_sub(deferred.cycles())),
        };
        let (answered, arrived) = self.replies.least_room();
        // At most one packet leaves a port in every step of the crossbar.
        let by_replies = self.interconnect.cycles_before(self.interconnect.ticks() + u64::from(answered.min(arrived)));
        MOST_CYCLES.min(delay).min(u64::from(sent) / MOST_PER_CYCLE as u64).min(by_replies)
    }

    /// Plans the next `cycles` cycles as a quantum, at most [`MemorySystem::longest_quantum`].
    /// Returns the number of partitions with work in it.
    pub fn plan(&mut self, cycles: u64) -> usize {
        debug_assert!(cycles <= self.longest_quantum());
        self.quantum.half.ticks.clear();
        for _ in 0..cycles {
            let steps = self.interconnect.advance(1);
            self.quantum.half.ticks.push(Ticks { steps: steps.end - steps.start, l2: self.l2.advance(1), dram: self.dram.advance(1) });
        }
        let Some(last) = self.quantum.half.ticks.last() else { return 0 };
        self.partitions.iter().filter(|partition| partition.has_work(last, self.core + cycles)).count()
    }

    /// Lends the last `partitions` of the present partitions, or all, to be run on another thread
    /// and [taken back](MemorySystem::take_back), lower numbers first. `lent` must be empty and
    /// supplies the memory.
    pub fn lend(&mut self, partitions: usize, lent: &mut Lent) {
        lent.first = self.partitions.len().saturating_sub(partitions);
        lent.partitions.extend(self.partitions.drain(lent.first..));
        lent.ticks.clear();
        lent.ticks.extend_from_slice(&self.quantum.half.ticks);
        lent.core = self.core;
    }

    /// Takes partitions back.
    pub fn take_back(&mut self, lent: &mut Lent) {
        debug_assert_eq!(lent.first, self.partitions.len());
        self.partitions.append(&mut lent.partitions);
    }

    /// Number of present partitions.
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Runs the quantum of the present partitions.
    pub fn run_ahead(&mut self) {
        for partition in &mut self.partitions {
            partition.run_ahead(&self.quantum.half.ticks, self.core);
        }
    }

    /// Moves the slices' answers of the quantum to the SMs. `arrives` receives every reply: the SM,
    /// the first cycle in which it can take it, and the reply. Replies that it does not take must
    /// be [returned](MemorySystem::give_back).
    pub fn replies_cross(&mut self, mut arrives: impl FnMut(u16, u64, Reply)) {
        for sm in 0..self.replies.outputs() {
            while let Some(reply) = self.replies.pop(sm) {
                arrives(sm as u16, self.core, reply);
            }
        }
        for cycle in 0..self.quantum.half.ticks.len() {
            for (number, partition) in self.partitions.iter_mut().enumerate() {
                while let Some(&Answered { cycle: when, place, sm, flits, reply }) = partition.answers.get(partition.sent)
                    && usize::from(when) == cycle
                {
                    partition.sent += 1;
                    self.replies.push((number << self.slice_bits) + usize::from(place), sm.into(), flits, reply);
                }
            }
            let visible = self.core + cycle as u64 + 1;
            for _ in 0..self.quantum.half.ticks[cycle].steps {
                self.replies.advance_to(|sm, reply| {
                    arrives(sm as u16, visible, reply);
                    None
                });
            }
        }
        self.core += self.quantum.half.ticks.len() as u64;
        self.gather_turns();
    }

    /// Collects the changes of the slices' acceptance in the quantum.
    fn gather_turns(&mut self) {
        let half = &mut self.quantum.half;
        half.turns.clear();
        for (number, partition) in self.partitions.iter().enumerate() {
            let first = number << self.slice_bits;
            for (place, slice) in partition.slices.iter().enumerate() {
                put(&mut half.accepting, first + place, partition.accepting >> place & 1 == 1);
                put(&mut self.replying, first + place, !slice.to_crossbar.is_empty());
            }
            half.turns.extend(partition.turns.iter().map(|&turn| (first + usize::from(turn.place), turn)));
        }
        half.turns.sort_unstable_by_key(|(slice, turn)| (turn.from, *slice));
    }

    /// Returns the replies that an SM has not taken in the quantum, oldest first; they wait for it.
    /// `l2` counts those that it has taken.
    pub fn give_back(&mut self, sm: u16, l2: SmL2, left: impl Iterator<Item = Reply>) {
        self.counters.l2_all_replied(sm, l2);
        for reply in left {
            self.replies.wait_at(sm.into(), reply);
        }
    }
}

#[cfg(test)]
#[path = "quantum_tests.rs"]
mod tests;
