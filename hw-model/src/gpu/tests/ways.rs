//! Tests of owned ways and divided miss resources on whole GPUs (sources.md D124 and D125).

use super::*;
use crate::config::{L1Lookup, MissDivision, MissResourcesConfig, Partition, PartitionConfig};

/// Divisions of the caches.
#[derive(Clone, Debug)]
pub(super) struct Divisions {
    l1: Option<PartitionConfig>,
    l2: Option<PartitionConfig>,
    miss_resources: Option<MissResourcesConfig>,
}

pub(super) fn with(mut config: GpuConfig, Divisions { l1, l2, miss_resources }: Divisions) -> GpuConfig {
    (config.l1.partition, config.l2.partition, config.l1.miss_resources) = (l1, l2, miss_resources);
    config.check().expect("a GPU");
    config
}

fn partition(by: Partition, ways: &[u32]) -> PartitionConfig {
    PartitionConfig { by, ways: ways.to_vec(), period_cycles: 100, ..PartitionConfig::default() }
}

fn any_partition() -> impl Strategy<Value = PartitionConfig> {
    let by = prop::sample::select(vec![Partition::Shared, Partition::Fixed, Partition::Ucp, Partition::UcpRate]);
    (by, prop::collection::vec(1u32..3, 1..4), 100u32..300).prop_map(|(by, ways, period_cycles)| {
        let ways = if by == Partition::Fixed { ways } else { vec![] };
        PartitionConfig { by, ways, period_cycles, sampled_sets: 2 }
    })
}

/// Any combination of the mechanisms, for caches of at least six ways.
pub(super) fn any_divisions() -> impl Strategy<Value = Divisions> {
    let miss = prop_oneof![
        Just(MissResourcesConfig { by: MissDivision::Equal, weights: vec![] }),
        prop::collection::vec(1u32..5, 1..3).prop_map(|weights| MissResourcesConfig { by: MissDivision::Weights, weights }),
    ];
    (prop::option::of(any_partition()), prop::option::of(any_partition()), prop::option::of(miss))
        .prop_map(|(l1, l2, miss_resources)| Divisions { l1, l2, miss_resources })
}

/// GPU with few SMs and little cache, so that kernels evict each other's lines.
pub(super) fn few() -> GpuConfig {
    let mut config = of(3);
    (config.l1.sets, config.l1.ways, config.l1.mshrs, config.l1.miss_queue) = (2, 6, 8, 6);
    config.l1.carve_out.clear();
    (config.l2.sets, config.l2.ways) = (2, 6);
    config
}

/// Statistics without those of ways, of their monitors, and of shares.
fn without_ways(mut stats: Stats) -> Stats {
    (stats.l1_ways, stats.l2_ways) = (None, None);
    for LaunchCounters { sm, memory } in &mut stats.counters {
        (sm.l1_monitor_accesses, memory.l2_monitor_accesses) = (0, 0);
        (sm.l1_owner_accesses, memory.l2_owner_accesses, sm.sharing_counts) = (0, 0, 0);
    }
    stats
}

/// One kernel reads its few lines repeatedly, the other never reads one twice.
pub(super) fn reuse_and_stream() -> [Arc<KernelTrace>; 2] {
    // One sector.
    let load = |i: u64| StaticInst::new(16 * (i % 16) as u32, Class::Load(Space::Global)).writes(8 + (i % 16) as u8).reads(&[5]).width(1);
    let reuse = kernel(1, 32, 32, 0, |_, _| (0..4_000).map(|i| (load(i), 128 * (i % 8))).collect());
    let stream = kernel(1, 64, 32, 0, |_, warp| (0..4_000).map(|i| (load(i), 128 * (4_000 * u64::from(warp) + i))).collect());
    [reuse, stream]
}

fn hits_of_reuse(config: &GpuConfig, change: impl Fn(&mut Gpu)) -> (u64, Stats) {
    let mut gpu = launched(config, reuse_and_stream());
    let mut table = Table::fixed(&[1, 1]);
    gpu.run(&mut table, 10_000);
    change(&mut gpu);
    gpu.run(&mut table, 60_000);
    let stats = gpu.stats();
    (stats.launches[0].l1.hits, stats)
}

#[test]
fn utility_protects_a_kernel_that_reuses() {
    let mut gpu = few();
    gpu.sm.count = 1;
    let (shared, _) = hits_of_reuse(&gpu, |_| {});
    gpu.l1.partition = Some(PartitionConfig { period_cycles: 5_000, ..partition(Partition::Ucp, &[]) });
    let (ucp, stats) = hits_of_reuse(&gpu, |_| {});
    assert!(ucp > 2 * shared, "{ucp} and {shared}");
    let ways = stats.l1_ways.expect("owned");
    assert_eq!(ways.repartitions, 11, "cycle 60,000 is the first that is not run");
    // Four lines in each set are reused; ways without utility go to the other kernel.
    assert_eq!((&ways.kernels[0].last[..], &ways.kernels[1].last[..]), (&[4][..], &[2][..]), "{ways:?}");
    assert!(ways.kernels[0].repartitions[4] >= 9, "{ways:?}");
    assert_eq!(ways.kernels[0].repartitions.iter().sum::<u64>(), 11);
    assert!(stats.counters[0].sm.l1_monitor_accesses > 0);
}

/// Ways can be set while a GPU runs, whether or not they were owned before.
#[test]
fn ways_are_set_while_it_runs() {
    let mut gpu = few();
    gpu.sm.count = 1;
    let set = |gpu: &mut Gpu, ways: [u16; 2]| {
        let mut shares = [1; KERNEL_SLOTS];
        shares[..2].copy_from_slice(&ways);
        let now = gpu.now;
        gpu.sms.iter_mut().for_each(|sm| sm.set_l1_ways(Some(shares), now));
        gpu.memory.set_l2_ways(Some(shares));
    };
    let (shared, none) = hits_of_reuse(&gpu, |_| {});
    assert_eq!((none.l1_ways, none.l2_ways), (None, None));
    let (most, stats) = hits_of_reuse(&gpu, |gpu| set(gpu, [5, 1]));
    let (least, _) = hits_of_reuse(&gpu, |gpu| set(gpu, [1, 5]));
    assert!(most > 2 * shared && most > 2 * least, "{most}, {shared}, {least}");
    for ways in [stats.l1_ways, stats.l2_ways] {
        let ways = ways.expect("owned");
        assert!(ways.kernels[0].last.iter().all(|&ways| ways == 5) && ways.kernels[1].last.iter().all(|&ways| ways == 1));
    }
    gpu.l1.partition = Some(partition(Partition::Ucp, &[]));
    let (after_utility, stats) = hits_of_reuse(&gpu, |gpu| set(gpu, [1, 5]));
    assert!(after_utility < most);
    assert_eq!(stats.l1_ways.map(|ways| ways.kernels[0].last[0]), Some(1));
}

#[test]
fn what_cannot_be_is_refused() {
    let l1 = |partition| Divisions { l1: Some(partition), l2: None, miss_resources: None };
    let l2 = |partition| Divisions { l1: None, l2: Some(partition), miss_resources: None };
    let miss = |by, weights: &[u32]| {
        let weights = weights.to_vec();
        Divisions { l1: None, l2: None, miss_resources: Some(MissResourcesConfig { by, weights }) }
    };
    let ucp = || partition(Partition::Ucp, &[]);
    for (Divisions { l1, l2, miss_resources }, message) in [
        (l1(partition(Partition::Fixed, &[4, 3])), "l1.partition.ways = 7: in sum must be at most the ways that the cache has"),
        (l2(partition(Partition::Fixed, &[5, 2])), "l2.partition.ways = 7: in sum"),
        (l2(partition(Partition::Fixed, &[5, 0])), "l2.partition.ways = 0: must be at least 1"),
        (l1(partition(Partition::Fixed, &[])), "l1.partition.ways = 0: numbers: by = \"fixed\" needs one for each kernel"),
        (l1(partition(Partition::Ucp, &[4, 2])), "l1.partition.ways = 2: numbers: by = \"fixed\" needs"),
        (l1(partition(Partition::Fixed, &[1; 9])), "l1.partition.ways = 9: numbers, and there are 8 kernel slots"),
        (l1(PartitionConfig { period_cycles: 99, ..ucp() }), "l1.partition.period_cycles = 99: must be at least 100"),
        (l2(PartitionConfig { sampled_sets: 12, ..ucp() }), "l2.partition.sampled_sets = 12: must be a power of two"),
        (miss(MissDivision::Equal, &[1]), "l1.miss_resources.weights = 1: numbers: by = \"weights\" needs some"),
        (miss(MissDivision::Weights, &[]), "l1.miss_resources.weights = 0: numbers"),
        (miss(MissDivision::Weights, &[3, 0]), "l1.miss_resources.weights = 0: must be 1 to 1024"),
    ] {
        let mut gpu = few();
        (gpu.l1.partition, gpu.l2.partition, gpu.l1.miss_resources) = (l1, l2, miss_resources);
        let said = gpu.check().expect_err("no GPU").to_string();
        assert!(said.starts_with(message), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A single kernel has everything, under any division: every count is equal.
    #[test]
    fn a_kernel_alone_shares_with_nobody(recipe in random_kernel(), lines: bool) {
        let gpu = if lines { lines::whole_lines(few(), L1Lookup::AtHead) } else { few() };
        let off = all(&gpu, std::slice::from_ref(&recipe));
        let equal = Some(MissResourcesConfig { by: MissDivision::Equal, weights: vec![] });
        let ways = gpu.l1.ways;
        for partition in [partition(Partition::Ucp, &[]), partition(Partition::UcpRate, &[]), partition(Partition::Fixed, &[ways])] {
            let l2 = if partition.by == Partition::Fixed { None } else { Some(partition.clone()) };
            let divisions = Divisions { l1: Some(partition), l2, miss_resources: equal.clone() };
            let (end, stats) = all(&with(gpu.clone(), divisions), std::slice::from_ref(&recipe));
            prop_assert_eq!(&(end, without_ways(stats)), &off);
        }
    }

    /// No kernel starves under any combination, even with three and four kernels. Every instruction
    /// issues once, and accesses of the caches are hits, misses or wait for one.
    #[test]
    fn every_kernel_ends(recipes in prop::collection::vec(random_kernel(), 2..5), divisions in any_divisions(), lines: bool) {
        let gpu = if lines { lines::whole_lines(few(), L1Lookup::AtHead) } else { few() };
        let (_, free) = all(&gpu, &recipes);
        let (end, stats) = all(&with(gpu, divisions.clone()), &recipes);
        prop_assert_eq!(end, RunEnd::AllComplete, "{:?}", divisions);
        prop_assert_eq!(insts(&stats), insts(&free));
        for LaunchCounters { sm, .. } in &stats.counters {
            prop_assert_eq!(sm.l1_accesses, sm.l1_hits + sm.l1_misses + sm.l1_pending_hits);
        }
        for ways in [&stats.l1_ways, &stats.l2_ways].into_iter().flatten() {
            for kernel in &ways.kernels {
                prop_assert!(kernel.repartitions.iter().sum::<u64>() <= ways.repartitions);
            }
        }
    }

    /// Skipped cycles, and cycles slept by SMs, would have changed nothing.
    #[test]
    fn skipping_changes_nothing(recipe in random_kernel(), divisions in any_divisions()) {
        let config = with(few(), divisions);
        prop_assert_eq!(run_of(&config, &recipe, true), run_of(&config, &recipe, false));
    }

    /// Reading the statistics does not change the run.
    #[test]
    fn looking_changes_nothing(first in random_kernel(), second in random_kernel(), divisions in any_divisions(), every in 50u64..400) {
        let config = with(few(), divisions);
        let run = |every: u64| {
            let mut gpu = gpu(&config);
            for (stream, recipe) in (0..).zip([&first, &second]) {
                gpu.launch(Launch { relaunch: true, ..beside(stream, recipe.trace()) }).expect("fits");
            }
            let mut table = Table::fixed(&[first.quota.max(1), second.quota.max(1)]);
            while gpu.cycle() < 2_000 {
                let until = (gpu.cycle() + every).min(2_000);
                gpu.run(&mut table, until);
                gpu.stats();
            }
            gpu.stats()
        };
        prop_assert_eq!(run(every), run(2_000));
    }
}
