//! Counts the instructions of a check of the memory-issue counters: the DMIL in firmware
//! (`mias_policies::memory_limit`).

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::{global, memory, sm_bit};
use semihosting::println;

use crate::block;
use crate::scenario::limit_memory;

/// Numbers of SMs with kernels to check, in addition to all SMs of a GPU and none.
const SOME: [u16; 3] = [1, 4, 8];
/// Kernels per SM.
const MOST_KERNELS: u32 = 4;

/// Requests and fails of a kernel near the end of their range, which makes a software division
/// slowest; the peak is the highest.
const REQUESTS: u32 = 1025;
const FAILS: u32 = (1 << memory::COUNT_BITS) - 1;
/// Slightly more than a fail per request: the quotient that leaves most of the peak.
const FEW_FAILS: u32 = REQUESTS + 1;

/// Prints all measurements for a GPU with `sms` SMs; returns the deepest stack.
pub(crate) fn measure(sms: u16) -> u32 {
    let mut deepest = 0;
    let mut look = |ready: u16, kernels: u32, fails: u32| {
        // SAFETY: no scenario is running.
        let mut bus = unsafe { block::bus() };
        count(&mut bus, ready, kernels, fails);
        let (instructions, stack) = limit_memory(sms);
        deepest = stack.max(deepest);
        println!("memory {ready} {kernels} {instructions}");
    };
    look(0, 0, FAILS);
    for ready in SOME.into_iter().chain([sms]) {
        for kernels in 1..=MOST_KERNELS {
            for fails in [FAILS, FEW_FAILS, 0] {
                look(ready, kernels, fails);
            }
        }
    }
    deepest
}

/// Gives `kernels` kernels enough requests on each of the first `ready` SMs.
fn count(bus: &mut MappedBus, ready: u16, kernels: u32, fails: u32) {
    for word in 0..8 {
        bus.write32(global::MEMORY_READY + 4 * word, 0);
    }
    for sm in 0..usize::from(ready) {
        let (word, bit) = sm_bit(sm);
        let offset = global::MEMORY_READY + 4 * word as u32;
        let words = bus.read32(offset);
        bus.write32(offset, words | bit);
        bus.write32(memory::at(sm, memory::READY), (1 << kernels) - 1);
        for slot in 0..kernels {
            for (register, value) in
                [(memory::REQUESTS, REQUESTS), (memory::FAILS, fails), (memory::PEAK, memory::MOST_IN_FLIGHT), (memory::LIMIT, 8)]
            {
                bus.write32(memory::at(sm, register + 4 * slot), value);
            }
        }
    }
}
