//! Four levels of scheduling in all sixteen subsets: launches of the queue, thread blocks, memory
//! instructions, and DRAM requests (sources.md D200 to D204). The tests check the properties of
//! every run (`common/rig.rs`), and those of each level.

use crate::common::hand_made::{HandMade, any_kernel};
use crate::common::rig::{LAUNCH_LATENCY, Rig, Setting, launch, run, small_gpu};
use crate::common::schedules;
use mias_firmware::configs::MAX_KERNELS;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, RunEnd, Stats};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_policies::levels::KNOWN;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, PolicyCode, dram_order, global, memory, memory_mode, option, queue};
use proptest::prelude::*;

/// Levels in addition to the policy, in the order of the bits of a subset. The fourth bit is
/// another policy than SMK-P.
const OPTIONS: [u32; 3] = [option::SCHEDULE_LAUNCHES, option::SET_MEMORY_ISSUE, option::SET_DRAM_ORDER];

/// Number of random queues in a test run.
const USUAL: u32 = 24;

/// Returns a GPU that supports every level.
fn gpu(sms: u32) -> GpuConfig {
    let mut config = small_gpu(sms);
    config.sm.memory_issue = Some(Default::default());
    config
}

fn setting(subset: usize, policy: PolicyCode) -> Setting {
    let levels = (0..OPTIONS.len()).filter(|level| subset >> level & 1 != 0).fold(0, |options, level| options | OPTIONS[level]);
    Setting { levels, ..Setting::new(if subset & 8 != 0 { policy } else { PolicyCode::Smk }, false) }
}

/// Runs launches to their end in steps of a few cycles, and checks the properties of each level.
fn watched(config: &GpuConfig, setting: &Setting, launches: Vec<Launch>) -> Rig {
    watched_with(config, setting, launches, setting.patience)
}

/// Runs launches with a bound on the number of times that a launch is passed over.
fn watched_with(config: &GpuConfig, setting: &Setting, launches: Vec<Launch>, most_passed: u32) -> Rig {
    let mut rig = Rig::new(config, setting);
    for launch in launches {
        rig.gpu.launch(launch).expect("every kernel here fits an SM");
    }
    let asked = |bit: u32| setting.levels & bit != 0;
    let managed = asked(option::SCHEDULE_LAUNCHES);
    loop {
        let end = rig.step(7);
        let registers = rig.gpu.registers_mut();
        let mut read = |register: u32| registers.read32(register);
        let mode = if asked(option::SET_MEMORY_ISSUE) { memory_mode::QUOTA | memory_mode::FOUND } else { 0 };
        assert_eq!(read(memory::at(0, memory::MODE)), mode, "{setting:?}");
        let order = if asked(option::SET_DRAM_ORDER) { dram_order::KERNEL_CAP } else { dram_order::FR_FCFS };
        assert_eq!((read(global::DRAM_ORDER), read(global::QUEUE_MODE)), (order, u32::from(managed)), "{setting:?}");
        let entries = read(global::QUEUE_ENTRIES);
        assert!(managed || entries == 0, "{setting:?}");
        for entry in (0..queue::ENTRIES).filter(|entry| entries >> entry & 1 != 0) {
            let passed = read(queue::at(entry, queue::PASSED));
            assert!(passed <= most_passed, "{passed} times passed over: {setting:?}");
        }
        let taken = (0..KERNEL_SLOTS).filter(|&slot| registers.kernel(slot).is_some()).count();
        assert!(!managed || taken <= MAX_KERNELS, "{taken} kernels run: {setting:?}");
        assert!(rig.watched.firmware.extension().kernel_scheduler().known().len() <= KNOWN);
        if end == RunEnd::AllComplete {
            return rig;
        }
        assert!(rig.gpu.cycle() < 5_000_000, "not complete: {setting:?}");
    }
}

fn end(stats: &Stats, launch: usize) -> u64 {
    stats.launches[launch].end_cycle.expect("complete")
}

fn start(stats: &Stats, launch: usize) -> u64 {
    stats.launches[launch].first_issue_cycle.expect("issued")
}

/// Gives a launch an identity, as the firmware reads it.
fn known(number: u32, launch: Launch) -> Launch {
    Launch { identity: number, ..launch }
}

/// Ten launches of one kernel are admitted in the order of arrival, and none is passed over. One
/// waiting launch involves no choice.
#[test]
fn identical_launches_keep_their_order() {
    let trace = HandMade::memory(12, 256, 3).trace();
    for subset in 0..16 {
        for count in [1, 10] {
            let launches = (0..count).map(|stream| known(9, launch(&trace, stream, u64::from(stream) * 40))).collect();
            watched_with(&gpu(2), &setting(subset, PolicyCode::MiasIpc), launches, 0);
        }
    }
}

/// Two kernels run and are then known, one compute-bound and one memory-bound. Then five launches
/// of the first arrive, and last one of the second. If the firmware selects, the second is admitted
/// second, next to one of the others. Otherwise it is the last, in the order of arrival.
#[test]
fn what_is_known_of_kernels_is_used() {
    let (computes, waits) = (HandMade::compute(40, 256, 60).trace(), HandMade::memory(40, 256, 12).trace());
    let later = 60_000;
    let launches = || {
        let of = |number: u32, stream, arrival| known(number, launch(if number == 1 { &computes } else { &waits }, stream, arrival));
        let after = [1, 1, 1, 1, 1, 2].into_iter().zip(2..).map(|(number, stream)| of(number, stream, later));
        [of(1, 0, 0), of(2, 1, 0)].into_iter().chain(after).collect::<Vec<_>>()
    };
    for (levels, chosen) in [(option::SCHEDULE_LAUNCHES, true), (0, false)] {
        let (rig, stats) = run(&gpu(2), &Setting { levels, ..setting(0, PolicyCode::Smk) }, launches());
        assert!(end(&stats, 0).max(end(&stats, 1)) < later, "the scenario: both are known by then");
        assert_eq!(rig.watched.firmware.extension().kernel_scheduler().known().len(), if chosen { 2 } else { 0 });
        let (fifth, last) = (start(&stats, 6), start(&stats, 7));
        assert_eq!(last < fifth, chosen, "the fifth that computes began at {fifth}, the one that waits at {last}");
    }
}

/// A kernel that never ends keeps its slot; all others get theirs, with any levels.
#[test]
fn a_kernel_that_never_ends_keeps_nobody_waiting() {
    let (endless, others) = (HandMade::compute(30, 128, 30).trace(), HandMade::memory(8, 256, 2).trace());
    for subset in 0..16 {
        let setting = setting(subset, PolicyCode::MiasIpc);
        let mut rig = Rig::new(&gpu(2), &setting);
        rig.gpu.launch(Launch { relaunch: true, ..launch(&endless, 0, 0) }).expect("fits");
        for stream in 1..12 {
            rig.gpu.launch(known(stream % 3, launch(&others, stream, 10 * u64::from(stream)))).expect("fits");
        }
        while rig.gpu.stats().launches[1..].iter().any(|launch| launch.end_cycle.is_none()) {
            rig.step(64);
            assert!(rig.gpu.cycle() < 1_000_000, "somebody waits for ever: {setting:?}");
        }
    }
}

/// A launch arrives in each phase of the firmware, with four running kernels and with fewer.
#[test]
fn launches_arrive_in_every_phase() {
    let traces = [HandMade::compute(40, 256, 60).trace(), HandMade::memory(40, 256, 3).trace(), HandMade::compute(20, 128, 40).trace()];
    let before =
        |count: u32| (0..count).map(|stream| known(stream % 3 + 1, launch(&traces[stream as usize % 3], stream, 0))).collect::<Vec<_>>();
    for count in [2, 5] {
        let setting = setting(0b1111, PolicyCode::MiasIpc);
        let quiet = watched(&gpu(2), &setting, before(count));
        let mut seen: Vec<(u64, PhaseCode)> = Vec::new();
        for &(cycle, phase) in &quiet.watched.phases {
            if seen.iter().all(|(_, known)| *known != phase) {
                seen.push((cycle, phase));
            }
        }
        assert!(seen.len() >= 4, "{seen:?}");
        for (cycle, _) in seen {
            for arrival in [cycle, cycle + 1] {
                watched(&gpu(2), &setting, [before(count), vec![known(2, launch(&traces[1], count, arrival))]].concat());
            }
        }
    }
}

/// Priorities go first, and an earlier launch is passed over at most the allowed number of times.
#[test]
fn priorities_go_first_and_nobody_starves() {
    let trace = HandMade::memory(10, 256, 3).trace();
    let setting = Setting { patience: 2, ..setting(1, PolicyCode::Smk) };
    let launches: Vec<Launch> =
        (0..16).map(|stream| Launch { priority: u8::from(stream >= 8), ..known(1, launch(&trace, stream, u64::from(stream))) }).collect();
    let mut rig = watched(&gpu(2), &setting, launches);
    let stats = rig.gpu.stats();
    let mut order: Vec<usize> = (0..16).collect();
    order.sort_by_key(|&launch| start(&stats, launch));
    assert!(order[4..6].iter().all(|launch| *launch >= 8), "{order:?}");
}

/// A launch that waits in the queue longer than its launch latency may issue at once when it is
/// admitted. A launch that waits in a slot may, too.
#[test]
fn launch_latency_runs_while_a_launch_waits() {
    let trace = HandMade::compute(30, 256, 60).trace();
    let launches = || (0..5).map(|stream| launch(&trace, stream, 0)).collect::<Vec<_>>();
    let mut rig = watched(&gpu(2), &setting(1, PolicyCode::Smk), launches());
    let stats = rig.gpu.stats();
    let first = (0..4).map(|at| end(&stats, at)).min().expect("four");
    let waited = start(&stats, 4) - first;
    assert!(first > u64::from(LAUNCH_LATENCY) && waited < u64::from(LAUNCH_LATENCY), "{waited} cycles after the first had ended");
}

/// The firmware alone, without its reference model.
struct Alone(Firmware);

impl Microcontroller for Alone {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.0.on_interrupt(registers);
    }
}

/// A firmware that restarts while launches wait admits them as before, because the window and the
/// counts of passes are in hardware.
#[test]
fn a_firmware_that_starts_anew_goes_on() {
    let trace = HandMade::memory(12, 256, 3).trace();
    for reset in [10, 400, 1_500, 3_000] {
        let mut gpu = Gpu::new(&gpu(2), setting(0b1111, PolicyCode::Smk).straps()).with_validation();
        for stream in 0..10 {
            gpu.launch(known(1, launch(&trace, stream, 20 * u64::from(stream)))).expect("fits");
        }
        let start = |gpu: &mut Gpu| Alone(Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map"));
        let mut first = start(&mut gpu);
        gpu.run(&mut first, reset);
        let mut second = start(&mut gpu);
        assert_eq!(gpu.run(&mut second, 1_000_000), RunEnd::AllComplete, "reset in cycle {reset}");
    }
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(schedules(USUAL)) })]

        /// For any arrivals, in every subset: each TB runs once, and each level keeps its
        /// properties.
        #[test]
        fn every_subset_holds_its_promises(
            kernels in prop::collection::vec((any_kernel(), prop_oneof![Just(0u64), 0u64..8_000], 0u32..10, 0u8..2), 1..14),
            subset in 0usize..16,
            policy in prop::sample::select(vec![PolicyCode::MiasIpc, PolicyCode::WarpedSlicer, PolicyCode::Spatial]),
            patience in 0u32..5,
        ) {
            let setting = Setting { patience, window: 200, ..setting(subset, policy) };
            let launches: Vec<Launch> = kernels.iter().zip(0..).map(|((kernel, arrival, stream, priority), at)| {
                Launch { priority: *priority, sector_offset: at << 27, ..known(at as u32 % 4, launch(&kernel.trace(), *stream, *arrival)) }
            }).collect();
            let traces: Vec<_> = launches.iter().map(|launch| launch.trace.clone()).collect();
            let mut rig = watched(&gpu(4), &setting, launches);
            let stats = rig.gpu.stats();
            for (launch, trace) in stats.launches.iter().zip(&traces) {
                prop_assert_eq!((launch.tbs_completed, launch.warp_insts), (u64::from(trace.tbs()), trace.warp_insts()));
            }
        }

        /// If as many kernels run as may, and none waits, the source of the launch order makes no
        /// difference, to the last count.
        #[test]
        fn where_nobody_waits_nothing_changes(
            kernels in prop::collection::vec((any_kernel(), 0u64..8_000), 1..=MAX_KERNELS),
            policy in prop::sample::select(vec![PolicyCode::MiasIpc, PolicyCode::Smk, PolicyCode::LeftOver]),
        ) {
            let launches: Vec<Launch> = kernels.iter().zip(0..).map(|((kernel, arrival), at)| launch(&kernel.trace(), at, *arrival)).collect();
            let of = |levels| run(&gpu(3), &Setting { levels, ..Setting::new(policy, false) }, launches.clone()).1;
            prop_assert_eq!(of(option::SCHEDULE_LAUNCHES), of(0));
        }
    }
}
