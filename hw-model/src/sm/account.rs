//! Accounting: what every cycle of an SM and of its schedulers was.
//!
//! A cycle is accounted when it has run; cycles slept through are accounted in one go as what the SM was doing when it
//! fell asleep, before anything changes.

use super::Sm;
use super::inflight::Unit;
use super::stall::IssueClass as Class;
use super::sub_core::SubCore;

impl Sm {
    /// Accounts the cycles since the last accounted one, in which the SM slept.
    pub(crate) fn account_sleep(&mut self, now: u64) {
        if now > self.accounted {
            for sub_core in &mut self.sub_cores {
                sub_core.issued = false;
            }
            self.account(now - self.accounted);
            self.accounted = now;
        }
    }

    /// Accounts `cycles` cycles as what the SM does now.
    pub(super) fn account(&mut self, cycles: u64) {
        self.counters.cycles += cycles;
        let mut issued = false;
        let mut on_memory = false;
        for sub_core in &self.sub_cores {
            let class = classify(sub_core);
            self.counters.schedulers[class as usize] += cycles;
            issued |= class == Class::Issued;
            on_memory |= sub_core.readiness.on_memory != 0 || class == Class::MemoryPipeline;
        }
        if issued {
            self.counters.issue_cycles += cycles;
        } else if on_memory {
            self.counters.memory_stall_cycles += cycles;
            self.counters.accumulated_outstanding += cycles * u64::from(self.lsu.l1.outstanding());
        }
    }
}

/// What a scheduler's cycle was.
fn classify(sub_core: &SubCore) -> Class {
    let readiness = &sub_core.readiness;
    if sub_core.issued {
        Class::Issued
    } else if readiness.valid == 0 {
        Class::IdleOrControl
    } else if readiness.ready != 0 {
        if readiness.by_unit[Unit::Mem.index()] != 0 { Class::MemoryPipeline } else { Class::ComputePipeline }
    } else if readiness.on_memory & readiness.valid != 0 {
        Class::RawMemory
    } else {
        Class::RawCompute
    }
}
