//! Accounting: what every cycle of an SM and of its schedulers was.
//!
//! A cycle is accounted when it has run; cycles slept through are accounted in one go as what the SM was doing when it
//! fell asleep, before anything changes. Cycles in which nothing issues and no warp's state changes are classed as the one
//! before them, and added up when that ends.
//!
//! Every scheduler-cycle is charged to one kernel as well: the one that issued, else that of the oldest warp among those
//! that make the cycle what it is (those that wait for memory, those whose pipeline is full, ...), as the peer's first
//! choice would have been. An SM that holds TBs of one kernel charges it all; otherwise a scheduler without warps charges
//! nobody. (The sources count per SM only; own definition.)

use super::Sm;
use super::collector::MAX_SUB_CORES;
use super::inflight::Unit;
use super::stall::IssueClass as Class;
use super::sub_core::Readiness;

/// Charged where a scheduler has no warp; no kernel slot.
const NOBODY: u8 = u8::MAX;

/// What the accounting remembers between cycles.
#[derive(Clone, Debug)]
pub(super) struct Account {
    /// Cycles before this one are accounted.
    until: u64,
    /// Some warp's state may have changed since the classes were determined.
    pub(super) changed: bool,
    /// The class of each scheduler and the kernel charged, whether the SM waits for memory, and the cycles of these classes
    /// not yet added.
    classes: [Class; MAX_SUB_CORES],
    charged: [u8; MAX_SUB_CORES],
    on_memory: bool,
    cycles: u64,
}

impl Default for Account {
    fn default() -> Self {
        Account {
            until: 0,
            changed: true,
            classes: [Class::IdleOrControl; MAX_SUB_CORES],
            charged: [NOBODY; MAX_SUB_CORES],
            on_memory: false,
            cycles: 0,
        }
    }
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
        self.add_classes();
    }

    /// Accounts the last `cycles` cycles, up to `now`, as what the SM does now.
    pub(super) fn account(&mut self, now: u64, cycles: u64) {
        self.account.until = now + 1;
        self.counters.cycles += cycles;
        if self.account.changed || self.issued != 0 {
            self.add_classes();
            self.classify();
            // Who issued is not who issues next.
            self.account.changed = self.issued != 0;
        }
        self.account.cycles += cycles;
        let outstanding = cycles * u64::from(self.lsu.l1.outstanding());
        self.counters.outstanding_cycles += outstanding;
        if self.issued != 0 {
            self.counters.issue_cycles += cycles;
        } else if self.account.on_memory {
            self.counters.memory_stall_cycles += cycles;
            self.counters.accumulated_outstanding += outstanding;
        }
    }

    fn add_classes(&mut self) {
        let Account { classes, charged, cycles, .. } = &mut self.account;
        let schedulers = ..=usize::from(self.sub_core_mask) & (MAX_SUB_CORES - 1);
        for (class, kernel) in classes[schedulers].iter().zip(&charged[schedulers]) {
            self.counters.schedulers[*class as usize] += *cycles;
            if let Some(kernel) = self.kernels.get_mut(usize::from(*kernel)) {
                kernel.schedulers[*class as usize] += *cycles;
            }
        }
        *cycles = 0;
    }

    fn classify(&mut self) {
        let mut on_memory = false;
        for (number, sub_core) in self.sub_cores[..=usize::from(self.sub_core_mask) & (MAX_SUB_CORES - 1)].iter().enumerate() {
            let class = class_of(self.issued >> number & 1 != 0, &sub_core.readiness);
            self.account.classes[number] = class;
            on_memory |= sub_core.readiness.on_memory != 0 || class == Class::MemoryPipeline;
        }
        self.account.on_memory = on_memory;
        if self.resident_kernels.is_power_of_two() {
            self.account.charged = [self.resident_kernels.trailing_zeros() as u8; MAX_SUB_CORES];
        } else {
            self.charge();
        }
    }

    /// Whom to charge, where several kernels are resident, or none.
    fn charge(&mut self) {
        for number in 0..=self.sub_core_mask {
            let sub_core = &self.sub_cores[usize::from(number) & (MAX_SUB_CORES - 1)];
            let readiness = &sub_core.readiness;
            let of_local = |local: u32| &self.warps[(local << self.sub_core_shift) as u8 | number];
            let warps = match self.account.classes[usize::from(number) & (MAX_SUB_CORES - 1)] {
                Class::Issued => 1 << sub_core.picker.last(),
                Class::RawMemory => readiness.on_memory & readiness.valid,
                Class::RawCompute => readiness.valid,
                Class::MemoryPipeline => readiness.by_unit[Unit::Mem.index()],
                Class::ComputePipeline => readiness.ready,
                Class::IdleOrControl => {
                    let all = self.warp_slots >> self.sub_core_shift;
                    (0..all).fold(0, |set, local| set | u32::from(of_local(local).live) << local)
                }
            };
            let oldest = locals(warps).min_by_key(|&local| of_local(local).age);
            self.account.charged[usize::from(number) & (MAX_SUB_CORES - 1)] = oldest.map_or(NOBODY, |local| of_local(local).kernel);
        }
    }
}

/// The members of a set of warps, by local number.
fn locals(mut warps: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let local = (warps != 0).then(|| warps.trailing_zeros());
        warps &= warps.wrapping_sub(1);
        local
    })
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
