//! Tests of the register block against its map, against arithmetic, and against a naive reference
//! under random accesses. This module has the shared functions.

mod active_warps;
mod commands;
mod dram;
mod map;
mod memory;
mod oversubscription;
mod queue;
mod reference;
mod shares;
mod time;
mod ways;
mod windows;

use super::{GpuDescription, KernelDescriptor, RawCounters, Straps};
use mias_registers::PolicyCode;
use mias_registers::counters::Counter;

pub(super) const SMS: usize = 5;

pub(super) fn gpu() -> GpuDescription {
    GpuDescription { linear_coefficient_q16: 1234, ..GpuDescription::reference(SMS, Straps::new(PolicyCode::MiasIpc)) }
}

fn kernel(grid_tbs: u32) -> KernelDescriptor {
    KernelDescriptor { grid_tbs, tb_threads: 256, thread_registers: 20, ..KernelDescriptor::default() }
}

/// Counters of an SM that issues 3 thread instructions per cycle.
fn at(cycle: u64) -> RawCounters {
    RawCounters::of([(Counter::Cycles, cycle), (Counter::ThreadInsts, 3 * cycle)])
}

/// Source of counters of SMs that issue 3 thread instructions per cycle.
fn at_sm(cycle: u64) -> impl FnMut(usize) -> RawCounters {
    move |_| at(cycle)
}
