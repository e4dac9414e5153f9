//! Tests of shares set through the register block (sources.md D176) on whole GPUs: warp
//! instructions, and miss resources of the L1.

use super::memory_issue::with;
use super::ways::few;
use super::*;
use crate::config::{MemoryIssueConfig, MissDivision, MissResourcesConfig};

fn write(gpu: &mut Gpu, base: u32, values: &[u32]) {
    for (slot, &value) in (0..).zip(values) {
        gpu.registers_mut().write32(base + 4 * slot, value);
    }
}

/// GPU that supports both and divides nothing until the firmware does.
fn told() -> GpuConfig {
    let mut gpu_config = with(few(), MemoryIssueConfig::default());
    gpu_config.l1.miss_resources = Some(MissResourcesConfig::default());
    gpu_config
}

fn said(warp_quota: &[u32], weights: &[u32]) -> GpuConfig {
    let mut gpu_config = with(few(), MemoryIssueConfig { warp_quota: warp_quota.to_vec(), ..MemoryIssueConfig::default() });
    gpu_config.l1.miss_resources = Some(MissResourcesConfig { by: MissDivision::Weights, weights: weights.to_vec() });
    gpu_config.check().expect("a gpu_config");
    gpu_config
}

/// Two kernels whose warps may always issue: the ratio of their instructions equals that of their
/// quotas, except for the current set.
#[test]
fn quotas_are_the_proportion_of_what_is_issued() {
    let step = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let trace = || kernel(3, 256, 32, 0, |_, _| vec![step; 8_000]);
    let mut gpu_config = told();
    gpu_config.sm.count = 1;
    let mut gpu = launched(&gpu_config, [trace(), trace()]);
    let mut table = Table::fixed(&[1, 1]);
    let issued = |gpu: &mut Gpu| [0, 1].map(|launch| gpu.stats().launches[launch].warp_insts);
    let between = |gpu: &mut Gpu, table: &mut Table, from: u64| {
        gpu.run(table, from);
        let before = issued(gpu);
        gpu.run(table, from + 10_000);
        let after = issued(gpu);
        [0, 1].map(|launch| after[launch] - before[launch])
    };
    let free = between(&mut gpu, &mut table, 2_000);
    assert!(free[0].abs_diff(free[1]) < free[0] / 10, "{free:?}");
    write(&mut gpu, global::WARP_QUOTA, &[90, 30]);
    let [first, second] = between(&mut gpu, &mut table, 13_000);
    assert!(second > 500 && first.abs_diff(3 * second) <= 90, "{first}, {second}");
    write(&mut gpu, global::WARP_QUOTA, &[0, 0]);
    let free = between(&mut gpu, &mut table, 24_000);
    assert!(free[0].abs_diff(free[1]) < free[0] / 10, "{free:?}");
}

/// A kernel that only misses, with one that only computes. With one, four and seven MSHRs of eight
/// it always has that many misses in flight, each of which takes as long (Little's law). With
/// weights of 0 it has all eight.
#[test]
fn weights_are_the_proportion_of_misses() {
    let load = |i: u64| StaticInst::new(16 * (i % 16) as u32, Class::Load(Space::Global)).writes(8 + (i % 16) as u8).reads(&[5]).width(1);
    let stream = || kernel(1, 256, 32, 0, |_, warp| (0..4_000).map(|i| (load(i), 128 * (4_000 * u64::from(warp) + i))).collect());
    let step = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let misses = |weights: [u32; 2]| {
        let mut gpu_config = told();
        // This makes MSHRs the scarce resource.
        (gpu_config.sm.count, gpu_config.l1.ways, gpu_config.l1.miss_queue) = (1, 64, 16);
        let mut gpu = launched(&gpu_config, [kernel(1, 32, 32, 0, |_, _| vec![step; 20_000]), stream()]);
        write(&mut gpu, global::MISS_WEIGHT, &weights);
        gpu.run(&mut Table::fixed(&[1, 1]), 30_000);
        gpu.stats().counters[1].sm.l1_load_misses
    };
    let one = misses([7, 1]);
    for (weights, mshrs) in [([4, 4], 4), ([1, 7], 7), ([0, 0], 8)] {
        let more = misses(weights);
        assert!((95 * mshrs * one..=103 * mshrs * one).contains(&(100 * more)), "{more} with {mshrs} MSHRs, {one} with one");
    }
}

/// A new kernel in a slot starts with the GPU file's quota; weights stay.
#[test]
fn a_new_kernel_begins_with_the_gpus_quota() {
    let step = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let mut gpu = gpu(&said(&[70], &[2]));
    for arrival_cycle in [0, 200_000] {
        gpu.launch(Launch { arrival_cycle, ..once(kernel(1, 256, 16, 0, |_, _| vec![step; 100])) }).expect("fits");
    }
    gpu.run(&mut Table::fixed(&[1]), 20);
    let read = |gpu: &mut Gpu| [global::WARP_QUOTA, global::MISS_WEIGHT].map(|offset| gpu.registers_mut().read32(offset));
    assert_eq!(read(&mut gpu), [70, 0]);
    write(&mut gpu, global::WARP_QUOTA, &[5]);
    write(&mut gpu, global::MISS_WEIGHT, &[9]);
    gpu.run(&mut Table::fixed(&[1]), 199_000);
    assert_eq!(read(&mut gpu), [5, 9]);
    gpu.run(&mut Table::fixed(&[1]), 300_000);
    assert_eq!(read(&mut gpu), [70, 9]);
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Shares written before the first TB equal those of a GPU file, byte by byte.
        #[test]
        fn what_is_written_is_what_a_gpu_says(
            recipes in prop::collection::vec(random_kernel(), 2..4),
            quotas in prop::array::uniform3(1u32..60),
            weights in prop::array::uniform3(1u32..9),
        ) {
            let tbs: Vec<u32> = recipes.iter().map(|recipe| recipe.quota.max(1)).collect();
            let run = |gpu_config: &GpuConfig, written: bool| {
                let mut gpu = launched(gpu_config, recipes.iter().map(Recipe::trace));
                let mut table = Table::fixed(&tbs);
                // Kernels have been placed, but their first TBs have not been issued.
                gpu.run(&mut table, 20);
                if written {
                    write(&mut gpu, global::WARP_QUOTA, &quotas[..recipes.len()]);
                    write(&mut gpu, global::MISS_WEIGHT, &weights[..recipes.len()]);
                }
                (gpu.run(&mut table, 5_000_000), gpu.stats())
            };
            let said = said(&quotas[..recipes.len()], &weights[..recipes.len()]);
            prop_assert_eq!(run(&told(), true), run(&said, false));
        }

        /// A GPU that names miss resources without dividing them equals one that does not name
        /// them.
        #[test]
        fn shared_is_as_without(recipes in prop::collection::vec(random_kernel(), 1..4)) {
            let tbs: Vec<u32> = recipes.iter().map(|recipe| recipe.quota.max(1)).collect();
            let run = |gpu_config: &GpuConfig| {
                let mut gpu = launched(gpu_config, recipes.iter().map(Recipe::trace));
                (gpu.run(&mut Table::fixed(&tbs), 5_000_000), gpu.stats())
            };
            let mut named = few();
            named.l1.miss_resources = Some(MissResourcesConfig::default());
            prop_assert_eq!(run(&named), run(&few()));
        }

        /// Repeated changes of shares starve no kernel and change no work; skipped cycles and
        /// threads change no bit.
        #[test]
        fn shares_may_change_at_any_time(
            first in random_kernel(),
            second in random_kernel(),
            list in prop::collection::vec((prop::array::uniform2(0u32..50), prop::array::uniform2(0u32..9)), 1..6),
            divided: bool,
            every in 20u64..300,
        ) {
            let gpu_config = if divided { said(&[7, 5], &[1, 3]) } else { told() };
            let steered = |gpu: Gpu| {
                let mut gpu = gpu;
                launch_all(&mut gpu, [first.trace(), second.trace()]);
                let mut table = Table::fixed(&[first.quota.max(1), second.quota.max(1)]);
                let mut end = RunEnd::CycleLimit;
                for turn in 0..10_000 {
                    let (quotas, weights) = list[turn % list.len()];
                    write(&mut gpu, global::WARP_QUOTA, &quotas);
                    write(&mut gpu, global::MISS_WEIGHT, &weights);
                    end = gpu.run(&mut table, (turn as u64 + 1) * every);
                    if end != RunEnd::CycleLimit {
                        break;
                    }
                }
                if end == RunEnd::CycleLimit {
                    end = gpu.run(&mut table, 5_000_000);
                }
                (end, gpu.stats())
            };
            let usual = steered(gpu(&gpu_config));
            prop_assert_eq!(&usual.0, &RunEnd::AllComplete);
            prop_assert_eq!(&steered(gpu(&gpu_config).without_skipping()), &usual);
            prop_assert_eq!(&steered(gpu(&gpu_config).with_threads(3)), &usual);
            let mut free = launched(&few(), [first.trace(), second.trace()]);
            free.run(&mut Table::fixed(&[first.quota.max(1), second.quota.max(1)]), 5_000_000);
            prop_assert_eq!(insts(&usual.1), insts(&free.stats()));
        }
    }
}
