//! Tests of cache ways assigned through the register block (sources.md D138) on whole GPUs.

use super::ways::{few, reuse_and_stream};
use super::*;
use crate::config::{Partition, PartitionConfig};
use mias_registers::{memory, monitor};

/// Writes the first four slots' ways of all L1s and of the L2.
fn give(gpu: &mut Gpu, ways: [u16; 4]) {
    for (word, pair) in (0..).zip(ways.chunks(2)) {
        let value = u32::from(pair[0]) | u32::from(pair[1]) << memory::WAYS_BITS;
        for offset in [global::L1_WAYS_ALL, global::L2_WAYS] {
            gpu.registers_mut().write32(offset + 4 * word, value);
        }
    }
}

fn with_partition(by: Partition, ways: &[u32]) -> GpuConfig {
    let mut gpu = few();
    let partition = PartitionConfig { by, ways: ways.to_vec(), period_cycles: 5_000, ..PartitionConfig::default() };
    (gpu.l1.partition, gpu.l2.partition) = (Some(partition.clone()), Some(partition));
    gpu.check().expect("a GPU");
    gpu
}

/// Reads a monitor's counts of a slot, by position.
fn read_monitor(gpu: &mut Gpu, (select, hits): (u32, u32), slot: u32, ways: u32) -> Vec<u32> {
    let read = |position| {
        gpu.registers_mut().write32(select, slot << monitor::SLOT_SHIFT | position);
        gpu.registers_mut().read32(hits)
    };
    (0..ways).map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Ways written before the first kernel equal those of a GPU file, byte by byte.
    #[test]
    fn what_is_written_is_what_a_gpu_says(recipes in prop::collection::vec(random_kernel(), 2..4), ways in prop::array::uniform4(1u16..3)) {
        let quotas: Vec<u32> = recipes.iter().map(|recipe| recipe.quota.max(1)).collect();
        let run = |mut gpu: Gpu| (gpu.run(&mut Table::fixed(&quotas), 5_000_000), gpu.stats());
        let traces = || recipes.iter().map(Recipe::trace);
        let said = with_partition(Partition::Fixed, &ways.map(u32::from)[..3]);
        let mut written = launched(&few(), traces());
        give(&mut written, [ways[0], ways[1], ways[2], 1]);
        prop_assert_eq!(run(written), run(launched(&said, traces())));
    }

    /// Repeated changes of ways starve no kernel and change no work.
    #[test]
    fn ways_may_change_at_any_time(first in random_kernel(), second in random_kernel(), list in prop::collection::vec(prop::array::uniform4(0u16..7), 1..6), utility: bool, every in 20u64..300) {
        let gpu = if utility { with_partition(Partition::Ucp, &[]) } else { few() };
        let mut table = Table::fixed(&[first.quota.max(1), second.quota.max(1)]);
        let mut gpu = launched(&gpu, [first.trace(), second.trace()]);
        let mut end = RunEnd::CycleLimit;
        for turn in 0..10_000 {
            give(&mut gpu, list[turn % list.len()]);
            end = gpu.run(&mut table, (turn as u64 + 1) * every);
            if end != RunEnd::CycleLimit {
                break;
            }
        }
        if end == RunEnd::CycleLimit {
            end = gpu.run(&mut table, 5_000_000);
        }
        prop_assert_eq!(end, RunEnd::AllComplete);
        let free = {
            let mut gpu = launched(&few(), [first.trace(), second.trace()]);
            gpu.run(&mut table, 5_000_000);
            gpu.stats()
        };
        prop_assert_eq!(insts(&gpu.stats()), insts(&free));
    }
}

/// Words of 0 restore sharing, or the configured division.
#[test]
fn ways_are_given_back() {
    for by in [Partition::Shared, Partition::Ucp] {
        let mut gpu = with_partition(by, &[]);
        gpu.sm.count = 1;
        let mut table = Table::fixed(&[1, 1]);
        let mut gpu = launched(&gpu, reuse_and_stream());
        let owned = |gpu: &Gpu| [gpu.sms[0].l1_ways_owned(), gpu.memory.l2_ways(0)].map(|ways| ways.map(|ways| [ways[0], ways[1]]));
        gpu.run(&mut table, 10_000);
        let before = owned(&gpu);
        give(&mut gpu, [1, 5, 0, 0]);
        gpu.run(&mut table, 12_000);
        assert_eq!(owned(&gpu), [Some([1, 5]); 2]);
        give(&mut gpu, [0; 4]);
        gpu.run(&mut table, 40_000);
        match by {
            Partition::Shared => assert_eq!((before, owned(&gpu)), ([None; 2], [None; 2])),
            // Four lines of each set are used repeatedly.
            _ => assert_eq!(owned(&gpu)[0], Some([4, 2])),
        }
    }
}

/// A kernel that reads four lines of each set in turn hits at the fourth recency position and at
/// none beyond, for any assignment. Loads that overtake others are exceptions. A kernel that reads
/// no line twice never hits.
#[test]
fn monitors_are_read_while_ways_are_given() {
    let mut gpu = with_partition(Partition::Ucp, &[]);
    gpu.sm.count = 1;
    let mut gpu = launched(&gpu, reuse_and_stream());
    give(&mut gpu, [2, 4, 0, 0]);
    let mut table = Table::fixed(&[1, 1]);
    gpu.run(&mut table, 24_000);
    gpu.load_counters();
    gpu.load_monitors();
    let l1 = (memory::at(0, memory::L1_MONITOR), memory::at(0, memory::L1_MONITOR_HITS));
    let of_reuse = read_monitor(&mut gpu, l1, 0, 6);
    assert!(of_reuse[3] > 2 * of_reuse[..3].iter().sum::<u32>(), "{of_reuse:?}");
    assert_eq!(of_reuse[4..], [0; 2]);
    assert_eq!(read_monitor(&mut gpu, l1, 1, 6), [0; 6]);
    // With two of four lines none hits in the L1, so the L2 sees the same sequence.
    let l2 = (global::L2_MONITOR, global::L2_MONITOR_HITS);
    assert!(read_monitor(&mut gpu, l2, 0, 6).iter().sum::<u32>() > 0);
    assert_eq!(read_monitor(&mut gpu, l2, 1, 6), [0; 6]);
    assert_eq!(gpu.stats().l1_ways.expect("owned").repartitions, 0);
}
