//! Accounting: what every cycle of an SM and of its schedulers was.
//!
//! A cycle is accounted when it has run; cycles slept through are accounted in one go as what the SM was doing when it
//! fell asleep, before anything changes. A scheduler in whose sub-core nothing issues and no warp's state changes is classed as in
//! the cycle before.
//!
//! Every scheduler-cycle is charged to one kernel as well: the one that issued, else that of the oldest warp among those
//! that make the cycle what it is (those that wait for memory, those whose pipeline is full, ...), as the peer's first
//! choice would have been. An SM that holds TBs of one kernel charges it all; otherwise a scheduler without warps charges
//! nobody. (The sources count per SM only; own definition.)

use super::inflight::Unit;
use super::operands::MAX_SUB_CORES;
use super::stall::IssueClass as Class;
use super::sub_core::Readiness;
use super::{KERNEL_SLOTS, Sm};

/// Charged where a scheduler has no warp; no kernel slot.
const NOBODY: u8 = KERNEL_SLOTS as u8;

/// Cells of the table of scheduler-cycles: 8 classes for each kernel slot and for nobody, up to a power of two.
const CELLS: usize = 128;

/// What the accounting remembers between cycles.
#[derive(Clone, Debug)]
pub(super) struct Account {
    /// Cycles before this one are accounted.
    until: u64,
    /// Sub-cores in which some warp's state may have changed since their scheduler was classed.
    pub(super) changed: u8,
    /// Sub-cores that wait for memory.
    on_memory: u8,
    /// The cell of each scheduler: its class and the kernel charged.
    cells: [u8; MAX_SUB_CORES],
    /// Scheduler-cycles by cell.
    cycles: [u64; CELLS],
}

impl Default for Account {
    fn default() -> Self {
        Account { until: 0, changed: u8::MAX, on_memory: 0, cells: [cell(Class::IdleOrControl, NOBODY); MAX_SUB_CORES], cycles: [0; CELLS] }
    }
}

const fn cell(class: Class, kernel: u8) -> u8 {
    kernel << 3 | class as u8
}

impl Sm {
    /// Accounts the cycles since the last accounted one, in which the SM slept.
    pub(super) fn account_sleep(&mut self, now: u64) {
        if now > self.account.until {
            self.issued = 0;
            self.account(now - 1, now - self.account.until);
        }
    }

    /// Brings the counters up to date, up to and without cycle `now`.
    pub(crate) fn settle(&mut self, now: u64) {
        self.account_sleep(now);
        self.counters.cycles = self.account.until;
        let cycles = |class: Class, kernel: u8| self.account.cycles[usize::from(cell(class, kernel))];
        for class in Class::ALL {
            self.counters.schedulers[class as usize] = (0..=NOBODY).map(|kernel| cycles(class, kernel)).sum();
            for (slot, kernel) in self.kernels.iter_mut().enumerate() {
                kernel.schedulers[class as usize] = cycles(class, slot as u8);
            }
        }
    }

    /// Accounts the last `cycles` cycles, up to `now`, as what the SM does now.
    pub(super) fn account(&mut self, now: u64, cycles: u64) {
        self.account.until = now + 1;
        let changed = self.account.changed | self.issued;
        if changed != 0 {
            self.classify(changed);
            // Who issued is not who issues next.
            self.account.changed = self.issued;
        }
        let account = &mut self.account;
        for cell in &account.cells[..=usize::from(self.sub_core_mask) & (MAX_SUB_CORES - 1)] {
            account.cycles[usize::from(*cell) & (CELLS - 1)] += cycles;
        }
        let outstanding = cycles * u64::from(self.lsu.l1.outstanding());
        self.counters.outstanding_cycles += outstanding;
        if self.issued != 0 {
            self.counters.issue_cycles += cycles;
        } else if self.account.on_memory != 0 {
            self.counters.memory_stall_cycles += cycles;
            self.counters.accumulated_outstanding += outstanding;
        }
    }

    /// Classes the schedulers of the sub-cores that have `changed`.
    fn classify(&mut self, changed: u8) {
        let alone = self.resident_kernels.is_power_of_two();
        let kernel = self.resident_kernels.trailing_zeros() as u8;
        let mut changed = u32::from(changed);
        if !alone {
            // Warps that leave change nothing but whom an idle scheduler charges.
            let idle = |(number, cell): (usize, &u8)| u32::from(cell & 7 == Class::IdleOrControl as u8) << number;
            changed |= self.account.cells.iter().enumerate().map(idle).sum::<u32>();
        }
        changed &= (2 << self.sub_core_mask) - 1;
        while changed != 0 {
            let number = changed.trailing_zeros() as usize & (MAX_SUB_CORES - 1);
            changed &= changed - 1;
            let sub_core = &self.sub_cores[number];
            let class = class_of(self.issued >> number & 1 != 0, &sub_core.readiness);
            let on_memory = sub_core.readiness.on_memory != 0 || class == Class::MemoryPipeline;
            self.account.on_memory = self.account.on_memory & !(1 << number) | u8::from(on_memory) << number;
            self.account.cells[number] = cell(class, if alone { kernel } else { self.charged(number, class) });
        }
    }

    /// Whom a scheduler's cycle is charged to, where several kernels are resident, or none.
    fn charged(&self, number: usize, class: Class) -> u8 {
        let sub_core = &self.sub_cores[number];
        let (readiness, residents) = (&sub_core.readiness, &sub_core.residents);
        let warps = match class {
            Class::Issued => return residents.kernel(sub_core.picker.last()),
            Class::RawMemory => readiness.on_memory & readiness.valid,
            Class::RawCompute => readiness.valid,
            Class::MemoryPipeline => readiness.by_unit[Unit::Mem.index()],
            Class::ComputePipeline => readiness.ready,
            Class::IdleOrControl => residents.live(),
        };
        if warps == 0 { NOBODY } else { residents.kernel(residents.oldest(warps)) }
    }
}

/// What a scheduler's cycle was. A table, because the host could not predict the branches.
fn class_of(issued: bool, readiness: &Readiness) -> Class {
    let bit = |condition: bool, place: u32| usize::from(condition) << place;
    let mem = Unit::Mem.index();
    CLASSES[bit(issued, 4)
        | bit(readiness.valid != 0, 3)
        | bit(readiness.ready != 0, 2)
        | bit(readiness.by_unit[mem] != 0, 1)
        | bit(readiness.on_memory & readiness.valid != 0, 0)]
}

/// By issued, valid, ready, ready for the memory pipeline, waiting for memory.
const CLASSES: [Class; 32] = {
    let mut classes = [Class::Issued; 32];
    let mut case = 0;
    while case < 16 {
        let (valid, ready, for_memory, on_memory) = (case & 8 != 0, case & 4 != 0, case & 2 != 0, case & 1 != 0);
        classes[case] = match (valid, ready) {
            (false, _) => Class::IdleOrControl,
            (true, true) if for_memory => Class::MemoryPipeline,
            (true, true) => Class::ComputePipeline,
            (true, false) if on_memory => Class::RawMemory,
            (true, false) => Class::RawCompute,
        };
        case += 1;
    }
    classes
};
