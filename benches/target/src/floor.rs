//! The least that a decision can cost, the floor: reading each counter that a metric needs of each SM once, adding them up, and nothing else.

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::counters::Counter::{self, Cycles, IssueCycles, LoadRequests, MemoryStallCycles, OutstandingMisses, ThreadInsts};

/// The loop for a set of counters, by the same bus call as the firmware's. The step is hidden from the compiler, as it is there:
/// with a known step it unrolls the loop sixteen times, which is not a loop any more.
#[inline(always)]
fn sum<const N: usize>(bus: &mut MappedBus, sms: u16, wanted: [Counter; N]) -> u32 {
    let mut sum = 0_u32;
    let all = (0, core::hint::black_box(1), usize::from(sms));
    bus.read_sms(all, wanted.map(Counter::register), |values| sum = values.into_iter().fold(sum, u32::wrapping_add));
    sum
}

/// For IPC: 3 reads per SM.
#[inline(never)]
pub(crate) fn ipc(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, ThreadInsts])
}

/// For IPM*IPC: 4 reads per SM.
#[inline(never)]
pub(crate) fn ipm_ipc(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, LoadRequests, ThreadInsts])
}

/// For Factor and Linear: 5 reads per SM.
#[inline(never)]
pub(crate) fn factor(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, MemoryStallCycles, OutstandingMisses, ThreadInsts])
}
