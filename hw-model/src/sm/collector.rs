//! Operand collection: collector units, register banks and the latches around them, of all sub-cores of an SM.
//!
//! The peer's unit, as its micro-benchmarks show it (`reference/README.md`): an issued instruction waits in its unit's
//! latch for a collector; each bank serves its oldest request once per round, unless a result is being written to it;
//! a complete instruction leaves for its unit's latch. Registers are interleaved over the sub-core's banks, shifted by
//! the warp number. There are two rounds per cycle, and a result blocks its bank in the first.
//!
//! Masks over sub-cores say where there is something to do. What happens in a round is close to random, so its steps are
//! written without branches where they are short: a mispredicted branch costs the host more than a step done in vain.

use super::inflight::{Inflight, UNITS, Unit};

/// Most sub-cores that an SM may have, and most collectors that each of them may have.
pub(super) const MAX_SUB_CORES: usize = 8;
const MAX_COLLECTORS: usize = 4;

/// Instructions of one latch kind that the operand collectors take up per round (the peer's number of input ports).
const COLLECTOR_PORTS: u32 = 8;

/// Units, padded so that masks per unit fill vector registers.
pub(super) const UNITS_PADDED: usize = 12;

/// Place of each unit in masks over all units and sub-cores: the load/store unit comes last, so that the others fill a word.
const PLACE: [usize; 16] = [0, 1, 8, 2, 3, 4, 5, 6, 7, 9, 9, 9, 9, 9, 9, 9];

/// The unit of each place but the last.
pub(super) const UNIT_AT: [usize; 8] = [0, 1, 3, 4, 5, 6, 7, 8];

/// Bit 0 of every bank's four bits.
const ONES: u32 = 0x1111_1111;

/// The register banks that `sources` are in, for warp 0: four bits per bank, a count; repeated to fill the word. `banks` is
/// 1, 2, 4 or 8.
pub(super) fn bank_reads(sources: &[u8], banks: u32) -> u32 {
    let reads: u32 = sources.iter().map(|&reg| 1 << (4 * (u32::from(reg) & (banks - 1)))).sum();
    (0..8 / banks).map(|copy| reads << (4 * banks * copy)).sum()
}

/// A queue of sub-cores, oldest first: four bits each.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    queue: u32,
    bits: u32,
}

impl Order {
    fn push(&mut self, sub_core: usize) {
        self.queue |= (sub_core as u32) << self.bits;
        self.bits += 4;
    }

    fn front(&self) -> usize {
        self.queue as usize & (MAX_SUB_CORES - 1)
    }

    fn pop(&mut self) {
        self.queue >>= 4;
        self.bits -= 4;
    }
}

/// Latches, collectors and banks of one sub-core.
#[derive(Clone, Copy, Debug)]
struct SubCoreOperands {
    /// Units whose issue latch is full, as masks over warps: all ones or none.
    issued_full: [u32; UNITS_PADDED],
    /// Units whose execution latch is full.
    complete_full: u16,
    /// Collectors taken, those of them whose operands have all been read, and those of these whose unit's latch was full
    /// when they last tried to leave.
    busy: u8,
    ready: u8,
    held: u8,
    /// Per collector: the unit; the reads left, four bits per bank; and masks, all ones if the other collector is older.
    unit: [u8; MAX_COLLECTORS],
    reads: [u32; MAX_COLLECTORS],
    older: [[u32; MAX_COLLECTORS]; MAX_COLLECTORS],
    collectors: [Inflight; MAX_COLLECTORS],
    issued: [Inflight; UNITS],
    complete: [Inflight; UNITS],
}

impl SubCoreOperands {
    const EMPTY: SubCoreOperands = SubCoreOperands {
        issued_full: [0; UNITS_PADDED],
        complete_full: 0,
        busy: 0,
        ready: 0,
        held: 0,
        unit: [0; MAX_COLLECTORS],
        reads: [0; MAX_COLLECTORS],
        older: [[0; MAX_COLLECTORS]; MAX_COLLECTORS],
        collectors: [Inflight::EMPTY; MAX_COLLECTORS],
        issued: [Inflight::EMPTY; UNITS],
        complete: [Inflight::EMPTY; UNITS],
    };

    /// Every bank that is `open` serves the oldest of its requests, with `N` collectors at most. Whether one is left.
    fn serve<const N: usize>(&mut self, open: u32) -> bool {
        let wanted: [u32; N] = std::array::from_fn(|at| {
            let reads = self.reads[at];
            (reads | reads >> 1 | reads >> 2) & open
        });
        let (mut left, mut done) = (0, 0);
        for at in 0..N {
            let mut served = wanted[at];
            for (wanted, older) in wanted.iter().zip(&self.older[at]) {
                served &= !(wanted & older);
            }
            self.reads[at] -= served;
            left |= self.reads[at];
            done |= u8::from(self.reads[at] == 0) << at;
        }
        self.ready = self.busy & done;
        left != 0
    }
}

/// The operand stage of an SM.
#[derive(Clone, Debug)]
pub(super) struct OperandStage {
    sub_cores: Box<[SubCoreOperands; MAX_SUB_CORES]>,
    /// Per unit, the sub-cores with an instruction in its issue latch, oldest first.
    issued: [Order; UNITS],
    /// Units with one.
    issued_units: u16,
    /// Sub-cores with a free collector.
    free: u8,
    /// Sub-cores in which a round would change something.
    active: u8,
    /// Per place of a unit (see [`PLACE`]), sub-cores with an instruction in its execution latch.
    complete: [u8; 16],
    /// Banks not being written this cycle, per sub-core: bit 0 of four per bank.
    open: [u32; MAX_SUB_CORES],
    /// Instructions in all latches and collectors.
    held: u32,
    all_collectors: u8,
    bank_mask: u8,
    rounds: u32,
}

impl OperandStage {
    /// `sub_cores` (1..=8), with `collectors` (1..=4) and `banks` (1, 2, 4 or 8) each; `rounds` per cycle.
    pub(super) fn new(sub_cores: u32, collectors: u32, banks: u32, rounds: u32) -> Self {
        OperandStage {
            sub_cores: Box::new([SubCoreOperands::EMPTY; MAX_SUB_CORES]),
            issued: [Order::default(); UNITS],
            issued_units: 0,
            free: (0xffu16 >> (MAX_SUB_CORES as u32 - sub_cores)) as u8,
            active: 0,
            complete: [0; 16],
            open: [ONES; MAX_SUB_CORES],
            held: 0,
            all_collectors: (0xffu16 >> (8 - collectors)) as u8,
            bank_mask: banks as u8 - 1,
            rounds,
        }
    }

    /// Units of a sub-core whose issue latch is taken, as masks over warps.
    pub(super) fn issued_full(&self, sub_core: usize) -> &[u32; UNITS_PADDED] {
        &self.sub_cores[sub_core & (MAX_SUB_CORES - 1)].issued_full
    }

    /// Puts an instruction into its unit's issue latch, which must be free.
    pub(super) fn issue(&mut self, sub_core: usize, inst: Inflight) {
        let sub_core = sub_core & (MAX_SUB_CORES - 1);
        let unit = inst.unit.index();
        let operands = &mut self.sub_cores[sub_core];
        operands.issued[unit] = inst;
        operands.issued_full[unit] = u32::MAX;
        self.issued[unit].push(sub_core);
        self.issued_units |= 1 << unit;
        self.held += 1;
    }

    /// Sub-cores with a memory instruction that may go to the load/store unit.
    pub(super) fn complete_mem(&self) -> u8 {
        self.complete[PLACE[Unit::Mem as usize]]
    }

    /// What may start executing in the other units: bit 8 x place of the unit + sub-core.
    pub(super) fn complete_others(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.complete;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The instruction in a unit's execution latch, which must be taken.
    pub(super) fn peek_complete(&self, sub_core: usize, unit: usize) -> &Inflight {
        &self.sub_cores[sub_core & (MAX_SUB_CORES - 1)].complete[unit]
    }

    /// Takes the instruction out of a unit's execution latch.
    pub(super) fn take_complete(&mut self, sub_core: usize, unit: usize) -> Inflight {
        let sub_core = sub_core & (MAX_SUB_CORES - 1);
        let operands = &mut self.sub_cores[sub_core];
        operands.complete_full &= !(1 << unit);
        self.complete[PLACE[unit]] &= !(1 << sub_core);
        self.active |= u8::from(operands.held != 0) << sub_core;
        operands.held = 0;
        self.held -= 1;
        operands.complete[unit]
    }

    /// Nothing in any latch or collector.
    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// A result is written this cycle. False if the bank is already being written.
    pub(super) fn write(&mut self, sub_core: usize, warp: u8, reg: u16) -> bool {
        let bank = (reg as u8).wrapping_add(warp) & self.bank_mask;
        let bit = 1 << (4 * bank);
        let open = &mut self.open[sub_core & (MAX_SUB_CORES - 1)];
        let free = *open & bit != 0;
        *open &= !bit;
        free
    }

    /// Forgets the writes: the first round of the cycle is over.
    pub(super) fn end_writes(&mut self) {
        self.open = [ONES; MAX_SUB_CORES];
    }

    /// The rounds of a cycle.
    pub(super) fn cycle(&mut self) {
        for _ in 0..self.rounds {
            let mut active = self.active;
            while active != 0 {
                let sub_core = active.trailing_zeros() as usize & (MAX_SUB_CORES - 1);
                active &= active - 1;
                self.round(sub_core);
            }
            self.end_writes();
            if self.issued_units != 0 {
                self.allocate();
            }
        }
    }

    /// Complete instructions of a sub-core leave for their units, then every bank serves one request.
    fn round(&mut self, sub_core: usize) {
        let operands = &mut self.sub_cores[sub_core];
        let mut leaving = operands.ready & !operands.held;
        while leaving != 0 {
            let at = leaving.trailing_zeros() as usize & (MAX_COLLECTORS - 1);
            leaving &= leaving - 1;
            let unit = usize::from(operands.unit[at]);
            if operands.complete_full >> unit & 1 == 0 {
                operands.complete[unit] = operands.collectors[at];
                operands.complete_full |= 1 << unit;
                operands.busy &= !(1 << at);
                operands.ready &= !(1 << at);
                self.complete[PLACE[unit]] |= 1 << sub_core;
                self.free |= 1 << sub_core;
            } else {
                operands.held |= 1 << at;
            }
        }
        let open = self.open[sub_core];
        let left = if self.all_collectors <= 3 { operands.serve::<2>(open) } else { operands.serve::<MAX_COLLECTORS>(open) };
        let idle = !left & (operands.ready == operands.held);
        self.active &= !(u8::from(idle) << sub_core);
    }

    /// Gives collectors out: port by port, each unit's oldest issued instruction of the SM; one that finds its sub-core's
    /// collectors taken holds up its unit in all sub-cores for the round.
    fn allocate(&mut self) {
        let mut units = self.issued_units;
        for _ in 0..COLLECTOR_PORTS {
            let mut rest = units;
            while rest != 0 {
                let unit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let sub_core = self.issued[unit].front();
                if self.free >> sub_core & 1 != 0 {
                    self.collect(sub_core, unit);
                    if self.issued[unit].bits != 0 {
                        continue;
                    }
                    self.issued_units &= !(1 << unit);
                }
                units &= !(1 << unit);
            }
            if units == 0 {
                break;
            }
        }
    }

    /// Moves the oldest instruction in `unit`'s issue latches, of `sub_core`, into a free collector. There must be both.
    fn collect(&mut self, sub_core: usize, unit: usize) {
        let operands = &mut self.sub_cores[sub_core];
        let at = (!operands.busy).trailing_zeros() as usize & (MAX_COLLECTORS - 1);
        let inst = operands.issued[unit];
        operands.issued_full[unit] = 0;
        operands.busy |= 1 << at;
        operands.ready |= u8::from(inst.reads == 0) << at;
        operands.unit[at] = unit as u8;
        operands.reads[at] = inst.reads;
        operands.older[at] = [u32::MAX; MAX_COLLECTORS];
        for older in &mut operands.older {
            older[at] = 0;
        }
        operands.collectors[at] = inst;
        self.free &= !(u8::from(operands.busy == self.all_collectors) << sub_core);
        self.active |= 1 << sub_core;
        self.issued[unit].pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Register r of warp w is in bank (r + w) mod banks, whatever the warp; issue turns the reads of warp 0 that far.
        #[test]
        fn reads_turn_with_the_warp(sources in prop::collection::vec(any::<u8>(), 0..=4), shift in 0u32..4, warp in 0u8..128) {
            let banks = 1 << shift;
            let mut expected = 0;
            for &reg in &sources {
                expected += 1 << (4 * ((u32::from(reg) + u32::from(warp)) % banks));
            }
            let turned = bank_reads(&sources, banks).rotate_left(4 * u32::from(warp)) & (u32::MAX >> (32 - 4 * banks));
            prop_assert_eq!(turned, expected);
        }
    }
}
