//! The register block against its own map, against arithmetic, and against a naive reference under random accesses. Here is what the
//! tests share.

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

use super::{KernelDescriptor, MachineDescription, RawCounters, Straps};
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, PolicyCode, feature};

pub(super) const SMS: usize = 5;

pub(super) fn machine() -> MachineDescription {
    MachineDescription {
        sm_count: SMS as u32,
        slot_count: KERNEL_SLOTS as u32,
        sm_threads: 1024,
        sm_registers: 65_536,
        sm_shared_bytes: 65_536,
        sm_tbs: 32,
        warp_threads: 32,
        register_granule: 4,
        shared_granule_bytes: 1,
        linear_coefficient_q16: 1234,
        sm_schedulers: 4,
        reply_sectors_q16: 24 << 16,
        dram_sectors_q16: 8 << 16,
        l2_sectors_q16: 24 << 16,
        l2_access_bytes: 32,
        sm_wake_cycles: 0,
        features: feature::IDEAL_TRANSITION,
        straps: Straps::new(PolicyCode::MiasIpc),
    }
}

fn kernel(grid_tbs: u32) -> KernelDescriptor {
    KernelDescriptor { grid_tbs, tb_threads: 256, thread_registers: 20, ..KernelDescriptor::default() }
}

/// Counters of an SM that issues 3 thread instructions per cycle.
fn at(cycle: u64) -> RawCounters {
    RawCounters::of([(Counter::Cycles, cycle), (Counter::ThreadInsts, 3 * cycle)])
}

/// The same, as every SM's.
fn at_sm(cycle: u64) -> impl FnMut(usize) -> RawCounters {
    move |_| at(cycle)
}
