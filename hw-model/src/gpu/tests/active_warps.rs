//! Limits of active warps (sources.md D159) on whole GPUs: only the oldest warps issue, no warp
//! starves, and an infinite limit has no effect.

use super::memory_issue::any_mechanisms;
use super::*;
use crate::config::{Unlimited, WarpLimit, WarpSchedulerKind};
use mias_policies::Firmware;
use mias_policies::policy::{LEVELS, MOST_TUNED};
use mias_registers::{search_found, sm};

fn limit(most: u8) -> WarpLimit {
    if most == 0 { WarpLimit::Any(Unlimited::Inf) } else { WarpLimit::Most(most) }
}

/// GPU with limits by kernel slot; 0: none.
pub(super) fn with(mut config: GpuConfig, limits: &[u8]) -> GpuConfig {
    config.sm.active_warps = limits.iter().map(|most| limit(*most)).collect();
    config.check().expect("a GPU");
    config
}

/// Runs kernels concurrently until all have ended. Limits of the second phase are written in a
/// cycle of the run, as the firmware would.
fn all(config: &GpuConfig, recipes: &[Recipe], written: Option<(u64, [u32; 2])>) -> (RunEnd, Stats) {
    let mut gpu = launched(config, recipes.iter().map(Recipe::trace));
    let mut table = quotas(recipes);
    if let Some((cycle, limits)) = written {
        let end = gpu.run(&mut table, cycle);
        if end != RunEnd::CycleLimit {
            return (end, gpu.stats());
        }
        for (slot, limit) in (0..).zip(limits) {
            gpu.registers_mut().write32(global::ACTIVE_WARPS_ALL + 4 * slot, limit);
        }
    }
    let end = gpu.run(&mut table, 6_000_000);
    (end, gpu.stats())
}

fn schedulers() -> impl Strategy<Value = WarpSchedulerKind> {
    prop::sample::select(vec![WarpSchedulerKind::Gto, WarpSchedulerKind::Lrr, WarpSchedulerKind::KernelLrr])
}

/// Independent warps, each a chain. With W on a scheduler and all active, they take as long as one
/// chain. With one active, they take W times as long.
#[test]
fn one_active_warp_makes_warps_a_chain() {
    let step = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let chain = u64::from(config().sm.units.int.latency) + 5;
    // Two warps on each of four schedulers: more would wait for the unit, which takes one every
    // other cycle.
    let run = |config: &GpuConfig, count: usize| cycles(config, kernel(1, 256, 16, 0, |_, _| vec![step; count]));
    let of_200 = |config: &GpuConfig| run(config, 300) - run(config, 100);
    assert_eq!([0, 2, 63].map(|most| of_200(&with(config(), &[most]))), [200 * chain; 3]);
    assert_eq!(of_200(&with(config(), &[1])), 2 * 200 * chain);
    // The limit applies to its slot only.
    assert_eq!(of_200(&with(config(), &[0, 1])), 200 * chain);
}

/// A written limit is in effect from the next cycle on, as is its removal: half of the chain with
/// one of two warps, and then both.
#[test]
fn a_limit_holds_from_its_write_on() {
    let step = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let chain = u64::from(config().sm.units.int.latency) + 5;
    let run = |from: u64, to: u64, word: bool| {
        let mut gpu = gpu(&config());
        gpu.launch(once(kernel(1, 256, 16, 0, |_, _| vec![step; 2_000]))).expect("fits");
        let mut table = Table::fixed(&[1]);
        for (cycle, limit) in [(from, 1), (to, 0)] {
            assert_eq!(gpu.run(&mut table, cycle), RunEnd::CycleLimit);
            let offset = if word { sm::at(0, sm::ACTIVE_WARPS) } else { global::ACTIVE_WARPS_ALL };
            (0..config().sm.count as usize).for_each(|id| {
                let offset = if word { sm::at(id, sm::ACTIVE_WARPS) } else { offset };
                gpu.registers_mut().write32(offset, limit);
            });
        }
        assert_eq!(gpu.run(&mut table, 1_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        let held: u64 = stats.sms.iter().map(|sm| sm.counters.issue_slots[IssueClass::Held as usize]).sum();
        (stats.launches[0].end_cycle.expect("complete"), held)
    };
    let (launch, apart) = (config().launch.latency_cycles + 1_000, 600 * chain);
    let (free, none) = run(u64::from(launch), u64::from(launch) + 1, false);
    assert!(none <= 4, "{none} of four schedulers in one cycle");
    for word in [false, true] {
        let (end, held) = run(u64::from(launch), u64::from(launch) + apart, word);
        // The younger warp stopped for as long, and the older one continued.
        assert!((end - free).abs_diff(apart) <= chain, "{end} after {free}, {apart} apart");
        // All that time, except where the older one issues.
        let issued = apart / chain;
        assert!((4 * (apart - issued)).abs_diff(held) <= 16 * chain, "{held} of four times {}", apart - issued);
    }
}

/// A new kernel in a slot starts with the GPU file's limit, regardless of earlier writes.
#[test]
fn a_new_kernel_begins_with_the_gpus_limit() {
    let step = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let mut gpu = gpu(&with(config(), &[3]));
    for arrival_cycle in [0, 200_000] {
        gpu.launch(Launch { arrival_cycle, ..once(kernel(1, 256, 16, 0, |_, _| vec![step; 100])) }).expect("fits");
    }
    gpu.run(&mut Table::fixed(&[1]), 100);
    assert_eq!(gpu.registers().active_warps(5)[0], 3);
    gpu.registers_mut().write32(global::ACTIVE_WARPS_ALL, 1);
    assert_eq!(gpu.registers().active_warps(5)[..2], [1, 0]);
    gpu.run(&mut Table::fixed(&[1]), 199_000);
    gpu.run(&mut Table::fixed(&[1]), 300_000);
    assert_eq!(gpu.registers().active_warps(5)[0], 3);
}

#[test]
fn what_cannot_be_is_refused() {
    for (limits, message) in [
        (vec![limit(64)], "sm.active_warps = 64: must be 1 to 63 warps, or \"inf\""),
        (vec![WarpLimit::Most(0)], "sm.active_warps = 0: must be 1 to 63 warps, or \"inf\""),
        (vec![limit(1); 9], "sm.active_warps = 9: numbers, and there are 8 kernel slots"),
    ] {
        let mut gpu = config();
        gpu.sm.active_warps = limits;
        let said = gpu.check().expect_err("no GPU").to_string();
        assert!(said.starts_with(message), "{said}");
    }
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// No warp starves, with or without barriers, for any limits, schedulers and other
        /// mechanisms, from the start or from any cycle on. Every instruction issues once. The
        /// validation hook checks in every cycle that only the oldest warps issue.
        #[test]
        fn every_kernel_ends(
            recipes in prop::collection::vec(random_kernel(), 1..4),
            limits in prop::collection::vec(0..5u8, 0..4),
            scheduler in schedulers(),
            mechanisms in prop::option::of(any_mechanisms()),
            written in prop::option::of((1..5_000u64, prop::array::uniform2(0..4u32))),
        ) {
            let mut gpu = of(3);
            gpu.sm.warp_scheduler = scheduler;
            let (_, free) = all(&gpu, &recipes, None);
            gpu.sm.memory_issue = mechanisms;
            let (end, stats) = all(&with(gpu, &limits), &recipes, written);
            prop_assert_eq!(end, RunEnd::AllComplete);
            prop_assert_eq!(insts(&stats), insts(&free));
            for sm in &stats.sms {
                prop_assert_eq!(sm.counters.issue_slots.iter().sum::<u64>(), u64::from(of(3).sm.sub_cores) * sm.counters.cycles);
            }
        }

        /// Limits that no warp exceeds change no count: an SM has 8 warps per scheduler.
        #[test]
        fn no_limit_is_no_limiter(recipes in prop::collection::vec(random_kernel(), 1..3), scheduler in schedulers(), high in 8..64u8) {
            let mut gpu = of(3);
            gpu.sm.warp_scheduler = scheduler;
            let off = all(&gpu, &recipes, None);
            for none in [[0, 0], [high, 0], [high, high]] {
                prop_assert_eq!(&all(&with(gpu.clone(), &none), &recipes, None), &off);
            }
            prop_assert_eq!(&all(&gpu, &recipes, Some((700, [high.into(), 0]))), &off);
        }

        /// The firmware's search on the hardware terminates, and all SMs have the limits found,
        /// which are levels or none.
        #[test]
        fn the_firmware_finds_limits(
            recipes in prop::collection::vec(random_kernel(), 2..4),
            policy in prop::sample::select(vec![
                PolicyCode::EffectiveBandwidth,
                PolicyCode::EffectiveBandwidthFair,
                PolicyCode::EffectiveBandwidthHarmonic,
            ]),
        ) {
            const WINDOW_CYCLES: u32 = 400;
            let mut straps = Straps { coalesce_window: 50, ..Straps::new(policy) };
            (straps.search.warm_up_cycles, straps.search.window_cycles) = (WINDOW_CYCLES, WINDOW_CYCLES);
            let mut gpu = Gpu::new(&of(3), straps).with_validation();
            let mut firmware: Firmware = Firmware::from_straps(gpu.registers_mut()).expect("starts");
    let mut brain = |registers: &mut RegisterBlock| {
            firmware.on_interrupt(registers);
        };
            for (stream, recipe) in (0..).zip(&recipes) {
                gpu.launch(Launch { relaunch: true, ..beside(stream, recipe.trace()) }).expect("fits");
            }
            // A step is two windows, and a few more cycles.
            let most = 2_000 + u64::from(MOST_TUNED) * u64::from(2 * WINDOW_CYCLES + 10);
            prop_assert_eq!(gpu.run(&mut brain, most), RunEnd::CycleLimit);
            let found = gpu.registers().search_found();
            prop_assert_eq!(found & (search_found::DONE | search_found::LIMITS_WARPS), search_found::DONE | search_found::LIMITS_WARPS);
            let limits = gpu.registers().active_warps(0);
            prop_assert!(limits.iter().all(|limit| *limit == 0 || LEVELS.contains(limit)), "{:?}", limits);
            prop_assert!((0..of(3).sm.count as usize).all(|sm| gpu.registers().active_warps(sm) == limits));
            prop_assert!(gpu.stats().launches.iter().all(|launch| launch.warp_insts > 0));
            prop_assert_eq!(gpu.registers().faults(), 0);
        }

        /// SMs sleep only through cycles in which nothing can happen.
        #[test]
        fn sleeping_changes_nothing(recipe in random_kernel(), most in 1..4u8, scheduler in schedulers()) {
            let mut gpu = with(of(3), &[most]);
            gpu.sm.warp_scheduler = scheduler;
            prop_assert_eq!(run_of(&gpu, &recipe, true), run_of(&gpu, &recipe, false));
        }
    }
}
