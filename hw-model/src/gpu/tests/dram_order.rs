//! Orders of DRAM requests (sources.md D183 to D187) on whole GPUs.

use super::ways::few;
use super::*;
use crate::config::{DramOrder, DramSchedulerConfig};
use mias_registers::dram_order;

fn with(mut config: GpuConfig, scheduler: Option<DramSchedulerConfig>) -> GpuConfig {
    config.dram.scheduler = scheduler;
    config.check().expect("a GPU");
    config
}

fn scheduler(by: DramOrder, cap: Option<u32>, shares: &[u32]) -> DramSchedulerConfig {
    let cap = cap.filter(|_| by.usual_cap() > 0);
    DramSchedulerConfig { by, cap, shares: if by == DramOrder::Shares { shares.to_vec() } else { Vec::new() } }
}

fn any_scheduler() -> impl Strategy<Value = DramSchedulerConfig> {
    let shares = prop::collection::vec(prop_oneof![Just(0u32), 1u32..300], 0..3);
    (prop::sample::select(DramOrder::ALL.to_vec()), prop::option::of(1u32..20), shares)
        .prop_map(|(by, cap, shares)| scheduler(by, cap, &shares))
}

/// GPU whose channels are the bottleneck: one channel, little L2.
fn narrow() -> GpuConfig {
    let mut config = few();
    (config.dram.channels, config.dram.queue) = (1, 32);
    config
}

/// Statistics without the waiting cycles of requests, which exist only if an order was set.
fn without_waits(mut stats: Stats) -> Stats {
    stats.launches.iter_mut().for_each(|launch| launch.dram_wait_cycles = None);
    stats
}

/// Writes an order.
fn set(gpu: &mut Gpu, config: &DramSchedulerConfig) {
    let code = DramOrder::ALL.iter().position(|by| *by == config.by).expect("one of them") as u32;
    let registers = gpu.registers_mut();
    registers.write32(global::DRAM_ORDER, code);
    registers.write32(global::DRAM_CAP, config.cap.unwrap_or(0));
    for slot in 0..8 {
        registers.write32(global::DRAM_SHARE + 4 * slot, config.shares.get(slot as usize).copied().unwrap_or(0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No kernel starves under any order, even with a share of 0, and every instruction issues
    /// once. Every DRAM request hits an open row or does not, counted when a bank accepts it. All
    /// reads of an ended kernel have returned, but write-backs may not be on the bus yet, so the
    /// check uses those attributed to it.
    #[test]
    fn every_kernel_ends(recipes in prop::collection::vec(random_kernel(), 2..5), scheduler in any_scheduler()) {
        let (_, free) = all(&narrow(), &recipes);
        let (end, stats) = all(&with(narrow(), Some(scheduler.clone())), &recipes);
        prop_assert_eq!(end, RunEnd::AllComplete, "{:?}", scheduler);
        prop_assert_eq!(insts(&stats), insts(&free));
        for (launch, LaunchCounters { memory, .. }) in stats.launches.iter().zip(&stats.counters) {
            prop_assert_eq!(launch.dram_wait_cycles, Some(memory.dram_wait_cycles));
            prop_assert!(memory.dram_writes <= memory.l2_write_back_sectors);
            let (asked, taken_up) = (memory.dram_reads + memory.l2_write_back_sectors, memory.dram_row_hits + memory.dram_row_misses);
            prop_assert!(asked >= taken_up, "{} bursts asked for, {} requests", asked, taken_up);
        }
        prop_assert!(free.launches.iter().all(|launch| launch.dram_wait_cycles.is_none()), "off is off");
    }

    /// A single kernel has all of DRAM, with any cap or share: every count is equal.
    #[test]
    fn a_kernel_alone_shares_with_nobody(recipe in random_kernel(), cap in prop::option::of(1u32..20), share in 0u32..1_025) {
        let off = all(&narrow(), std::slice::from_ref(&recipe));
        for by in [DramOrder::FrFcfs, DramOrder::KernelCap, DramOrder::Shares] {
            let (end, stats) = all(&with(narrow(), Some(scheduler(by, cap, &[share]))), std::slice::from_ref(&recipe));
            prop_assert_eq!(&(end, without_waits(stats)), &off);
        }
    }

    /// Settings written before the first kernel equal those of a GPU file, byte by byte.
    #[test]
    fn what_is_written_is_what_a_gpu_says(recipes in prop::collection::vec(random_kernel(), 2..4), scheduler in any_scheduler()) {
        let (mut written, mut table) = (launched(&narrow(), recipes.iter().map(Recipe::trace)), quotas(&recipes));
        set(&mut written, &scheduler);
        let written = (written.run(&mut table, 5_000_000), without_waits(written.stats()));
        let (end, said) = all(&with(narrow(), Some(scheduler)), &recipes);
        prop_assert_eq!(written, (end, without_waits(said)));
    }

    /// Skipped cycles would have changed nothing, even with one kernel under batches.
    #[test]
    fn skipping_changes_nothing(recipe in random_kernel(), scheduler in any_scheduler()) {
        let config = with(narrow(), Some(scheduler));
        prop_assert_eq!(run_of(&config, &recipe, true), run_of(&config, &recipe, false));
    }
}

/// Writing the current order changes nothing, and FR-FCFS restored by the firmware equals FR-FCFS.
#[test]
fn an_order_is_given_back() {
    let stream = |base: u64| {
        let load = |i: u64| (StaticInst::new(0, Class::Load(Space::Global)).writes(8).reads(&[5]).width(4), base + 4_096 * i);
        kernel(2, 64, 32, 0, |tb, warp| (0..100).map(|i| load(100 * u64::from(2 * tb + warp) + i)).collect())
    };
    let run = |orders: &[(u64, u32)]| {
        let mut gpu = gpu(&narrow());
        for stream_number in 0..2 {
            let sector_offset = u64::from(stream_number) << 20;
            gpu.launch(Launch { stream: stream_number, sector_offset, ..once(stream(0)) }).expect("fits");
        }
        let mut table = Table::fixed(&[2, 2]);
        for &(at, order) in orders {
            gpu.run(&mut table, at);
            gpu.registers_mut().write32(global::DRAM_ORDER, order);
        }
        (gpu.run(&mut table, 5_000_000), gpu.stats())
    };
    let usual = run(&[]);
    assert_eq!(usual.0, RunEnd::AllComplete);
    assert_eq!(run(&[(500, dram_order::FR_FCFS)]), usual, "nothing was asked for");
    let (end, back) = run(&[(10, dram_order::FCFS), (20, dram_order::FR_FCFS)]);
    assert!(back.launches.iter().all(|launch| launch.dram_wait_cycles.is_some_and(|waits| waits > 0)));
    assert_eq!((end, without_waits(back)), usual, "nothing waited yet");
    assert_ne!(without_waits(run(&[(10, dram_order::FCFS)]).1), usual.1);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |scheduler: DramSchedulerConfig| {
        let mut gpu = few();
        gpu.dram.scheduler = Some(scheduler);
        gpu.check().expect_err("no GPU").to_string()
    };
    let of = |by, cap, shares: &[u32]| DramSchedulerConfig { by, cap, shares: shares.to_vec() };
    for (scheduler, message) in [
        (of(DramOrder::KernelCap, Some(0), &[]), "dram.scheduler.cap = 0: must be 1 to 255; leave it out for the order's own"),
        (of(DramOrder::Batch, Some(256), &[]), "dram.scheduler.cap = 256: must be 1 to 255"),
        (of(DramOrder::Fcfs, Some(4), &[]), "dram.scheduler.cap = 4: is for by = \"kernel-cap\", \"batch\" or \"shares\""),
        (of(DramOrder::Batch, None, &[512, 512]), "dram.scheduler.shares = 2: numbers: only by = \"shares\" has any"),
        (of(DramOrder::Shares, None, &[1; 9]), "dram.scheduler.shares = 9: numbers, and there are 8 kernel slots"),
        (of(DramOrder::Shares, None, &[1_000, 25]), "dram.scheduler.shares = 1025: in sum must be at most 1024"),
        (of(DramOrder::Shares, None, &[u32::MAX, u32::MAX]), "dram.scheduler.shares = 4294967295: in sum must be at most 1024"),
    ] {
        let said = refused(scheduler);
        assert!(said.starts_with(message), "{said}");
    }
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    proptest! {
        // Each case makes five runs.
        #![proptest_config(ProptestConfig::with_cases(6))]

        /// Repeated changes of orders starve no kernel and change no work. The bytes are equal for
        /// any number of threads, with and without skipping, and in a copy that continues from the
        /// middle.
        #[test]
        fn orders_may_change_at_any_time(
            recipes in prop::collection::vec(random_kernel(), 2..4),
            orders in prop::collection::vec(any_scheduler(), 1..6),
            every in 20u64..300,
        ) {
            let run = |threads: usize, skip: bool, fork: bool| {
                let (gpu, mut table) = (launched(&narrow(), recipes.iter().map(Recipe::trace)), quotas(&recipes));
                let mut gpu = if skip { gpu } else { gpu.without_skipping() }.with_threads(threads);
                let mut end = RunEnd::CycleLimit;
                for turn in 0..60 {
                    set(&mut gpu, &orders[turn % orders.len()]);
                    end = gpu.run(&mut table, (turn as u64 + 1) * every);
                    if end != RunEnd::CycleLimit {
                        break;
                    }
                    if fork {
                        gpu = gpu.clone();
                    }
                }
                if end == RunEnd::CycleLimit {
                    end = gpu.run(&mut table, 5_000_000);
                }
                (end, gpu.stats())
            };
            let first = run(1, true, false);
            prop_assert_eq!(&first.0, &RunEnd::AllComplete);
            prop_assert_eq!(insts(&first.1), insts(&all(&narrow(), &recipes).1));
            for (threads, skip, fork) in [(1, false, false), (2, true, false), (1, true, true), (3, true, true)] {
                prop_assert_eq!(&run(threads, skip, fork), &first);
            }
        }
    }
}
