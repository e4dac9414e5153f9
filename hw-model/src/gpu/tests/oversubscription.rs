//! Tests of oversubscription on whole GPUs (Lin et al. 2018; sources.md D160 to D165). Every run is
//! validated in every cycle ([`Gpu::with_validation`]): no unit of storage has two contexts, only
//! complete warps issue, and states change along figure 9.

use super::*;
use crate::config::{ContextsInL1, DeadlockAvoidance, OversubscriptionConfig, OversubscriptionController, OversubscriptionMechanism};
use crate::sm::Resources;
use mias_policies::Firmware;
use mias_registers::option;

const MECHANISMS: [OversubscriptionMechanism; 3] =
    [OversubscriptionMechanism::Virtual, OversubscriptionMechanism::Duet, OversubscriptionMechanism::DuetTb];

/// GPU of two small SMs: 8 warps, 8,192 registers and 16 KB of shared memory each.
pub(super) fn small() -> GpuConfig {
    let mut config = config();
    (config.sm.count, config.launch.latency_cycles) = (2, 50);
    (config.sm.threads, config.sm.tbs, config.sm.registers) = (256, 8, 8_192);
    config.sm.shared_bytes = 16 << 10;
    config.l1.carve_out.clear();
    config
}

pub(super) fn with(mut config: GpuConfig, oversubscription: OversubscriptionConfig) -> GpuConfig {
    config.sm.oversubscription = Some(oversubscription);
    config.check().expect("a GPU");
    config
}

fn of(mechanism: OversubscriptionMechanism, extra: u32) -> OversubscriptionConfig {
    OversubscriptionConfig { extra: Some(extra), table_warps: Some(32), ..OversubscriptionConfig::of(mechanism) }
}

fn run_all(config: &GpuConfig, trace: &Arc<KernelTrace>) -> Stats {
    alone(config, trace.clone(), 32)
}

/// Statistics without the counts that only oversubscription has.
fn plain(stats: Stats) -> Stats {
    let sms = stats.sms.iter().map(|sm| SmStats { oversubscription: None, ..sm.clone() }).collect();
    Stats { oversubscription: Vec::new(), sms, ..stats }
}

/// Kernel of loads that miss, each needed at once, on separate lines of each TB and warp.
pub(super) fn chases(tbs: u32, threads: u32, registers: u32, shared: u32, loads: u64) -> Arc<KernelTrace> {
    kernel(tbs, threads, registers, shared, |tb, warp| {
        let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
        (0..loads).map(|i| (load, 128 * (loads * u64::from(32 * tb + warp) + i))).collect()
    })
}

fn cycles_of(stats: &Stats) -> u64 {
    stats.launches[0].end_cycle.expect("complete")
}

/// Pointer chasing with 8 warps per SM, which nearly always wait for memory: 8 more warps halve the
/// time, minus the time of switching.
#[test]
fn more_warps_hide_latency() {
    let trace = chases(32, 64, 16, 0, 40);
    let base = cycles_of(&run_all(&small(), &trace));
    for (mechanism, extra) in
        [(OversubscriptionMechanism::Virtual, 4), (OversubscriptionMechanism::Duet, 4), (OversubscriptionMechanism::DuetTb, 4)]
    {
        let stats = run_all(&with(small(), of(mechanism, extra)), &trace);
        let oversubscription = stats.oversubscription[0];
        assert_eq!((oversubscription.native_tbs, oversubscription.counts.most_tbs), (4, 8), "{mechanism:?}");
        assert!(oversubscription.counts.extra_tbs > 0 && oversubscription.counts.switched_in > 0, "{oversubscription:?}");
        let now = cycles_of(&stats);
        assert!(now < base * 3 / 4, "{mechanism:?}: {now} of {base}");
        assert_eq!(stats.launches[0].warp_insts, run_all(&small(), &trace).launches[0].warp_insts);
    }
}

/// Registers limit the kernel, and half of them move.
#[test]
fn registers_go_to_shared_memory() {
    let trace = chases(32, 64, 64, 0, 40);
    let base = run_all(&small(), &trace);
    let duet = OversubscriptionConfig { live_permille: Some(250), ..of(OversubscriptionMechanism::Duet, 1) };
    let stats = run_all(&with(small(), duet), &trace);
    assert_eq!((stats.oversubscription[0].native_tbs, stats.oversubscription[0].counts.most_tbs), (2, 3));
    assert!(cycles_of(&stats) < cycles_of(&base), "{} of {}", cycles_of(&stats), cycles_of(&base));
    // A warp's 16 live registers and its state: 17 units each way.
    let counts = stats.oversubscription[0].counts;
    assert_eq!(counts.moving_cycles, 17 * (counts.switched_out + counts.switched_in));
}

/// Shared memory limits the kernel: whole TBs swap with registers. 4 KB and two warps' state each
/// way, at any bandwidth.
#[test]
fn shared_memory_goes_to_registers() {
    let trace = chases(24, 64, 16, 4_096, 30);
    for bandwidth in [64, 128, 256] {
        let duet = OversubscriptionConfig { bytes_per_cycle: Some(bandwidth), ..of(OversubscriptionMechanism::Duet, 4) };
        let config = GpuConfig { sm: crate::config::SmConfig { threads: 512, registers: 16_384, ..small().sm }, ..small() };
        let stats = run_all(&with(config, duet), &trace);
        let OversubscriptionStats { native_tbs, bound, counts, .. } = stats.oversubscription[0];
        // (512 - 32 (4 + k)) / 34 >= k for k up to 5.
        assert_eq!((native_tbs, bound, counts.most_tbs), (4, 5, 8));
        assert_eq!(counts.moving_cycles, u64::from((4_096 + 256) / bandwidth) * (counts.switched_out + counts.switched_in));
        assert!(counts.switched_out > 0);
    }
}

/// A kernel limited by registers and shared memory, and one that virtual thread cannot move, run as
/// without it.
#[test]
fn what_cannot_be_switched_is_not() {
    let both = chases(12, 64, 64, 8_192, 20);
    for (mechanism, trace) in [(OversubscriptionMechanism::Duet, &both), (OversubscriptionMechanism::Virtual, &chases(12, 64, 64, 0, 20))] {
        let stats = run_all(&with(small(), of(mechanism, 4)), trace);
        assert_eq!((stats.oversubscription[0].bound, stats.oversubscription[0].counts.extra_tbs), (0, 0));
        assert_eq!(plain(stats), run_all(&small(), trace));
    }
}

/// Barriers with absent warps: every other warp arrives late.
#[test]
fn barriers_of_warps_that_are_away() {
    // Two TBs fit, of which one may be kept.
    let trace = kernel(24, 128, 24, 0, |tb, warp| {
        let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
        let bar = StaticInst::new(1, Class::Barrier);
        (0..10u64)
            .flat_map(|i| {
                let loads = if (u64::from(warp) + i) % 2 == 0 { 2 } else { 0 };
                (0..loads).map(move |n| (load, 128 * (1_000 * u64::from(8 * tb + warp) + 10 * i + n))).chain([(bar, 0)])
            })
            .collect()
    });
    let out = [
        (OversubscriptionMechanism::Duet, DeadlockAvoidance::Barriers),
        (OversubscriptionMechanism::Duet, DeadlockAvoidance::OneTb),
        (OversubscriptionMechanism::DuetTb, DeadlockAvoidance::Barriers),
    ]
    .map(|(mechanism, deadlock)| {
        let duet = OversubscriptionConfig { live_permille: Some(300), deadlock, ..of(mechanism, 2) };
        let stats = run_all(&with(small(), duet), &trace);
        assert_eq!(stats.launches[0].tbs_completed, 24);
        stats.oversubscription[0].counts.switched_out
    });
    // With one kept TB and no switches at barriers, fewer contexts move.
    assert!(out.iter().all(|&out| out > 0) && out[1] < out[0], "{out:?}");
}

/// The L1 holds contexts if it is the only spare storage. It is taken at once, holds no data, and
/// is returned when it holds no context.
#[test]
fn contexts_lie_in_the_l1() {
    // 2 TBs of 16 KB of registers; 2 x 5.5 KB of shared memory leave no space for a warp of 60
    // registers with a third TB's.
    let trace = chases(16, 64, 64, 5_300, 30);
    let duet = |in_l1, extra| OversubscriptionConfig { in_l1, ..of(OversubscriptionMechanism::Duet, extra) };
    let stats = run_all(&with(small(), duet(ContextsInL1::Always, 1)), &trace);
    assert_eq!((stats.oversubscription[0].bound, stats.oversubscription[0].counts.most_tbs), (1, 3));
    assert_eq!(stats.launches[0].l1.accesses, 0, "loads pass it by");
    for (in_l1, extra) in [(ContextsInL1::Never, 1), (ContextsInL1::Always, 0), (ContextsInL1::Idle, 1)] {
        assert_eq!(plain(run_all(&with(small(), duet(in_l1, extra)), &trace)), run_all(&small(), &trace), "{in_l1:?} {extra}");
    }
}

/// The controller finds low utilization, and takes the unused L1.
#[test]
fn the_controller_raises_what_is_used_little() {
    let quick = |in_l1| OversubscriptionConfig {
        interval_cycles: Some(500),
        table_warps: Some(32),
        in_l1,
        ..OversubscriptionConfig::of(OversubscriptionMechanism::Duet)
    };
    let stats = run_all(&with(small(), quick(ContextsInL1::Idle)), &chases(64, 64, 16, 0, 40));
    let oversubscription = stats.oversubscription[0];
    assert_eq!(oversubscription.most_extra, oversubscription.bound);
    assert!(oversubscription.decisions[0] > 0 && oversubscription.counts.extra_tbs > 0, "{oversubscription:?}");
    let stats = run_all(&with(small(), quick(ContextsInL1::Idle)), &chases(32, 64, 64, 5_300, 30));
    assert!(stats.oversubscription[0].counts.extra_tbs > 0, "{:?}", stats.oversubscription[0]);
    assert!(stats.launches[0].l1.accesses > 0, "before it was taken");
    // Schedulers that always issue are saturated.
    let class = |i: u32| if i.is_multiple_of(2) { Class::Int } else { Class::Sp };
    let busy = kernel(64, 256, 16, 0, |_, _| (0..400).map(|i| (StaticInst::new(i % 8, class(i)).writes(4 + (i % 8) as u8), 0)).collect());
    let stats = run_all(&with(small(), quick(ContextsInL1::Idle)), &busy);
    assert_eq!(
        (stats.oversubscription[0].counts.extra_tbs, stats.oversubscription[0].decisions[0]),
        (0, 0),
        "{:?}",
        stats.oversubscription[0]
    );
}

/// The firmware gives a kernel with low utilization the maximum number: every count equals the
/// hardware's run.
#[test]
fn the_firmware_raises_what_is_used_little() {
    let duet = |controller| OversubscriptionConfig {
        interval_cycles: Some(500),
        table_warps: Some(32),
        controller,
        ..OversubscriptionConfig::of(OversubscriptionMechanism::Duet)
    };
    let end = |controller| {
        let mut gpu = Gpu::new(&with(small(), duet(controller)), straps(duet(controller)));
        let mut firmware: Firmware = Firmware::from_straps(gpu.registers_mut()).expect("starts");
        let mut scheduler = |registers: &mut RegisterBlock| {
            firmware.on_interrupt(registers);
        };
        gpu.launch(once(chases(64, 64, 16, 0, 40))).expect("fits");
        assert_eq!(gpu.run(&mut scheduler, 20_000_000), RunEnd::AllComplete);
        gpu.stats()
    };
    let found = end(OversubscriptionController::Firmware);
    let oversubscription = found.oversubscription[0];
    assert!(
        oversubscription.decisions[0] > 0 && oversubscription.counts.extra_tbs > 0 && oversubscription.most_extra == oversubscription.bound,
        "{oversubscription:?}"
    );
    assert_eq!(found, end(OversubscriptionController::Hardware));
}

/// Straps of a run with this configuration.
fn straps(oversubscription: OversubscriptionConfig) -> Straps {
    let options = if oversubscription.is_controlled_by_firmware() { option::CONTROL_OVERSUBSCRIPTION } else { 0 };
    Straps { options, context_interval: oversubscription.interval(), coalesce_window: 50, ..Straps::new(PolicyCode::LeftOver) }
}

pub(super) fn any_oversubscription() -> impl Strategy<Value = OversubscriptionConfig> {
    let in_l1 = prop::sample::select(vec![ContextsInL1::Never, ContextsInL1::Idle, ContextsInL1::Always]);
    let mechanism = prop::sample::select(MECHANISMS.to_vec());
    let deadlock = prop::sample::select(vec![DeadlockAvoidance::Barriers, DeadlockAvoidance::OneTb]);
    let bandwidth = prop::sample::select(vec![64u32, 128, 256]);
    (mechanism, prop::option::of(1u32..9), bandwidth, prop::option::of(200u32..900), in_l1, deadlock).prop_map(
        |(mechanism, extra, bandwidth, live_permille, in_l1, deadlock)| OversubscriptionConfig {
            deadlock,
            extra,
            bytes_per_cycle: Some(bandwidth),
            live_permille,
            in_l1,
            table_warps: Some(32),
            interval_cycles: Some(200),
            ..OversubscriptionConfig::of(mechanism)
        },
    )
}

/// Small GPU of 256 or 512 threads, with or without instruction buffers.
pub(super) fn any_small() -> impl Strategy<Value = GpuConfig> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(wide, fetch, lines, rotates)| {
        let mut config = small();
        if wide {
            (config.sm.threads, config.sm.registers) = (512, 16_384);
        }
        if rotates {
            config.sm.warp_scheduler = crate::config::WarpSchedulerKind::Lrr;
        }
        config = if fetch { super::fetch::with_fetch(config, 2, 2) } else { config };
        if lines { super::lines::whole_lines(config, crate::config::L1Lookup::AtHead) } else { config }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every warp runs to its end, with any barriers, loads, atomics and fences, and its work
    /// equals that without oversubscription.
    #[test]
    fn every_warp_runs_in_the_end(recipe in random_kernel(), config in any_small(), oversubscription in any_oversubscription()) {
        let trace = recipe.trace();
        prop_assume!(Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm)));
        let (with, without) = (run_all(&with(config.clone(), oversubscription), &trace), run_all(&config, &trace));
        prop_assert_eq!(with.launches[0].tbs_completed, u64::from(recipe.tbs));
        prop_assert_eq!(with.launches[0].warp_insts, without.launches[0].warp_insts);
    }

    /// Without extra TBs, every count equals that of the GPU without oversubscription.
    #[test]
    fn no_extra_tb_changes_nothing(recipe in random_kernel(), config in any_small(), oversubscription in any_oversubscription()) {
        let trace = recipe.trace();
        prop_assume!(Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm)));
        let none = OversubscriptionConfig { extra: Some(0), ..oversubscription };
        prop_assert_eq!(plain(run_all(&with(config.clone(), none), &trace)), run_all(&config, &trace));
    }

    /// Skipping, threads, clones and stops change nothing.
    #[test]
    fn skipping_threads_and_clones_change_nothing(
        recipe in random_kernel(),
        config in any_small(),
        oversubscription in any_oversubscription(),
        at in 50u64..2_000,
    ) {
        let trace = recipe.trace();
        let config = with(config, oversubscription);
        prop_assume!(Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm)));
        let new = || {
            let mut gpu = gpu(&config);
            gpu.launch(Launch { relaunch: true, ..once(trace.clone()) }).expect("fits");
            gpu
        };
        let end = |mut gpu: Gpu, mut table: Table| {
            gpu.run(&mut table, 4_000);
            gpu.stats()
        };
        let expected = end(new(), Table::fixed(&[32]));
        prop_assert_eq!(&end(new().without_skipping(), Table::fixed(&[32])), &expected);
        prop_assert_eq!(&end(new().with_threads(2), Table::fixed(&[32])), &expected);
        let (mut stopped, mut table) = (new(), Table::fixed(&[32]));
        stopped.run(&mut table, at);
        prop_assert_eq!(&end(stopped.clone(), table), &expected);
    }

    /// The firmware in zero time equals the hardware: the same extra TBs from the same cycle on,
    /// for any kernels that arrive, leave and restart. Peaks are integers in an interval, so
    /// nothing is rounded.
    #[test]
    fn a_controller_in_firmware_that_takes_no_time_is_the_hardware(
        recipes in prop::collection::vec((random_kernel(), any::<bool>(), any::<bool>()), 1..4),
        config in any_small(),
        oversubscription in any_oversubscription(),
        arrival in 0u64..3_000,
        skips: bool,
    ) {
        let mut config = config;
        config.clocks = crate::config::Clocks { core_khz: 1_000_000, interconnect_khz: 1_000_000, l2_khz: 1_000_000, dram_khz: 1_000_000 };
        let mechanism = if oversubscription.mechanism == OversubscriptionMechanism::Virtual { OversubscriptionMechanism::Duet } else { oversubscription.mechanism };
        let hardware = OversubscriptionConfig { extra: None, mechanism, interval_cycles: Some(500), ..oversubscription };
        let firmware = OversubscriptionConfig { controller: OversubscriptionController::Firmware, ..hardware };
        let traces: Vec<_> = recipes.iter().map(|(recipe, relaunch, in_turn)| (recipe.trace(), *relaunch, *in_turn)).collect();
        prop_assume!(traces.iter().all(|(trace, ..)| Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm))));
        let end = |oversubscription: OversubscriptionConfig| {
            let mut gpu = Gpu::new(&with(config.clone(), oversubscription), straps(oversubscription)).with_validation();
            gpu = if skips { gpu } else { gpu.without_skipping() };
            let mut firmware: Firmware = Firmware::from_straps(gpu.registers_mut()).expect("starts");
let mut twin = |registers: &mut RegisterBlock| {
        firmware.on_interrupt(registers);
    };
            for (stream, (trace, relaunch, in_turn)) in (0..).zip(&traces) {
                let arrival_cycle = u64::from(stream) * arrival;
                let launch = Launch { arrival_cycle, relaunch: *relaunch, ..beside(stream, trace.clone()) };
                gpu.launch_in_turn(launch, if *in_turn { vec![trace.clone()] } else { Vec::new() }).expect("fits");
            }
            let end = gpu.run(&mut twin, 12_000);
            assert!(matches!(end, RunEnd::CycleLimit | RunEnd::AllComplete), "{end:?}");
            assert_eq!(gpu.registers().faults(), 0);
            gpu.stats()
        };
        prop_assert_eq!(end(firmware), end(hardware));
    }

    /// Two kernels swap quotas during the run, at once or gradually: extra TBs drain, and all TBs
    /// end.
    #[test]
    fn quotas_change(
        first in random_kernel(),
        second in random_kernel(),
        config in any_small(),
        oversubscription in any_oversubscription(),
        at in 100u64..3_000,
        ideal: bool,
    ) {
        let config = with(config, oversubscription);
        let traces = [first.trace(), second.trace()];
        prop_assume!(traces.iter().all(|trace| Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm))));
        let mut gpu = launched(&config, traces);
        let phases = vec![(0, vec![32, 0]), (at, vec![1, 1]), (2 * at, vec![0, 32]), (3 * at, vec![32, 32])];
        let mut table = Table { phases, slots: Vec::new(), ideal };
        prop_assert_eq!(gpu.run(&mut table, 20_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        for (launch, recipe) in stats.launches.iter().zip([&first, &second]) {
            prop_assert_eq!(launch.tbs_completed, u64::from(recipe.tbs));
        }
    }
}
