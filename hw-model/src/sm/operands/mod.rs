//! Operand collection: collector units, register banks and the latches around them, of all sub-cores of an SM.
//!
//! The peer's unit, as its micro-benchmarks show it (`reference/README.md`): an issued instruction waits in its unit's
//! latch for a collector; each bank serves its oldest request once per round, unless a result is being written to it;
//! a complete instruction leaves for its unit's latch. Registers are interleaved over the sub-core's banks, shifted by
//! the warp number. There are two rounds per cycle, and a result blocks its bank in the first.
//!
//! What happens in a round is close to random, and a mispredicted branch costs the host more than a dozen operations: so a round
//! is done for all sub-cores at once, in words ([`banks`]), and only instructions that move are looked at one by one.

mod banks;
mod order;
#[cfg(test)]
mod tests;

pub(super) use banks::bank_reads;

use super::execution::Execution;
use super::inflight::{Inflight, UNITS, Unit};
use banks::Banks;
use order::Order;

/// Most sub-cores that an SM may have, and most collectors that each of them may have.
pub(super) const MAX_SUB_CORES: usize = 8;
const MAX_COLLECTORS: usize = 4;

/// Instructions of one latch kind that the operand collectors take up per round: the peer's number of input ports. A sub-core's
/// latch holds one, so that there never are more.
const COLLECTOR_PORTS: usize = 8;
const _: () = assert!(MAX_SUB_CORES <= COLLECTOR_PORTS);

/// Units, padded so that masks per unit fill vector registers.
pub(super) const UNITS_PADDED: usize = 12;

/// Place of each unit in masks over all units and sub-cores: the load/store unit comes last, so that the others fill a word.
pub(super) const PLACE: [u8; 16] = [0, 1, MEM_PLACE, 2, 3, 4, 5, 6, 7, 9, 9, 9, 9, 9, 9, 9];
const MEM_PLACE: u8 = 8;

/// Latches and collectors of one sub-core.
#[derive(Clone, Copy, Debug)]
struct SubCoreOperands {
    /// Units whose issue latch is full, as masks over warps: all ones or none.
    issued_full: [u32; UNITS_PADDED],
    /// Units whose oldest issued instruction of the SM is of this sub-core and found no free collector.
    stuck: u16,
    /// Per collector, the [`PLACE`] of the unit.
    place: [u8; MAX_COLLECTORS],
    collectors: [Inflight; MAX_COLLECTORS],
    issued: [Inflight; UNITS],
    issued_reads: [u32; UNITS],
    /// What waits for the load/store unit.
    complete_mem: Inflight,
}

impl SubCoreOperands {
    const EMPTY: SubCoreOperands = SubCoreOperands {
        issued_full: [0; UNITS_PADDED],
        stuck: 0,
        place: [0; MAX_COLLECTORS],
        collectors: [Inflight::EMPTY; MAX_COLLECTORS],
        issued: [Inflight::EMPTY; UNITS],
        issued_reads: [0; UNITS],
        complete_mem: Inflight::EMPTY,
    };
}

/// The operand stage of an SM.
#[derive(Clone, Debug)]
pub(super) struct OperandStage {
    sub_cores: Box<[SubCoreOperands; MAX_SUB_CORES]>,
    banks: Banks,
    /// Per unit, the sub-cores with an instruction in its issue latch, oldest first.
    issued: [Order; 16],
    /// Units whose oldest issued instruction may find a collector.
    hopeful: u16,
    /// Sub-cores with a free collector.
    free: u8,
    /// Sub-cores in which an issue latch has become free.
    emptied: u8,
    /// Sub-cores with an instruction that waits for the load/store unit.
    complete_mem: u8,
    /// The same, as lanes of ones.
    full_mem: u64,
    /// Instructions in issue latches and collectors, and those that wait for the load/store unit.
    held: u32,
    all_collectors: u8,
    rounds: u32,
}

impl OperandStage {
    /// `sub_cores` (1..=8), with `collectors` (1..=4) and `banks` (1, 2, 4 or 8) each; `rounds` per cycle.
    pub(super) fn new(sub_cores: u32, collectors: u32, banks: u32, rounds: u32) -> Self {
        OperandStage {
            sub_cores: Box::new([SubCoreOperands::EMPTY; MAX_SUB_CORES]),
            banks: Banks::new(banks),
            issued: [Order::default(); 16],
            hopeful: 0,
            free: (0xffu16 >> (MAX_SUB_CORES as u32 - sub_cores)) as u8,
            emptied: 0,
            complete_mem: 0,
            full_mem: 0,
            held: 0,
            all_collectors: (0xffu16 >> (8 - collectors)) as u8,
            rounds,
        }
    }

    /// Units of a sub-core whose issue latch is taken, as masks over warps.
    pub(super) fn issued_full(&self, sub_core: usize) -> &[u32; UNITS_PADDED] {
        &self.sub_cores[sub_core & (MAX_SUB_CORES - 1)].issued_full
    }

    /// Sub-cores in which an issue latch has become free since the last call.
    #[inline]
    pub(super) fn take_emptied(&mut self) -> u8 {
        std::mem::take(&mut self.emptied)
    }

    /// Puts an instruction with these [`bank_reads`] into the issue latch of `unit`, which must be free.
    #[inline]
    pub(super) fn issue(&mut self, sub_core: usize, unit: Unit, inst: Inflight, reads: u32) {
        let (sub_core, unit) = (sub_core & (MAX_SUB_CORES - 1), unit.index());
        let operands = &mut self.sub_cores[sub_core];
        operands.issued[unit] = inst;
        operands.issued_reads[unit] = reads;
        operands.issued_full[unit] = u32::MAX;
        // Behind others it waits for them.
        self.hopeful |= u16::from(self.issued[unit].is_empty()) << unit;
        self.issued[unit].push(sub_core);
        self.held += 1;
    }

    /// Sub-cores with a memory instruction that may go to the load/store unit.
    pub(super) fn complete_mem(&self) -> u8 {
        self.complete_mem
    }

    /// The memory instruction that waits in a sub-core; there must be one.
    pub(super) fn peek_mem(&self, sub_core: usize) -> &Inflight {
        &self.sub_cores[sub_core & (MAX_SUB_CORES - 1)].complete_mem
    }

    /// Takes the memory instruction that waits in a sub-core.
    pub(super) fn take_mem(&mut self, sub_core: usize) -> Inflight {
        let sub_core = sub_core & (MAX_SUB_CORES - 1);
        self.complete_mem &= !(1 << sub_core);
        self.full_mem &= !banks::lane(sub_core);
        self.banks.latch_emptied();
        self.held -= 1;
        self.sub_cores[sub_core].complete_mem
    }

    /// Units other than the load/store unit have taken instructions out of their latches.
    #[inline]
    pub(super) fn latches_emptied(&mut self) {
        self.banks.latch_emptied();
    }

    /// Nothing here that could move.
    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// A result is written this cycle. False if the bank is already being written.
    #[inline]
    pub(super) fn write(&mut self, sub_core: usize, warp: u8, reg: u16) -> bool {
        self.banks.write(sub_core & (MAX_SUB_CORES - 1), warp, reg)
    }

    /// Forgets the writes: the first round of the cycle is over.
    #[inline]
    pub(super) fn end_writes(&mut self) {
        self.banks.end_writes();
    }

    /// The rounds of a cycle.
    pub(super) fn cycle(&mut self, now: u64, execution: &mut Execution) {
        if self.all_collectors <= 3 { self.run::<2>(now, execution) } else { self.run::<MAX_COLLECTORS>(now, execution) }
    }

    /// The rounds of a cycle, with at most `N` collectors per sub-core.
    fn run<const N: usize>(&mut self, now: u64, execution: &mut Execution) {
        for _ in 0..self.rounds {
            if self.banks.is_active() {
                let leaving = self.banks.leaving::<N>(execution.full(), self.full_mem);
                self.leave(leaving, now, execution);
                self.banks.serve::<N>(leaving == 0);
            }
            self.end_writes();
            if self.hopeful != 0 {
                self.allocate::<N>();
            }
        }
    }

    /// Complete instructions leave for their units. Of two for one latch the first does.
    #[inline]
    fn leave(&mut self, mut leaving: u64, now: u64, execution: &mut Execution) {
        while leaving != 0 {
            let flag = leaving.trailing_zeros();
            leaving &= leaving - 1;
            let (sub_core, at) = banks::owner(flag);
            let operands = &mut self.sub_cores[sub_core];
            let (place, inst) = (operands.place[at], &operands.collectors[at]);
            if place == MEM_PLACE {
                if self.complete_mem >> sub_core & 1 != 0 {
                    continue;
                }
                self.complete_mem |= 1 << sub_core;
                self.full_mem |= banks::lane(sub_core);
                operands.complete_mem = *inst;
            } else {
                if execution.is_full(sub_core, place) {
                    continue;
                }
                execution.accept(sub_core, place, inst, now);
                self.held -= 1;
            }
            self.banks.left(flag);
            self.free |= 1 << sub_core;
            self.hopeful |= std::mem::take(&mut operands.stuck);
        }
    }

    /// Gives collectors out: in turns, each unit's oldest issued instruction of the SM; one that finds its sub-core's collectors
    /// taken holds up its unit in all sub-cores, until one of those collectors is free.
    #[inline]
    fn allocate<const N: usize>(&mut self) {
        // Units whose turn has not been yet.
        let mut ahead = u16::MAX;
        while self.hopeful != 0 {
            let turn = self.hopeful & ahead;
            let unit = (if turn == 0 { self.hopeful } else { turn }).trailing_zeros() as usize & 15;
            ahead = (u16::MAX << 1) << unit;
            let sub_core = self.issued[unit].front();
            let more = if self.free >> sub_core & 1 != 0 {
                self.collect::<N>(sub_core, unit);
                !self.issued[unit].is_empty()
            } else {
                self.sub_cores[sub_core].stuck |= 1 << unit;
                false
            };
            self.hopeful &= !(u16::from(!more) << unit);
        }
    }

    /// Moves the oldest instruction in `unit`'s issue latches, of `sub_core`, into a free collector. There must be both.
    #[inline]
    fn collect<const N: usize>(&mut self, sub_core: usize, unit: usize) {
        let operands = &mut self.sub_cores[sub_core];
        let place = PLACE[unit];
        let (at, taken) = self.banks.collect::<N>(sub_core, operands.issued_reads[unit], place);
        operands.collectors[at] = operands.issued[unit];
        operands.place[at] = place;
        operands.issued_full[unit] = 0;
        self.emptied |= 1 << sub_core;
        self.free &= !(u8::from(taken == self.all_collectors) << sub_core);
        self.issued[unit].pop();
    }
}
