//! The floor: reading each counter that a metric needs of each SM once, adding them up, and nothing else.

use mias_firmware::bus::{Bus, MappedBus};
use mias_firmware::counters::Counter::{self, Cycles, IssueCycles, MemoryStallCycles, Misses, OutstandingMisses, ThreadInstructions};

/// The loop for a set of counters.
#[inline(always)]
fn sum<const N: usize>(bus: &mut MappedBus, sms: u16, wanted: [Counter; N]) -> u32 {
    let registers = wanted.map(Counter::register);
    (0..usize::from(sms)).fold(0, |sum, index| bus.read_sm_registers(index, registers).into_iter().fold(sum, u32::wrapping_add))
}

/// For IPC: 3 reads per SM.
#[inline(never)]
pub(crate) fn ipc(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, ThreadInstructions])
}

/// For IPM*IPC: 4 reads per SM.
#[inline(never)]
pub(crate) fn ipm_ipc(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, Misses, ThreadInstructions])
}

/// For Factor and Linear: 5 reads per SM.
#[inline(never)]
pub(crate) fn factor(bus: &mut MappedBus, sms: u16) -> u32 {
    sum(bus, sms, [Cycles, IssueCycles, MemoryStallCycles, OutstandingMisses, ThreadInstructions])
}
