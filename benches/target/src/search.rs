//! Counts the instructions of a step of a search for SM shares (`mias_policies::search`), in the
//! build with searches. A step runs from the timer at the end of a window to the last write of an
//! SM's state. The longest step of a search counts.

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::{PolicyCode, feature, global, option};
use semihosting::println;

use crate::block;
use crate::launches::{SETS, endless};
use crate::scenario::{GPUS, search};

/// Prints all measurements; returns the deepest stack.
pub(crate) fn measure() -> u32 {
    let mut deepest = 0;
    for &sms in GPUS {
        for kernels in &SETS[1..] {
            let launches = endless(kernels);
            let all = (1_u32 << kernels.len()) - 1;
            // The performance and the power mode, each with its longest search.
            for (memory, options) in [(1, 0), (all - 1, 0), (all - 1, option::SEARCH_REASSIGNS), (all, 0)] {
                let (_, instructions, stack) = search(sms, &launches, (PolicyCode::CdSearch, options), memory);
                deepest = stack.max(deepest);
                println!("search {sms} {} {instructions}", kernels.len());
            }
            // Sharing SMs after dividing them: by the even split, and by the result of either mode.
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
            // Kernels that gain nothing from more TBs: all are saturated, one after the other.
            for memory in [1, 0] {
                let (first, instructions, stack) = search(sms, &launches, (PolicyCode::MiasTrial, 0), memory);
                deepest = stack.max(deepest);
                println!("trial {sms} {} {instructions} {first}", kernels.len());
            }
            // Isolated kernels in turn, and SMs that move from the fastest to the slowest. Limits
            // of active warps without a fall: every level of each.
            for policy in [PolicyCode::FairShare, PolicyCode::FairShareModel, PolicyCode::EffectiveBandwidthHarmonic] {
                let (_, instructions, stack) = search(sms, &launches, (policy, 0), 1);
                deepest = stack.max(deepest);
                println!("search {sms} {} {instructions}", kernels.len());
            }
        }
    }
    deepest
}

/// Sets hardware support for all searches, and windows as published.
pub(crate) fn describe(bus: &mut MappedBus) {
    for (offset, value) in [
        (global::FEATURES, feature::SM_STATES | feature::POWER_GATING | feature::KERNEL_COUNTERS | feature::ACTIVE_WARPS),
        (global::L2_SECTORS, 24 << 16),
        (global::SM_WAKE_CYCLES, 0),
        (global::STRAP_SEARCH_WARM_UP, 20_000),
        (global::STRAP_SEARCH_WINDOW, 20_000),
        (global::STRAP_SEARCH_LOSS, 50),
        (global::STRAP_SEARCH_UTILIZATION, 100),
        (global::STRAP_SEARCH_REACH, 90),
        (global::STRAP_SEARCH_REACH_OF_HITS, 2960),
    ] {
        bus.write32(offset, value);
    }
}

/// Sets the kernels' counters near the end of their range; those in `memory` demand all bandwidth.
/// If all kernels demand it, the even split has twice the later rate, so that every SM is returned
/// one by one. Otherwise rates never fall, so that all SMs are taken.
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
