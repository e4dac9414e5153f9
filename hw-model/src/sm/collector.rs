//! Operand collection of one sub-core: collector units, register banks and the latches around them.
//!
//! The peer's unit, as its micro-benchmarks show it (`reference/README.md`): an issued instruction waits in its unit's
//! latch for a collector; each bank serves its oldest request once per round, unless a result is being written to it;
//! a complete instruction leaves for its unit's latch. Registers are interleaved over the sub-core's banks, shifted by
//! the warp number. There are two rounds per cycle, and a result blocks its bank in the first.

use super::inflight::{Inflight, UNITS};

/// Most collectors and banks that a sub-core may have.
pub(super) const MAX_COLLECTORS: usize = 4;
pub(super) const MAX_BANKS: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Collector {
    inst: Inflight,
    missing: u8,
}

/// A bank's read requests, oldest first: four bits each, the collector that asked.
/// 4 collectors x 4 operands make at most 16 requests.
#[derive(Clone, Copy, Debug, Default)]
struct Requests {
    queue: u64,
    len: u32,
}

impl Requests {
    fn push(&mut self, collector: usize) {
        self.queue |= (collector as u64) << (4 * self.len);
        self.len += 1;
    }

    fn pop(&mut self) -> usize {
        let collector = (self.queue & 15) as usize;
        self.queue >>= 4;
        self.len -= 1;
        collector
    }
}

/// Latches, collectors and banks of one sub-core.
#[derive(Clone, Debug)]
pub(super) struct OperandCollector {
    issued: [Inflight; UNITS],
    /// Units whose issue latch is full.
    issued_full: u16,
    complete: [Inflight; UNITS],
    /// Units whose execution latch is full.
    complete_full: u16,
    collectors: [Collector; MAX_COLLECTORS],
    busy: u8,
    ready: u8,
    all: u8,
    banks: [Requests; MAX_BANKS],
    /// Banks with a request waiting.
    asked: u8,
    /// Banks being written this cycle.
    written: u8,
    bank_mask: u32,
}

impl OperandCollector {
    /// `collectors` (1..=4) and `banks` (1, 2, 4 or 8) are per sub-core.
    pub(super) fn new(collectors: u32, banks: u32) -> Self {
        OperandCollector {
            issued: [Inflight::EMPTY; UNITS],
            issued_full: 0,
            complete: [Inflight::EMPTY; UNITS],
            complete_full: 0,
            collectors: [Collector { inst: Inflight::EMPTY, missing: 0 }; MAX_COLLECTORS],
            busy: 0,
            ready: 0,
            all: (0xffu16 >> (8 - collectors)) as u8,
            banks: [Requests::default(); MAX_BANKS],
            asked: 0,
            written: 0,
            bank_mask: banks - 1,
        }
    }

    fn bank(&self, warp: u8, reg: u32) -> usize {
        ((reg + u32::from(warp)) & self.bank_mask) as usize
    }

    /// Units whose issue latch is taken.
    pub(super) fn issued_full(&self) -> u16 {
        self.issued_full
    }

    /// Puts an instruction into its unit's issue latch, which must be free.
    pub(super) fn issue(&mut self, inst: Inflight) {
        let unit = inst.unit.index();
        self.issued[unit] = inst;
        self.issued_full |= 1 << unit;
    }

    /// Age of the instruction in a unit's issue latch, which must be taken.
    pub(super) fn issue_seq(&self, unit: usize) -> u32 {
        self.issued[unit].seq
    }

    /// Units whose instruction may start executing.
    pub(super) fn complete_full(&self) -> u16 {
        self.complete_full
    }

    /// The instruction in a unit's execution latch, which must be taken.
    pub(super) fn peek_complete(&self, unit: usize) -> &Inflight {
        &self.complete[unit]
    }

    /// Takes the instruction out of a unit's execution latch.
    pub(super) fn take_complete(&mut self, unit: usize) -> Inflight {
        self.complete_full &= !(1 << unit);
        self.complete[unit]
    }

    /// Nothing in any latch or collector.
    pub(super) fn is_empty(&self) -> bool {
        self.issued_full | self.complete_full | u16::from(self.busy) == 0
    }

    /// A result is written this cycle. False if the bank is already being written.
    pub(super) fn write(&mut self, warp: u8, reg: u16) -> bool {
        let bit = 1 << self.bank(warp, u32::from(reg));
        let free = self.written & bit == 0;
        self.written |= bit;
        free
    }

    /// Forgets the writes: the first round of the cycle is over.
    pub(super) fn end_writes(&mut self) {
        self.written = 0;
    }

    /// First half of a round: complete instructions leave, then every bank serves one request.
    pub(super) fn collect(&mut self) {
        if self.busy == 0 {
            return;
        }
        let mut leaving = self.ready;
        while leaving != 0 {
            let at = leaving.trailing_zeros() as usize;
            leaving &= leaving - 1;
            let unit = self.collectors[at].inst.unit.index();
            if self.complete_full >> unit & 1 == 0 {
                self.complete[unit] = self.collectors[at].inst;
                self.complete_full |= 1 << unit;
                self.busy &= !(1 << at);
                self.ready &= !(1 << at);
            }
        }
        let mut served = self.asked & !self.written;
        while served != 0 {
            let bank = served.trailing_zeros() as usize;
            served &= served - 1;
            let at = self.banks[bank].pop();
            if self.banks[bank].len == 0 {
                self.asked &= !(1 << bank);
            }
            self.collectors[at].missing -= 1;
            if self.collectors[at].missing == 0 {
                self.ready |= 1 << at;
            }
        }
    }

    /// Whether a collector is free.
    pub(super) fn has_free_collector(&self) -> bool {
        self.busy != self.all
    }

    /// Second half of a round: moves the instruction in `unit`'s issue latch into a free collector. There must be both.
    pub(super) fn allocate(&mut self, unit: usize) {
        let at = (!self.busy).trailing_zeros() as usize;
        let inst = self.issued[unit];
        self.issued_full &= !(1 << unit);
        self.busy |= 1 << at;
        for &reg in &inst.sources[..usize::from(inst.source_count)] {
            let bank = self.bank(inst.warp, u32::from(reg));
            self.banks[bank].push(at);
            self.asked |= 1 << bank;
        }
        self.collectors[at] = Collector { inst, missing: inst.source_count };
        if inst.source_count == 0 {
            self.ready |= 1 << at;
        }
    }
}
