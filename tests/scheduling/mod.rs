//! The real firmware on the real GPU model: small kernels with all critical arrival patterns, under
//! every policy and both transition modes. `common/rig.rs` describes the common checks.

mod levels;

use crate::common::hand_made::{HandMade, Step, any_kernel};
use crate::common::rig::{LAUNCH_LATENCY, Rig, Setting, launch, run, small_gpu};
use crate::common::schedules;
use mias_firmware::configs::Origin;
use mias_hw_model::gpu::{Launch, RunEnd, Stats};
use mias_lab::experiment::workload;
use mias_lab::gpus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, PolicyCode};
use mias_trace::accelsim::Warnings;
use mias_warp_trace::KernelTrace;
use mias_workloads::trace_store::Cache;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Measuring policies of the thesis.
const MIAS: [PolicyCode; 4] = [PolicyCode::MiasIpc, PolicyCode::MiasIpmIpc, PolicyCode::MiasFactor, PolicyCode::MiasLinear];

/// Other measuring policies.
const OTHERS: [PolicyCode; 9] = [
    PolicyCode::WarpedSlicer,
    PolicyCode::WarpedSlicerSum,
    PolicyCode::MiasStp,
    PolicyCode::MiasGuard,
    PolicyCode::Maestro,
    PolicyCode::Coordinated,
    PolicyCode::MiasRoofline,
    PolicyCode::MiasRooflineStp,
    PolicyCode::MiasDuel,
];

/// Cycles beyond the launch latency after which both kernels have filled the SMs, at one TB per SM
/// and cycle.
const FILLING_CYCLES: u64 = 40;

/// Runs the same launches on three SMs under every policy and both transition modes, and calls
/// `check` with each run.
fn everywhere(launches: impl Fn() -> Vec<Launch>, check: impl Fn(&Setting, &Rig, &Stats)) {
    for policy in PolicyCode::ALL {
        for ideal in [false, true] {
            let setting = Setting::new(policy, ideal);
            let (rig, stats) = run(&small_gpu(3), &setting, launches());
            check(&setting, &rig, &stats);
        }
    }
}

/// Creates two kernels with four TBs per SM, so three configurations for three SMs. Each keeps all
/// SMs busy for several windows.
fn pair() -> [Arc<KernelTrace>; 2] {
    [HandMade::compute(60, 256, 60).trace(), HandMade::memory(50, 256, 3).trace()]
}

fn end(stats: &Stats, launch: usize) -> u64 {
    stats.launches[launch].end_cycle.expect("complete")
}

#[test]
fn one_tb_alone() {
    let trace = HandMade::compute(1, 100, 10).trace();
    everywhere(
        || vec![launch(&trace, 0, 0)],
        |setting, rig, stats| {
            assert_eq!(rig.gpu.registers().reschedulings(), 1, "{setting:?}");
            // One kernel leaves nothing to measure.
            assert_eq!(rig.watched.first(PhaseCode::Profile), None, "{setting:?}");
            assert!(end(stats, 0) > u64::from(LAUNCH_LATENCY));
        },
    );
}

#[test]
fn more_tbs_than_ever_fit_at_once() {
    // Three SMs hold 12 of them.
    let trace = HandMade::compute(400, 256, 20).trace();
    everywhere(|| vec![launch(&trace, 0, 0)], |setting, rig, _| assert_eq!(rig.gpu.registers().reschedulings(), 1, "{setting:?}"));
}

#[test]
fn launched_together_means_scheduled_together() {
    let [a, b] = pair();
    // In the same cycle, and apart but within one launch latency.
    for apart in [0, u64::from(LAUNCH_LATENCY) - 1] {
        everywhere(
            || vec![launch(&a, 0, 0), launch(&b, 1, apart)],
            |setting, rig, stats| {
                assert_ne!(end(stats, 0), end(stats, 1), "the scenario: they end apart");
                // One for the launches, one when the first has completed, none at the end.
                assert_eq!(rig.gpu.registers().reschedulings(), 2, "{setting:?}");
                // A measuring policy measures once, while there are two kernels. MIAS then chooses
                // a configuration; the others do that, or assign SMs to each kernel.
                let (mias, measures) = (MIAS.contains(&setting.policy), MIAS.contains(&setting.policy) || OTHERS.contains(&setting.policy));
                let (winners, apart) = (rig.watched.winners.len(), rig.watched.apart);
                assert_eq!(winners + apart, usize::from(measures), "{setting:?}");
                assert!(!mias || apart == 0, "{setting:?}");
            },
        );
    }
}

#[test]
fn one_after_the_other() {
    let [a, b] = pair();
    // On one stream the second is launched when the first has completed.
    everywhere(
        || vec![launch(&a, 0, 0), launch(&b, 0, 0)],
        |setting, rig, stats| {
            assert_eq!(rig.gpu.registers().reschedulings(), 2, "{setting:?}");
            assert!(stats.launches[1].start_cycle.expect("started") >= end(stats, 0));
        },
    );
}

#[test]
fn a_launch_while_profiling_starts_over() {
    let [a, b] = pair();
    let c = HandMade::compute(20, 128, 40).trace();
    for policy in MIAS.into_iter().chain(OTHERS) {
        for ideal in [false, true] {
            let setting = Setting::new(policy, ideal);
            let both = || vec![launch(&a, 0, 0), launch(&b, 1, 0)];
            let (quiet, _) = run(&small_gpu(3), &setting, both());
            let profiling = quiet.watched.first(PhaseCode::Profile).expect("two kernels are profiled");
            let arrival = profiling + 10;
            let (rig, _) = run(&small_gpu(3), &setting, [both(), vec![launch(&c, 2, arrival)]].concat());
            // The attempt is aborted in that cycle, and the next starts at least a window after the
            // last.
            let phases = &rig.watched.phases;
            assert!(phases.contains(&(arrival, PhaseCode::Partition)), "{setting:?}: {phases:?}");
            let attempts: Vec<u64> = phases.iter().filter(|(_, p)| *p == PhaseCode::Transition).map(|(at, _)| *at).collect();
            assert!(attempts.len() >= 2 && attempts[1] >= attempts[0] + u64::from(setting.window), "{setting:?}: {phases:?}");
            assert!(attempts[1] >= arrival + u64::from(LAUNCH_LATENCY), "{setting:?}: {phases:?}");
        }
    }
}

#[test]
fn three_and_four_kernels() {
    let traces = [
        HandMade::compute(40, 256, 30).trace(),
        HandMade::memory(40, 128, 2).trace(),
        HandMade::compute(30, 64, 80).sharing(3_000).trace(),
        HandMade::memory(1, 32, 1).trace(),
    ];
    for count in [3, 4] {
        everywhere(
            || traces[..count].iter().zip(0..).map(|(trace, stream)| launch(trace, stream, 0)).collect(),
            |setting, rig, _| assert!((2..=count as u32).contains(&rig.gpu.registers().reschedulings()), "{setting:?}"),
        );
    }
}

/// Two kernels of 40,000 bytes of shared memory on SMs of 65,536.
#[test]
fn kernels_that_cannot_share_an_sm_get_sms_of_their_own_or_turns() {
    let a = HandMade::compute(20, 256, 60).sharing(40_000).trace();
    let b = HandMade::memory(20, 256, 3).sharing(40_000).trace();
    let both = || vec![launch(&a, 0, 0), launch(&b, 1, 0)];
    everywhere(both, |setting, rig, _| {
        if MIAS.into_iter().chain(OTHERS).chain([PolicyCode::Smk]).any(|policy| policy == setting.policy) {
            assert_eq!(rig.watched.origins.first(), Some(&Origin::SpatialFallback), "{setting:?}");
            assert_eq!(rig.watched.first(PhaseCode::Transition), None, "{setting:?}: nothing to measure");
        }
    });
    // With fewer SMs than kernels, Spatial is not possible either.
    for policy in MIAS.into_iter().chain(OTHERS).chain([PolicyCode::Smk, PolicyCode::Spatial]) {
        for ideal in [false, true] {
            let setting = Setting::new(policy, ideal);
            let (rig, stats) = run(&small_gpu(1), &setting, both());
            assert_eq!(rig.watched.origins.first(), Some(&Origin::LeftOverFallback), "{setting:?}");
            assert!(end(&stats, 0) < end(&stats, 1), "{setting:?}: in launch order");
        }
    }
}

/// Kernels with unlimited TBs: once the TBs from before the broadcast have ended, every SM keeps
/// exactly the chosen configuration.
#[test]
fn after_the_broadcast_every_sm_holds_the_winner() {
    let traces = pair();
    for policy in MIAS {
        for ideal in [false, true] {
            let mut rig = Rig::new(&small_gpu(3), &Setting::new(policy, ideal));
            for (trace, stream) in traces.iter().zip(0..) {
                rig.gpu.launch(Launch { relaunch: true, ..launch(trace, stream, 0) }).expect("fits");
            }
            while rig.watched.first(PhaseCode::Steady).is_none() {
                rig.step(16);
                assert!(rig.gpu.cycle() < 100_000, "no decision: {:?}", rig.watched.phases);
            }
            let winner = rig.watched.winners[0];
            assert!(winner.present() == 2, "both kernels take part: {winner:?}");
            // Several times the longest TB.
            rig.step(20_000);
            let mut most = [[0; 2]; 3];
            for _ in 0..1_000 {
                rig.step(1);
                for (sm, most) in most.iter_mut().enumerate() {
                    for (slot, most) in most.iter_mut().enumerate() {
                        let resident = rig.gpu.registers().resident(sm, slot);
                        assert!(resident <= u32::from(winner.get(slot)), "{policy:?}: SM {sm} holds {resident} TBs of kernel {slot}");
                        *most = resident.max(*most);
                    }
                }
            }
            assert_eq!(most, [[u32::from(winner.get(0)), u32::from(winner.get(1))]; 3], "{policy:?}, ideal {ideal}");
            assert_eq!(rig.gpu.registers().reschedulings(), 1);
        }
    }
}

/// Returns the SMs by their TBs of two unlimited kernels, long after the decision.
fn settled(policy: PolicyCode, sms: u32) -> Vec<[u32; 2]> {
    let mut rig = Rig::new(&small_gpu(sms), &Setting { window: 4_000, ..Setting::new(policy, true) });
    for (trace, stream) in pair().iter().zip(0..) {
        rig.gpu.launch(Launch { relaunch: true, ..launch(trace, stream, 0) }).expect("fits");
    }
    while rig.watched.first(PhaseCode::Steady).is_none() {
        rig.step(16);
        assert!(rig.gpu.cycle() < 100_000, "no decision: {:?}", rig.watched.phases);
    }
    let registers = rig.gpu.registers();
    (0..sms as usize).map(|sm| [registers.quota(sm, 0), registers.quota(sm, 1)]).collect()
}

/// Every policy on a compute-bound and a memory-bound kernel, on SMs that hold four TBs of either:
/// the final placement is a possible result of the policy, and SMK's is known.
#[test]
fn every_policy_settles_two_kernels_on_a_small_gpu() {
    for policy in OTHERS.into_iter().chain([PolicyCode::Smk]) {
        let placed = settled(policy, 6);
        let shared = placed.iter().all(|tbs| tbs == &placed[0] && tbs[0] > 0 && tbs[1] > 0 && tbs[0] + tbs[1] <= 4);
        let apart = placed.iter().enumerate().all(|(sm, tbs)| *tbs == if sm % 2 == 0 { [4, 0] } else { [0, 4] });
        let fills = placed[0][0] + placed[0][1] == 4;
        match policy {
            PolicyCode::Smk => assert_eq!(placed, [[2, 2]; 6], "equal demands, equal shares"),
            // MIAS tries maximal configurations.
            PolicyCode::MiasStp | PolicyCode::MiasRoofline | PolicyCode::MiasRooflineStp | PolicyCode::MiasDuel => {
                assert!(shared && fills, "{placed:?}")
            }
            PolicyCode::MiasGuard => assert!(apart || shared && fills, "{placed:?}"),
            PolicyCode::Maestro => assert!(apart || placed == [[2, 2]; 6], "{placed:?}"),
            PolicyCode::WarpedSlicer => assert!(apart || shared, "{placed:?}"),
            _ => assert!(shared, "{policy:?}: {placed:?}"),
        }
    }
}

/// The reference simulator's order for launches on different streams, on the co-run traces
/// (sources.md D96): strictly first come.
#[test]
fn all_tbs_of_the_first_kernel_are_issued_before_any_of_the_second() {
    for trace in ["comp60_mem", "mm90_fwt"] {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference/corun").join(trace).join("kernelslist.g");
        let workloads = workload::read_list(&list, &Cache::off(), &mut Warnings::new()).expect("our own trace");
        let config = gpus::load("rtx2060-accelsim").expect("built in");
        let mut rig = Rig::new(&config, &Setting::new(PolicyCode::LeftOver, false));
        for workload in &workloads {
            let (trace, stream) = (workload.trace.clone(), workload.stream);
            rig.gpu.launch(Launch { stream, ..Launch::new(trace) }).expect("fits");
        }
        let latency = u64::from(config.launch.latency_cycles);
        assert_eq!(rig.step(latency), RunEnd::CycleLimit);
        let grid = u64::from(workloads[0].trace.tbs());
        let (mut first_filled, mut second_began) = (None, None);
        for _ in 0..FILLING_CYCLES {
            assert_eq!(rig.step(1), RunEnd::CycleLimit);
            let stats = rig.gpu.stats();
            let (first, second) = (stats.launches[0].tbs_issued, stats.launches[1].tbs_issued);
            assert!(second == 0 || first == grid, "{trace}: {second} TBs of the second after {first} of {grid} of the first");
            if first == grid {
                first_filled.get_or_insert(stats.cycles);
            }
            if second > 0 {
                second_began.get_or_insert(stats.cycles);
            }
        }
        assert!(first_filled.is_some() && first_filled <= second_began, "{trace}: {first_filled:?}, {second_began:?}");
    }
}

/// Kernels of atomics and of large TBs share one SM: a case found by random launch schedules.
#[test]
fn kernels_of_atomics_and_of_large_tbs_share_one_sm() {
    let kernel = |tbs, threads, body| HandMade { tbs, threads, registers: 16, shared: 0, body };
    let launches = [
        (kernel(2, 32, vec![Step::Load(5, 0)]), 921, 1),
        (kernel(15, 32, vec![Step::Atomic(5, 0), Step::Atomic(5, 1)]), 1, 0),
        (kernel(3, 1024, vec![Step::Load(5, 2)]), 0, 2),
    ];
    let launches = launches.iter().map(|(kernel, arrival, stream)| launch(&kernel.trace(), *stream, *arrival)).collect();
    run(&small_gpu(1), &Setting { window: 69, ..Setting::new(PolicyCode::MiasIpc, true) }, launches);
}

/// Every store is acknowledged: a case found by random launch schedules.
#[test]
fn every_store_is_acknowledged() {
    let small = HandMade { tbs: 4, threads: 32, registers: 16, shared: 0, body: vec![Step::Int(5), Step::Int(5), Step::Store(5, 0)] };
    let body = vec![Step::Load(8, 0), Step::Load(5, 4), Step::Load(6, 30), Step::Int(5), Step::Store(7, 16)];
    let large = HandMade { tbs: 7, threads: 1024, registers: 16, shared: 40_000, body };
    let launches = vec![launch(&small.trace(), 1, 926), launch(&large.trace(), 0, 566)];
    run(&small_gpu(4), &Setting { window: 50, ..Setting::new(PolicyCode::LeftOver, false) }, launches);
}

/// Number of random launch schedules in a test run.
const USUAL: u32 = 64;

/// Generates launches: kernel, time and stream.
fn any_launches() -> impl Strategy<Value = Vec<(HandMade, u64, u32)>> {
    let arrival = prop_oneof![2 => Just(0u64), 3 => 0u64..8_000];
    prop::collection::vec((any_kernel(), arrival, 0u32..4), 1..=4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(schedules(USUAL)) })]

    #[test]
    fn whatever_arrives_whenever(
        launches in any_launches(),
        policy in prop::sample::select(PolicyCode::ALL.to_vec()),
        ideal: bool,
        sms in 1u32..5,
        window in 50u32..2_000,
        fixed: [u8; KERNEL_SLOTS],
    ) {
        let setting = Setting { window, fixed, ..Setting::new(policy, ideal) };
        let launches = launches.iter().map(|(kernel, arrival, stream)| launch(&kernel.trace(), *stream, *arrival)).collect();
        run(&small_gpu(sms), &setting, launches);
    }
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn a_launch_in_the_cycle_in_which_another_kernel_ends() {
        let a = HandMade::compute(9, 256, 60).trace();
        let b = HandMade::memory(150, 256, 3).trace();
        let c = HandMade::compute(20, 128, 40).trace();
        for policy in PolicyCode::ALL {
            for ideal in [false, true] {
                let setting = Setting::new(policy, ideal);
                let both = || vec![launch(&a, 0, 0), launch(&b, 1, 0)];
                let (_, stats) = run(&small_gpu(3), &setting, both());
                let first = end(&stats, 0).min(end(&stats, 1));
                for (arrival, same_cycle) in [(first - 1, false), (first, true), (first + 1, false)] {
                    let (rig, with_third) = run(&small_gpu(3), &setting, [both(), vec![launch(&c, 2, arrival)]].concat());
                    assert_eq!(end(&with_third, 0).min(end(&with_third, 1)), first, "the third comes too late to change that");
                    let together = rig.watched.clerk.launched_while_completing;
                    assert_eq!(together > 0, same_cycle, "{setting:?}, arrival {arrival}");
                }
            }
        }
    }
}
