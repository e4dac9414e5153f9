//! Accounting: what every cycle of an SM and of its schedulers was.
//!
//! A cycle is accounted when it has run; cycles slept through are accounted in one go as what the SM was doing when it
//! fell asleep, before anything changes.

use super::Sm;
use super::collector::MAX_SUB_CORES;
use super::inflight::Unit;
use super::stall::IssueClass as Class;
use super::sub_core::Readiness;

impl Sm {
    /// Accounts the cycles since the last accounted one, in which the SM slept.
    pub(crate) fn account_sleep(&mut self, now: u64) {
        if now > self.accounted {
            self.issued = 0;
            self.account(now - self.accounted);
            self.accounted = now;
        }
    }

    /// Accounts `cycles` cycles as what the SM does now.
    pub(super) fn account(&mut self, cycles: u64) {
        self.counters.cycles += cycles;
        let mut on_memory = false;
        for (number, sub_core) in self.sub_cores[..=usize::from(self.sub_core_mask) & (MAX_SUB_CORES - 1)].iter().enumerate() {
            let class = class_of(self.issued >> number & 1 != 0, &sub_core.readiness);
            self.counters.schedulers[class as usize] += cycles;
            on_memory |= sub_core.readiness.on_memory != 0 || class == Class::MemoryPipeline;
        }
        if self.issued != 0 {
            self.counters.issue_cycles += cycles;
        } else if on_memory {
            self.counters.memory_stall_cycles += cycles;
            self.counters.accumulated_outstanding += cycles * u64::from(self.lsu.l1.outstanding());
        }
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
