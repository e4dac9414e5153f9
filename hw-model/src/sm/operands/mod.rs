//! Operand collection of an SM: collector units, register banks and the latches around them, for
//! all sub-cores.
//!
//! It follows Accel-Sim, as its micro-benchmarks show (sources.md D58). An issued instruction waits
//! in its unit's issue latch for a collector. Each bank serves its oldest request once per round,
//! unless a result is being written to it. A complete instruction leaves for its unit's latch.
//! Registers are interleaved over the sub-core's banks, shifted by the warp number. There are two
//! rounds per cycle, and a result blocks its bank in the first.
//!
//! The events of a round are nearly random, and a mispredicted branch costs the host more than a
//! dozen operations. So a round processes all sub-cores at once, in words ([`banks`]), and only
//! moving instructions are processed one by one. Start reading with the plain twin, `plain.rs`.

mod banks;
mod order;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;

pub(super) use banks::{BELOW, TOPS, bank_reads};

use super::execution::Execution;
use super::inflight::{Inflight, UNITS, Unit};
use banks::{Banks, MAX_WORDS};
use order::Order;

/// Maximum number of sub-cores of an SM, and of collectors of each.
pub(super) const MAX_SUB_CORES: usize = 8;
const MAX_COLLECTORS: usize = 4;

/// Instructions of one latch kind that the operand collectors accept per round: Accel-Sim's number
/// of input ports. A sub-core's latch holds one, so this is never exceeded.
const COLLECTOR_PORTS: usize = 8;
const _: () = assert!(MAX_SUB_CORES <= COLLECTOR_PORTS);

/// Position of each unit in masks over all units and sub-cores. The load/store unit comes last, so
/// that the others fill a word.
pub(super) const PLACE: [u8; 16] = [0, 1, MEM_PLACE, 2, 3, 4, 5, 6, 7, 9, 9, 9, 9, 9, 9, 9];
const MEM_PLACE: u8 = 8;

/// Latches and collectors of one sub-core.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct SubCoreOperands {
    /// Mask of units whose oldest issued instruction of the SM is in this sub-core.
    first: u16,
    /// [`PLACE`] of the unit, per collector.
    place: [u8; MAX_COLLECTORS],
    collectors: [Inflight; MAX_COLLECTORS],
    issued: [Issued; UNITS],
    /// Latch to the load/store unit.
    mem_latch: Inflight,
}

/// Instruction in its issue latch, with its [`bank_reads`].
#[derive(Clone, Copy, Debug)]
struct Issued {
    inst: Inflight,
    reads: u32,
}

impl SubCoreOperands {
    const EMPTY: SubCoreOperands = SubCoreOperands {
        first: 0,
        place: [0; MAX_COLLECTORS],
        collectors: [Inflight::EMPTY; MAX_COLLECTORS],
        issued: [Issued { inst: Inflight::EMPTY, reads: 0 }; UNITS],
        mem_latch: Inflight::EMPTY,
    };
}

/// Operand stage of an SM.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct OperandStage {
    sub_cores: Box<[SubCoreOperands; MAX_SUB_CORES]>,
    /// Mask of units whose oldest issued instruction of the SM has a free collector in its
    /// sub-core.
    moving: u16,
    /// Mask of sub-cores with a free collector.
    free: u8,
    /// Mask of sub-cores whose latch to the load/store unit is full.
    mem_full: u8,
    /// Number of collectors of a sub-core, and one bit for each.
    collectors: u8,
    all_collectors: u8,
    /// Number of instructions in issue latches and collectors, and of those that wait for the
    /// load/store unit.
    held: u32,
    rounds: u32,
    /// Mask of the full latches to the load/store unit as lanes of ones.
    mem_full_lanes: u64,
    banks: Banks,
    /// Per unit, the sub-cores with an instruction in its issue latch, oldest first.
    issued: [Order; 16],
}

impl OperandStage {
    /// Creates the stage for `sub_cores` (1..=8), with `collectors` (1..=4) and `banks` (1, 2, 4 or
    /// 8) each; `rounds` per cycle.
    pub(super) fn new(sub_cores: u32, collectors: u32, banks: u32, rounds: u32) -> Self {
        OperandStage {
            sub_cores: Box::new([SubCoreOperands::EMPTY; MAX_SUB_CORES]),
            banks: Banks::new(banks),
            issued: [Order::default(); 16],
            moving: 0,
            free: (0xffu16 >> (MAX_SUB_CORES as u32 - sub_cores)) as u8,
            mem_full: 0,
            mem_full_lanes: 0,
            held: 0,
            collectors: collectors as u8,
            all_collectors: (0xffu16 >> (8 - collectors)) as u8,
            rounds,
        }
    }

    /// Puts an instruction with these [`bank_reads`] into the issue latch of `unit`, which must be
    /// free.
    #[inline]
    pub(super) fn issue(&mut self, sub_core: usize, unit: Unit, inst: Inflight, reads: u32) {
        let (sub_core, unit) = (sub_core & (MAX_SUB_CORES - 1), unit.index());
        let operands = &mut self.sub_cores[sub_core];
        operands.issued[unit] = Issued { inst, reads };
        // An instruction behind others of its unit must wait for them.
        let first = u16::from(self.issued[unit].is_empty()) << unit;
        operands.first |= first;
        self.moving |= if self.free >> sub_core & 1 != 0 { first } else { 0 };
        self.issued[unit].push(sub_core);
        self.held += 1;
    }

    /// Mask of sub-cores with a memory instruction that may go to the load/store unit.
    pub(super) fn mem_full(&self) -> u8 {
        self.mem_full
    }

    /// Memory instruction that waits in a sub-core; there must be one.
    pub(super) fn peek_mem(&self, sub_core: usize) -> &Inflight {
        &self.sub_cores[sub_core & (MAX_SUB_CORES - 1)].mem_latch
    }

    /// Takes the memory instruction that waits in a sub-core.
    pub(super) fn take_mem(&mut self, sub_core: usize) -> Inflight {
        let sub_core = sub_core & (MAX_SUB_CORES - 1);
        self.mem_full &= !(1 << sub_core);
        self.mem_full_lanes &= !banks::lane(sub_core);
        self.banks.latch_emptied();
        self.held -= 1;
        self.sub_cores[sub_core].mem_latch
    }

    /// Records that units other than the load/store unit have emptied their latches.
    #[inline]
    pub(super) fn latches_emptied(&mut self) {
        self.banks.latch_emptied();
    }

    /// True if no instruction could move.
    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Writes a result in this cycle. False if the bank already has a write.
    #[inline]
    pub(super) fn write(&mut self, sub_core: usize, warp: u8, reg: u16) -> bool {
        self.banks.write(sub_core & (MAX_SUB_CORES - 1), warp, reg)
    }

    /// Clears the writes after the first round of the cycle.
    #[inline]
    pub(super) fn end_writes(&mut self) {
        self.banks.end_writes();
    }

    /// Runs the rounds of a cycle. `unlatched` is called with the sub-core and the unit of every
    /// issue latch that becomes free.
    #[inline]
    pub(super) fn cycle(&mut self, now: u64, execution: &mut Execution, unlatched: impl FnMut(usize, usize)) {
        match (self.collectors, self.banks.words()) {
            (..=2, 1) => self.run::<2, 1>(now, execution, unlatched),
            (..=2, _) => self.run::<2, MAX_WORDS>(now, execution, unlatched),
            _ => self.run::<MAX_COLLECTORS, MAX_WORDS>(now, execution, unlatched),
        }
    }

    /// Runs the rounds of a cycle, with at most `N` collectors per sub-core and `W` pairs of banks.
    fn run<const N: usize, const W: usize>(&mut self, now: u64, execution: &mut Execution, mut unlatched: impl FnMut(usize, usize)) {
        for _ in 0..self.rounds {
            if self.banks.is_active() {
                let leaving = self.banks.leaving::<N, W>(execution.full(), self.mem_full_lanes);
                if leaving != 0 {
                    self.leave(leaving, now, execution);
                }
                self.banks.serve::<N, W>(leaving == 0);
            }
            self.end_writes();
            if self.moving != 0 {
                self.allocate::<N, W>(&mut unlatched);
            }
        }
    }

    /// Moves complete instructions to their units. Of two for one latch, the first goes.
    #[inline(always)]
    fn leave(&mut self, mut leaving: u64, now: u64, execution: &mut Execution) {
        while leaving != 0 {
            let flag = leaving.trailing_zeros();
            leaving &= leaving - 1;
            let (sub_core, at) = banks::owner(flag);
            let operands = &mut self.sub_cores[sub_core];
            let (place, inst) = (operands.place[at], &operands.collectors[at]);
            if place == MEM_PLACE {
                if self.mem_full >> sub_core & 1 != 0 {
                    continue;
                }
                self.mem_full |= 1 << sub_core;
                self.mem_full_lanes |= banks::lane(sub_core);
                operands.mem_latch = *inst;
            } else {
                if execution.is_full(sub_core, place) {
                    continue;
                }
                execution.accept(sub_core, place, inst, now);
                self.held -= 1;
            }
            self.banks.left(flag);
            self.free |= 1 << sub_core;
            self.moving |= operands.first;
        }
    }

    /// Allocates collectors: in turns, each unit's oldest issued instruction of the SM. One without
    /// a free collector in its sub-core blocks its unit in all sub-cores.
    #[inline]
    fn allocate<const N: usize, const W: usize>(&mut self, unlatched: &mut impl FnMut(usize, usize)) {
        // Units whose turn has not come yet.
        let mut ahead = u16::MAX;
        while self.moving != 0 {
            let turn = self.moving & ahead;
            let unit = (if turn == 0 { self.moving } else { turn }).trailing_zeros() as usize & 15;
            ahead = (u16::MAX << 1) << unit;
            let sub_core = self.issued[unit].front();
            self.collect::<N, W>(sub_core, unit);
            unlatched(sub_core, unit);
        }
    }

    /// Moves the oldest instruction in `unit`'s issue latches, of `sub_core`, into a free
    /// collector. Both must exist.
    #[inline]
    fn collect<const N: usize, const W: usize>(&mut self, sub_core: usize, unit: usize) {
        let operands = &mut self.sub_cores[sub_core];
        let place = PLACE[unit];
        let Issued { inst, reads } = operands.issued[unit];
        let (at, taken) = self.banks.collect::<N, W>(sub_core, reads, place);
        operands.collectors[at] = inst;
        operands.place[at] = place;
        operands.first &= !(1 << unit);
        self.moving &= !(1 << unit);
        if taken == self.all_collectors {
            self.free &= !(1 << sub_core);
            self.moving &= !operands.first;
        }
        self.issued[unit].pop();
        // Next instruction of the unit, if there is one.
        let next = self.issued[unit].front();
        let first = u16::from(!self.issued[unit].is_empty()) << unit;
        self.sub_cores[next].first |= first;
        self.moving |= if self.free >> next & 1 != 0 { first } else { 0 };
    }
}
