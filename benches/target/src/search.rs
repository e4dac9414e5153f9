//! Counts the instructions of a step of a search for how many SMs each kernel needs (`mias_policies::search`), in the build that has it: from the
//! timer at the end of a window to the last SM that is told what it is to be. Of all steps of a search the longest counts.

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::{PolicyCode, feature, global, option};
use semihosting::println;

use crate::block;
use crate::launches::{SETS, endless};
use crate::scenario::{GPUS, search};

/// Prints all of it; returns the deepest stack.
pub(crate) fn measure() -> u32 {
    let mut deepest = 0;
    for &sms in GPUS {
        for kernels in &SETS[1..] {
            let launches = endless(kernels);
            let all = (1_u32 << kernels.len()) - 1;
            // The modes for performance and for power, each as long as it can be.
            for (memory, options) in [(1, 0), (all - 1, 0), (all - 1, option::SEARCH_REASSIGNS), (all, 0)] {
                let (_, instructions, stack) = search(sms, &launches, (PolicyCode::CdSearch, options), memory);
                deepest = stack.max(deepest);
                println!("search {sms} {} {instructions}", kernels.len());
            }
            // What shares an SM beside what divides them: the even split, and what either mode finds.
            for (memory, policy) in [
                (1, PolicyCode::MaestroSearch),
                (1, PolicyCode::CdSearchMaestro),
                (all - 1, PolicyCode::CdSearchMaestro),
                (all, PolicyCode::CdSearchMaestro),
            ] {
                let (_, instructions, stack) = search(sms, &launches, (policy, 0), memory);
                deepest = stack.max(deepest);
                println!("search {sms} {} {instructions}", kernels.len());
            }
            // Kernels that are as fast with more TBs as with one: all of them are saturated, one after the other.
            for memory in [1, 0] {
                let (first, instructions, stack) = search(sms, &launches, (PolicyCode::MiasTrial, 0), memory);
                deepest = stack.max(deepest);
                println!("trial {sms} {} {instructions} {first}", kernels.len());
            }
            // Kernels alone in turn, and SMs that go from the fastest to the slowest.
            // And limits of active warps, of which none is a fall: every level of each.
            for policy in [PolicyCode::FairShare, PolicyCode::FairShareModel, PolicyCode::EffectiveBandwidthHarmonic] {
                let (_, instructions, stack) = search(sms, &launches, (policy, 0), 1);
                deepest = stack.max(deepest);
                println!("search {sms} {} {instructions}", kernels.len());
            }
        }
    }
    deepest
}

/// Hardware that can do all that a search asks for, and windows as published.
pub(crate) fn describe(bus: &mut MappedBus) {
    for (offset, value) in [
        (global::FEATURES, feature::SM_STATES | feature::POWER_GATING | feature::KERNEL_COUNTERS | feature::ACTIVE_WARPS),
        (global::L2_SECTORS, 24 << 16),
        (global::SM_WAKE_CYCLES, 0),
        (global::STRAP_SEARCH_WARM_UP, 20_000),
        (global::STRAP_SEARCH_WINDOW, 20_000),
        (global::STRAP_SEARCH_LOSS, 50),
        (global::STRAP_SEARCH_UTILISATION, 100),
        (global::STRAP_SEARCH_REACH, 90),
        (global::STRAP_SEARCH_REACH_OF_HITS, 2960),
    ] {
        bus.write32(offset, value);
    }
}

/// What kernels did in a window, near the end of the counters' range: those in `memory` ask for all there is. On the even split they did
/// twice as much as after it where all of them ask, so that every SM comes back, one by one; else never less, so that SMs are taken to the last.
pub(crate) fn count(bus: &mut MappedBus, kernels: usize, memory: u32, even: bool) {
    let all = (1_u32 << kernels) - 1;
    for slot in 0..kernels as u32 {
        let accesses = if memory >> slot & 1 != 0 { u32::MAX >> 5 } else { 1 };
        let insts = if even || memory != all { u32::MAX } else { u32::MAX / 2 };
        for (array, value) in [
            (global::KERNEL_CYCLES, 20_000),
            (global::KERNEL_WARP_INSTS, u32::MAX >> 5),
            (global::KERNEL_THREAD_INSTS, insts),
            (global::KERNEL_L2_ACCESSES, accesses),
            (global::KERNEL_L2_HITS, accesses / 2),
            (global::KERNEL_DRAM_READS, accesses / 2),
            (global::KERNEL_DRAM_WRITES, 0),
            (global::KERNEL_ROW_HITS, accesses / 4),
            (global::KERNEL_ENDED_TBS, slot & 1),
            (global::KERNEL_L1_ACCESSES, accesses),
            (global::KERNEL_L1_MISSES, accesses / 3),
        ] {
            bus.write32(array + 4 * slot, value);
        }
    }
    block::quiet(bus);
}
