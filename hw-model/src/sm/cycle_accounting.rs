//! Cycle accounting: class of every cycle of an SM and of its schedulers.
//!
//! A cycle is accounted after it has run. Slept cycles are accounted together, in the state in
//! which the SM fell asleep, before anything changes. A cycle without an issue or a change of a
//! warp's state has the class of the previous one.
//!
//! Every scheduler-cycle is also attributed to one kernel: the one that issued, or that of the
//! oldest warp among those that determine the class. These are the warps that wait for memory,
//! those with a full pipeline, and so on, as Accel-Sim's first choice would have been. An SM with
//! TBs of one kernel attributes all cycles to it. Otherwise, a cycle of a scheduler without warps
//! is attributed to no kernel. (The sources count per SM only; own definition.) A warp that leaves
//! before the rest of its TB is noticed at the next change. Until then, idle cycles of its
//! scheduler stay attributed to its kernel.
//!
//! Start reading with the plain twin, `plain.rs`, which counts cycle by cycle.

use super::inflight::Unit;
use super::issue_slots::IssueClass as Class;
use super::operands::{BELOW, MAX_SUB_CORES, TOPS};
use super::sub_core::{Readiness, SubCore};
use super::warp::MAX_WARPS;
use super::{KERNEL_SLOTS, Sm};

/// Attribution of a scheduler without a warp, not a kernel slot.
const NO_KERNEL: u8 = KERNEL_SLOTS as u8;

/// Number of cells of the table of scheduler-cycles: 16 classes, some unused, for each kernel slot
/// and for cycles without a kernel, rounded up to a power of two.
const CELLS: usize = 256;

/// Mask of all possible sub-cores.
pub(super) const EVERY_SUB_CORE: u8 = u8::MAX;

/// State of the accounting between cycles. A scheduler is classified only when its class may have
/// changed, and cycles are added up only then. Both are done for all schedulers at once, since the
/// host could not predict for which.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct CycleAccounting {
    /// Scheduler-cycles by cell.
    cycles: [u64; CELLS],
    /// First cycle that is not accounted.
    until: u64,
    /// First cycle that is not in its cell yet.
    since: u64,
    /// Cell of each scheduler: its class and its kernel.
    cells: [u8; MAX_SUB_CORES],
    /// Mask of sub-cores in which some warp's state may have changed since the last classification.
    pub(super) changed: u8,
    /// Kernel slots with TBs at the last classification, and whether it examined the warps.
    kernels: u8,
    looked_closer: bool,
    /// Nonzero if a warp waits for a load through the L1.
    on_memory: u32,
    /// Nonzero if a warp was ready for the memory pipeline; if none has issued, the pipeline was
    /// full.
    full: u32,
}

impl Default for CycleAccounting {
    fn default() -> Self {
        let cells = [cell(Class::IdleOrControl, NO_KERNEL); MAX_SUB_CORES];
        let (changed, kernels) = (EVERY_SUB_CORE, 0);
        CycleAccounting { until: 0, changed, kernels, looked_closer: false, on_memory: 0, full: 0, cells, since: 0, cycles: [0; CELLS] }
    }
}

impl CycleAccounting {
    /// Moves the schedulers of this set into the cell of issuing schedulers.
    #[inline]
    fn issue(&mut self, schedulers: u8) {
        // Byte n holds only bit n; if it is set, the byte becomes all ones.
        let bits = (u64::from(schedulers) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let bytes = ((((bits & BELOW) + BELOW) | bits) & TOPS) >> 7;
        let bytes = bytes * 0xff;
        self.cells = (u64::from_le_bytes(self.cells) & !bytes).to_le_bytes();
    }

    /// Adds the cycles before `start` to the cells of the first `schedulers`.
    #[inline]
    fn add_up(&mut self, start: u64, schedulers: usize) {
        let cycles = start - self.since;
        self.since = start;
        for cell in &self.cells[..schedulers] {
            self.cycles[usize::from(*cell) & (CELLS - 1)] += cycles;
        }
    }
}

/// Cell of issuing schedulers. It has no kernel, since their kernels are counted by instructions.
const ISSUED: u8 = cell(Class::Issued, 0);
const _: () = assert!(ISSUED == 0);

const fn cell(class: Class, kernel: u8) -> u8 {
    kernel << 4 | class as u8
}

impl Sm {
    /// Accounts the slept cycles since the last accounted one.
    #[inline]
    pub(super) fn account_sleep(&mut self, now: u64) {
        if now > self.accounting.until {
            self.account_slept(now);
        }
    }

    #[inline(never)]
    fn account_slept(&mut self, now: u64) {
        self.issued = 0;
        self.account(now - 1, now - self.accounting.until);
    }

    /// Brings the counters up to date, before cycle `now`.
    pub(crate) fn settle(&mut self, now: u64) {
        self.lsu.l1.turn(now);
        self.account_sleep(now);
        self.counters.cycles = self.accounting.until;
        self.accounting.add_up(self.accounting.until, self.sub_cores_here());
        let cycles = |class: Class, kernel: u8| self.accounting.cycles[usize::from(cell(class, kernel))];
        for class in Class::ALL {
            if class == Class::Issued {
                // Each issue slot is one instruction.
                self.kernels.iter_mut().for_each(|kernel| kernel.issue_slots[class as usize] = kernel.warp_insts);
                self.counters.issue_slots[class as usize] = self.kernels.iter().map(|kernel| kernel.warp_insts).sum();
                continue;
            }
            self.counters.issue_slots[class as usize] = (0..=NO_KERNEL).map(|kernel| cycles(class, kernel)).sum();
            for (slot, kernel) in self.kernels.iter_mut().enumerate() {
                kernel.issue_slots[class as usize] = cycles(class, slot as u8);
            }
        }
    }

    /// Accounts the last `cycles` cycles, up to `now`, in the SM's current state.
    #[inline(always)]
    pub(super) fn account(&mut self, now: u64, cycles: u64) {
        self.accounting.until = now + 1;
        if self.accounting.changed | self.issued != 0 {
            self.classify(now + 1 - cycles);
        }
        // Schedulers that issued may not issue in the next cycle.
        self.accounting.changed = self.issued;
        let outstanding = cycles * u64::from(self.outstanding);
        self.counters.outstanding_cycles += outstanding;
        if self.issued != 0 {
            self.counters.issue_cycles += cycles;
        } else if self.accounting.on_memory != 0 || (self.accounting.full != 0 && self.lsu.head_through_l1()) {
            self.counters.memory_stall_cycles += cycles;
            self.counters.outstanding_misses += outstanding;
        }
    }

    /// Adds up the cycles before `start`, and classifies the schedulers from there on.
    #[inline(never)]
    fn classify(&mut self, start: u64) {
        let alone = self.resident_kernels.is_power_of_two();
        let kernel = self.resident_kernels.trailing_zeros() as u8;
        let looks_closer = !alone | (self.constant_loads != 0) | self.stalled;
        self.accounting.add_up(start, self.sub_cores_here());
        if self.issued == 0 {
            // This is not needed if a scheduler has issued.
            let sub_cores = self.sub_cores[..self.sub_cores_here()].iter();
            let masks = sub_cores.map(|SubCore { readiness, .. }| (readiness.on_memory, readiness.for_memory()));
            (self.accounting.on_memory, self.accounting.full) = masks.fold((0, 0), |all, masks| (all.0 | masks.0, all.1 | masks.1));
        }
        if looks_closer {
            self.look_closer(alone, kernel);
        } else {
            let anew = self.accounting.looked_closer | (self.accounting.kernels != self.resident_kernels);
            self.accounting.issue(self.issued);
            let mut changed = (if anew { EVERY_SUB_CORE } else { self.accounting.changed }) & self.sub_cores_mask() & !self.issued;
            while changed != 0 {
                let number = changed.trailing_zeros() as usize & (MAX_SUB_CORES - 1);
                changed &= changed - 1;
                self.accounting.cells[number] = cell(class_of(false, &self.sub_cores[number].readiness), kernel);
            }
        }
        (self.accounting.looked_closer, self.accounting.kernels) = (looks_closer, self.resident_kernels);
    }

    /// Examines the warps: finds the kind of on-chip load and the kernel of a cycle.
    fn look_closer(&mut self, alone: bool, kernel: u8) {
        for number in 0..self.sub_cores_here() {
            let mut class = class_of(self.issued >> number & 1 != 0, &self.sub_cores[number].readiness);
            if self.held >> number & 1 != 0 || self.stalled && self.sub_cores[number].readiness.issuable() != 0 {
                class = Class::Held;
            } else if class == Class::SharedRaw && self.on_shared(number) == 0 {
                class = Class::ConstantRaw;
            }
            self.accounting.cells[number] = cell(class, if alone { kernel } else { self.charged(number, class) });
        }
    }

    /// Warps of a sub-core that wait for a load from shared memory.
    fn on_shared(&self, sub_core: usize) -> u32 {
        let SubCore { readiness, residents, .. } = &self.sub_cores[sub_core];
        let (mut left, mut found) = (readiness.on_chip, 0);
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let number = (residents.local(place) << self.sub_core_shift) as u8 | sub_core as u8;
            let on_chip = &self.on_chip[usize::from(number) & (MAX_WARPS - 1)];
            found |= u32::from(on_chip.waits_for_shared(&self.warps[number].needs)) << place;
        }
        found
    }

    /// Kernel to which a scheduler's cycle is attributed, if several kernels are resident, or none.
    #[inline]
    fn charged(&self, number: usize, class: Class) -> u8 {
        let SubCore { readiness, residents, .. } = &self.sub_cores[number];
        let warps = match class {
            // Issuing schedulers are attributed by their instructions.
            Class::Issued => 0,
            Class::IdleOrControl => residents.live(),
            Class::MemoryRaw => readiness.on_memory & readiness.valid,
            Class::SharedRaw => self.on_shared(number),
            Class::ConstantRaw => readiness.on_chip,
            Class::ComputeRaw => readiness.valid,
            Class::MemoryPipeline => readiness.for_memory(),
            Class::BothPipelines | Class::ComputePipeline => readiness.ready,
            Class::Held => readiness.issuable(),
        };
        let kernel = residents.kernel(residents.oldest(warps));
        if warps == 0 { NO_KERNEL } else { kernel }
    }
}

/// Class of a scheduler's cycle. It is a table, since the host could not predict the branches.
#[inline]
fn class_of(issued: bool, readiness: &Readiness) -> Class {
    let bit = |condition: bool, place: u32| usize::from(condition) << place;
    let mem = Unit::Mem.index();
    CLASSES[bit(issued, 5)
        | bit(readiness.valid != 0, 4)
        | bit(readiness.ready != readiness.by_unit[mem], 3)
        | bit(readiness.by_unit[mem] != 0, 2)
        | bit(readiness.on_memory & readiness.valid != 0, 1)
        | bit(readiness.on_chip != 0, 0)]
}

/// Classes by: issued; valid; ready for a compute pipeline, for the memory pipeline; waiting for a
/// load through the L1, for an on-chip load. Telling shared from constant memory requires an
/// examination of the warps.
const CLASSES: [Class; 64] = {
    let mut classes = [Class::Issued; 64];
    let mut case = 0;
    while case < 32 {
        let (for_compute, for_memory, on_memory, on_chip) = (case & 8 != 0, case & 4 != 0, case & 2 != 0, case & 1 != 0);
        classes[case] = match (for_compute, for_memory) {
            _ if case & 16 == 0 => Class::IdleOrControl,
            (true, true) => Class::BothPipelines,
            (false, true) => Class::MemoryPipeline,
            (true, false) => Class::ComputePipeline,
            (false, false) if on_memory => Class::MemoryRaw,
            (false, false) if on_chip => Class::SharedRaw,
            (false, false) => Class::ComputeRaw,
        };
        case += 1;
    }
    classes
};
