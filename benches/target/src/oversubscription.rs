//! Counts the instructions of a check of the chip's utilization: the controller of extra TBs in
//! firmware (`mias_policies::oversubscription`).

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::{CONTEXT_ARRAYS, CONTEXT_COUNTS, KERNEL_SLOTS, context_allowed, context_bound, feature, global};
use semihosting::println;

use crate::scenario::control_oversubscription;

/// Largest count of an interval, and counts of a hundredth of it, more than half, and all of it:
/// little use, some, and saturation.
const CAPACITY: u32 = 640_000;
const USED: [u32; 3] = [CAPACITY / 100, CAPACITY / 100 * 65, CAPACITY];

/// Earlier allowances of a kernel: none, some in the L1, the full bound, and some after the rise
/// has ended.
const BOUND: u32 = 8;
const BEFORE: [u32; 4] = [0, 2 | context_allowed::IN_L1, BOUND, 3 | context_allowed::STOPPED];

/// Prints all measurements; returns the deepest stack.
pub(crate) fn measure() -> u32 {
    let mut deepest = 0;
    for kernels in 0..=KERNEL_SLOTS as u32 {
        for used in USED {
            for before in BEFORE {
                for needs_l1 in [0, context_bound::NEEDS_L1] {
                    let (instructions, stack) = control_oversubscription(|bus| fill(bus, kernels, used, before, BOUND | needs_l1));
                    deepest = stack.max(deepest);
                    println!("oversubscription {kernels} {instructions}");
                }
            }
        }
    }
    deepest
}

/// Gives `kernels` kernels an interval in which every resource was used little, and DRAM by `used`.
fn fill(bus: &mut MappedBus, kernels: u32, used: u32, before: u32, bound: u32) {
    bus.write32(global::FEATURES, feature::OVERSUBSCRIPTION);
    bus.write32(global::CONTEXT_DUE, (1 << kernels) - 1);
    for part in 0..CONTEXT_COUNTS as u32 {
        bus.write32(global::CONTEXT_CAPACITY + 4 * part, CAPACITY);
    }
    for slot in 0..kernels {
        for counts in CONTEXT_ARRAYS {
            bus.write32(counts + 4 * slot, CAPACITY / 50);
        }
        bus.write32(global::CONTEXT_DRAM_SECTORS + 4 * slot, used);
        bus.write32(global::CONTEXT_BOUND + 4 * slot, bound);
        bus.write32(global::CONTEXT_ALLOWED + 4 * slot, before);
    }
}
