//! Floor of a decision's cost: reading each counter that a metric needs of each SM once, and adding
//! them up.

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::counters::Counter::{self, Cycles, IssueCycles, LoadRequests, MemoryStallCycles, OutstandingMisses, ThreadInsts};

/// Runs the loop for a set of counters, with the firmware's bus call. The step is hidden from the
/// compiler, as in the firmware. With a known step the compiler unrolls the loop sixteen times.
#[inline(always)]
fn sum<const N: usize>(bus: &mut MappedBus, sms: u16, wanted: [Counter; N]) -> u32 {
    let mut sum = 0_u32;
    let all = (0, core::hint::black_box(1), usize::from(sms));
    bus.read_sms(all, wanted.map(Counter::register), |values| sum = values.into_iter().fold(sum, u32::wrapping_add));
    sum
}

/// Runs the loop for IPC: 3 reads per SM.
#[inline(never)]
pub(crate) fn ipc(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, ThreadInsts])
}

/// Runs the loop for IPM*IPC: 4 reads per SM.
#[inline(never)]
pub(crate) fn ipm_ipc(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, LoadRequests, ThreadInsts])
}

/// Runs the loop for Factor and Linear: 5 reads per SM.
#[inline(never)]
pub(crate) fn factor(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, MemoryStallCycles, OutstandingMisses, ThreadInsts])
}
