//! Plain operand stage: a list of instructions with their positions, and loops over sub-cores,
//! collectors and banks.
//!
//! Start reading here. [`super::OperandStage`] does the same for all sub-cores at once, in words of
//! the host; `behaves_as_the_plain_stage` compares both. The units after the stage are included, as
//! far as they free latches.

use super::super::RESULT_CYCLES;
use super::super::inflight::{UNITS, Unit};
use super::COLLECTOR_PORTS;
use crate::config::UnitTiming;

/// Instruction with its position.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    /// Order of issue.
    pub(super) seq: u32,
    pub(super) sub_core: usize,
    pub(super) unit: usize,
    /// Remaining reads, per bank.
    pub(super) reads: Vec<u32>,
    pub(super) place: Place,
}

/// Positions of an instruction, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the issue latch of its unit.
    Issued,
    /// In a collector: its number, and how many had been taken before.
    Collector(usize, u32),
    /// In its unit's latch, with all operands.
    Complete,
}

/// Plain operand stage of an SM.
#[derive(Default)]
pub(super) struct PlainStage {
    /// Number of collectors and register banks of a sub-core.
    collectors: usize,
    banks: usize,
    /// Number of rounds of a cycle.
    rounds: u32,
    /// Instructions in the stage.
    pub(super) moving: Vec<Moving>,
    /// Banks with a result write in this cycle, by sub-core and number.
    pub(super) written: Vec<(usize, usize)>,
    /// Number of collectors taken so far.
    taken: u32,
    /// Busy units, by sub-core and number, with the end of their interval.
    busy: Vec<(usize, usize, u64)>,
    /// Results: arrival and instruction.
    pub(super) results: Vec<(u64, u32)>,
}

impl PlainStage {
    pub(super) fn new(collectors: usize, banks: usize, rounds: u32) -> Self {
        PlainStage { collectors, banks, rounds, ..PlainStage::default() }
    }

    pub(super) fn latch_is_full(&self, place: Place, sub_core: usize, unit: usize) -> bool {
        self.moving.iter().any(|m| m.place == place && m.sub_core == sub_core && m.unit == unit)
    }

    fn in_collector(&self, sub_core: usize, number: usize) -> Option<usize> {
        self.moving.iter().position(|m| m.sub_core == sub_core && matches!(m.place, Place::Collector(n, _) if n == number))
    }

    /// Runs a round of collection in a sub-core. Complete instructions leave if the latch of their
    /// unit is free. Then every bank without a write serves the oldest instruction that waits for
    /// it.
    fn round(&mut self, sub_core: usize) {
        for number in 0..self.collectors {
            let Some(at) = self.in_collector(sub_core, number) else { continue };
            let done = self.moving[at].reads.iter().all(|&left| left == 0);
            if done && !self.latch_is_full(Place::Complete, sub_core, self.moving[at].unit) {
                self.moving[at].place = Place::Complete;
            }
        }
        for bank in (0..self.banks).filter(|&bank| !self.written.contains(&(sub_core, bank))) {
            let waiting = self.moving.iter_mut().filter(|m| m.sub_core == sub_core && m.reads[bank] > 0);
            let oldest = waiting.filter_map(|m| if let Place::Collector(_, taken) = m.place { Some((taken, m)) } else { None });
            if let Some((_, served)) = oldest.min_by_key(|(taken, _)| *taken) {
                served.reads[bank] -= 1;
            }
        }
    }

    /// Allocates collectors to issued instructions: unit by unit the oldest of the SM, repeatedly.
    /// One without a free collector in its sub-core blocks its unit in all of them.
    fn allocate(&mut self) {
        let mut blocked = [false; UNITS];
        for _ in 0..COLLECTOR_PORTS {
            for (unit, blocked) in blocked.iter_mut().enumerate() {
                let issued = (0..self.moving.len()).filter(|&at| self.moving[at].place == Place::Issued && self.moving[at].unit == unit);
                let Some(at) = issued.min_by_key(|&at| self.moving[at].seq).filter(|_| !*blocked) else { continue };
                let sub_core = self.moving[at].sub_core;
                match (0..self.collectors).find(|&number| self.in_collector(sub_core, number).is_none()) {
                    Some(number) => {
                        self.moving[at].place = Place::Collector(number, self.taken);
                        self.taken += 1;
                    }
                    None => *blocked = true,
                }
            }
        }
    }

    /// Lets every unit except the load/store unit take the instruction in its latch, if possible.
    pub(super) fn execute(&mut self, now: u64, timing: UnitTiming) {
        self.busy.retain(|&(.., until)| until > now);
        let busy = &self.busy;
        let starts = |m: &Moving| {
            let other = m.unit != Unit::Mem.index() && m.place == Place::Complete;
            other && !busy.iter().any(|&(sub_core, unit, _)| (sub_core, unit) == (m.sub_core, m.unit))
        };
        let (taken, left): (Vec<Moving>, Vec<Moving>) = self.moving.drain(..).partition(starts);
        self.moving = left;
        for m in taken {
            self.busy.push((m.sub_core, m.unit, now + u64::from(timing.interval)));
            self.results.push((now + u64::from(timing.latency) + RESULT_CYCLES, m.seq));
        }
    }

    /// Runs the rounds of a cycle. A result blocks its bank in the first.
    pub(super) fn cycle(&mut self, sub_cores: usize) {
        for _ in 0..self.rounds {
            (0..sub_cores).for_each(|sub_core| self.round(sub_core));
            self.written.clear();
            self.allocate();
        }
    }
}
