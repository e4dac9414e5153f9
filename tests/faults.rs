//! Promises under faults (docs/porting/guarantees.md), one fault at a time, on three SMs with
//! synthetic kernels.
//!
//! `tests/common/fault_rig.rs` describes the checks of every run. They include that every TB runs
//! once, and that the system comes to rest.

use crate::common::fault_rig::{FaultRig, HOST_PATIENCE, TIME_OUT_WINDOWS};
use crate::common::faults::{BrokenCounter, Fault, Reading};
use crate::common::hand_made::HandMade;
use crate::common::rig::{LAUNCH_LATENCY, Setting, launch, small_gpu};
use mias_firmware::configs::TbVector;
use mias_firmware::driver::POLL_CYCLES;
use mias_hw_model::gpu::{Launch, RunEnd, Stats};
use mias_hw_model::register_block::KernelDescriptor;
use mias_registers::{PhaseCode, PolicyCode, fault, interrupt};

const MIAS: [PolicyCode; 4] = [PolicyCode::MiasIpc, PolicyCode::MiasIpmIpc, PolicyCode::MiasFactor, PolicyCode::MiasLinear];

/// Policies whose interrupts are swept access by access. The random schedules sweep the others.
const SWEPT: [PolicyCode; 2] = [PolicyCode::LeftOver, PolicyCode::MiasFactor];

/// Creates two kernels with four TBs per SM: three configurations for three SMs.
fn pair() -> Vec<Launch> {
    let kernels = [HandMade::compute(60, 256, 60), HandMade::memory(50, 256, 3)];
    kernels.iter().zip(0..).map(|(kernel, stream)| launch(&kernel.trace(), stream, 0)).collect()
}

/// Creates the two kernels of [`pair`], and a third one that arrives when they run.
fn three() -> Vec<Launch> {
    [pair(), vec![launch(&HandMade::compute(20, 128, 40).trace(), 2, 2_500)]].concat()
}

/// Runs launches to their end with these faults.
fn run(setting: &Setting, launches: Vec<Launch>, counters: &[BrokenCounter], schedule: &[(u64, Fault)]) -> (FaultRig, Stats) {
    let mut rig = FaultRig::new(&small_gpu(3), setting, counters, schedule);
    launches.into_iter().for_each(|launch| rig.launch(launch));
    let stats = rig.run();
    (rig, stats)
}

/// Returns the cycle by which all of these launches had ended.
fn end(stats: &Stats) -> u64 {
    stats.launches.iter().filter_map(|launch| launch.end_cycle).max().expect("complete")
}

/// Returns the first cycle of a phase, from `from` on.
fn first(rig: &FaultRig, phase: PhaseCode, from: u64) -> Option<u64> {
    rig.faulty.phases.iter().find(|(cycle, p)| *p == phase && *cycle >= from).map(|(cycle, _)| *cycle)
}

/// One launch latency for the batch, then a window, and the TBs in transition: no fault.
#[test]
fn without_faults_nothing_is_reset_and_nothing_is_said() {
    for policy in PolicyCode::ALL {
        let (rig, _) = run(&Setting::new(policy, false), three(), &[], &[]);
        assert_eq!((rig.faulty.resets, rig.faulty.happened, rig.gpu.registers().faults()), (0, 0, 0), "{policy:?}");
    }
}

/// SM 0 holds two TBs of a kernel with four, all of them long, and must reach one: it never does.
/// It is left out two windows after the first SM reached its partition.
#[test]
fn an_sm_that_never_reaches_its_partition_is_left_out() {
    for policy in MIAS {
        let setting = Setting::new(policy, false);
        let (long, many) = (HandMade::compute(4, 256, 4_000), HandMade::memory(200, 256, 3));
        let arrival = 2_000;
        let launches = vec![launch(&long.trace(), 0, 0), launch(&many.trace(), 1, arrival)];
        let (rig, stats) = run(&setting, launches, &[], &[]);
        let profile = first(&rig, PhaseCode::Profile, arrival).expect("two of three SMs get there");
        let steady = first(&rig, PhaseCode::Steady, profile).expect("decided");
        assert_eq!(steady, profile + TIME_OUT_WINDOWS * u64::from(setting.window), "{policy:?}");
        assert!(stats.launches[0].end_cycle > Some(steady), "the scenario: the long TBs are still there");
        // SM 0 had the first configuration of (1, 3), (2, 2) and (3, 1).
        assert_ne!(rig.faulty.winners[0].1, TbVector([1, 3, 0, 0]), "{policy:?}: what nobody measured is not chosen");
    }
}

/// For any counters, the decision falls in the same cycle as with correct ones, and selects a tried
/// configuration.
#[test]
fn broken_counters_cost_the_best_choice_and_nothing_else() {
    for policy in MIAS {
        let setting = Setting::new(policy, false);
        let (sound, _) = run(&setting, pair(), &[], &[]);
        let decided = sound.faulty.winners[0].0;
        for reading in
            [Reading::Zero, Reading::Max { told: false }, Reading::Max { told: true }, Reading::Torn(0x00FF_0000), Reading::Torn(0)]
        {
            for sm in [None, Some(0), Some(2)] {
                let (rig, _) = run(&setting, pair(), &[BrokenCounter { sm, counter: None, reading }], &[]);
                let (cycle, winner) = rig.faulty.winners[0];
                assert_eq!(cycle, decided, "{policy:?}, {reading:?} on {sm:?}");
                let same_everywhere = sm.is_none() && !matches!(reading, Reading::Torn(_));
                if same_everywhere {
                    assert_eq!(winner, TbVector([1, 3, 0, 0]), "{policy:?}, {reading:?}: a tie goes to the lowest");
                }
                assert_eq!((rig.faulty.resets, rig.gpu.registers().faults()), (0, 0));
            }
        }
    }
}

/// A launch is lost while the GPU is idle, so that no other event calls the firmware: the poll
/// finds it.
#[test]
fn a_launch_that_is_lost_in_silence_is_found_by_the_poll() {
    let kernel = HandMade::compute(9, 256, 60).trace();
    let quiet = 5_000;
    let lost = [(quiet, Fault::Lost { status: interrupt::LAUNCH, events: false })];
    let (rig, stats) = run(&Setting::new(PolicyCode::MiasIpc, false), vec![launch(&kernel, 0, quiet)], &[], &lost);
    assert_eq!((rig.faulty.happened, rig.faulty.resets), (1, 0));
    let steady = first(&rig, PhaseCode::Steady, quiet).expect("scheduled");
    assert!(steady <= quiet + u64::from(POLL_CYCLES) + u64::from(LAUNCH_LATENCY));
    assert!(end(&stats) > u64::from(POLL_CYCLES), "the scenario: nothing else called");
}

/// The timer is lost while the GPU is idle: only a reset recovers it.
#[test]
fn a_timer_that_is_lost_in_silence_is_the_hosts_to_mend() {
    let kernel = HandMade::compute(9, 256, 60).trace();
    let lost = [(10, Fault::Lost { status: interrupt::TIMER, events: false })];
    let (rig, _) = run(&Setting::new(PolicyCode::MiasIpc, false), vec![launch(&kernel, 0, 5)], &[], &lost);
    assert_eq!((rig.faulty.happened, rig.faulty.resets), (1, 1));
    let steady = first(&rig, PhaseCode::Steady, 0).expect("scheduled");
    assert!(steady <= 5 + HOST_PATIENCE + 2 * u64::from(LAUNCH_LATENCY));
}

/// Twelve launches at once, eight slots, four scheduled kernels: the others wait, in the FIFO and
/// with the host. One more, forced upon the block, is refused with a fault, and changes nothing.
#[test]
fn a_full_launch_fifo_keeps_its_launches() {
    for policy in PolicyCode::ALL {
        let kernel = HandMade::compute(7, 256, 30).trace();
        let mut rig = FaultRig::new(&small_gpu(3), &Setting::new(policy, false), &[], &[]);
        (0..12).for_each(|stream| rig.launch(launch(&kernel, stream, 0)));
        assert_eq!(rig.run_until(10), RunEnd::CycleLimit);
        while rig.gpu.registers().has_free_slot() {
            assert_eq!(rig.run_until(rig.gpu.cycle() + 1), RunEnd::CycleLimit);
        }
        assert_eq!(rig.faulty.firmware.scheduler().kernels().len(), 4);
        assert_eq!(
            rig.gpu.registers_mut().post_launch(KernelDescriptor { grid_tbs: 1, tb_threads: 32, ..KernelDescriptor::default() }),
            None
        );
        assert_eq!(rig.gpu.registers().faults(), fault::LAUNCH_OVERRUN);
        rig.run();
    }
}

/// Two kernels that load and store end with ideal transitions: a case found by the random
/// schedules, without any fault.
#[test]
fn two_kernels_that_load_and_store_end_with_ideal_transitions() {
    let setting = Setting { window: 1_183, ..Setting::new(PolicyCode::MiasIpc, true) };
    let mut rig = FaultRig::new(&small_gpu(2), &setting, &[], &[]);
    for (kernel, stream) in [HandMade::memory(26, 64, 3), HandMade::memory(14, 256, 2)].iter().zip(0..) {
        rig.launch(launch(&kernel.trace(), stream, 0));
    }
    rig.run();
}

/// Sweeps over every phase and policy: tests of `cargo xtask ci` that `cargo xtask test` leaves
/// out.
mod slow {
    use super::*;

    #[test]
    fn a_late_interrupt_delays_what_it_says_and_no_more() {
        for policy in PolicyCode::ALL {
            let setting = Setting::new(policy, false);
            let (sound, _) = run(&setting, three(), &[], &[]);
            let phases = sound.faulty.phases.clone();
            for (cycle, phase) in phases {
                for late in [1, 90, 3_000] {
                    let (rig, _) = run(&setting, three(), &[], &[(cycle.saturating_sub(1), Fault::Late(late))]);
                    assert_eq!((rig.faulty.resets, rig.gpu.registers().faults()), (0, 0), "{policy:?}, {late} late before {phase:?}");
                    let held_up = first(&rig, phase, cycle.saturating_sub(1));
                    assert!(
                        held_up.is_none_or(|at| at <= cycle + u64::from(late) + 1 || policy != PolicyCode::Spatial),
                        "{policy:?}: {phase:?} at {held_up:?}, {cycle} otherwise"
                    );
                }
            }
        }
    }

    /// A repeated status and its events change nothing in the same cycle. Later they are stale, and
    /// do not change any decision.
    #[test]
    fn a_doubled_interrupt_is_old_news() {
        for policy in PolicyCode::ALL {
            let setting = Setting::new(policy, false);
            let (sound, _) = run(&setting, three(), &[], &[]);
            for (cycle, phase) in &sound.faulty.phases {
                let (rig, _) = run(&setting, three(), &[], &[(*cycle, Fault::Doubled(0))]);
                assert_eq!(rig.faulty.phases, sound.faulty.phases, "{policy:?}: doubled at once, {phase:?}");
                for later in [1, 2, 5] {
                    let (rig, _) = run(&setting, three(), &[], &[(*cycle, Fault::Doubled(later))]);
                    assert_eq!(rig.faulty.resets, 0);
                    assert_eq!(rig.faulty.winners, sound.faulty.winners, "{policy:?}: doubled {later} later, {phase:?}");
                }
            }
        }
    }

    /// A bus that returns all ones, for a while or from some access of an interrupt on, causes no
    /// irreversible action.
    #[test]
    fn all_ones_are_not_believed() {
        for policy in PolicyCode::ALL {
            let setting = Setting::new(policy, false);
            for from in [0, 150, 700, 1_000, 2_600] {
                for cycles in [1, 500, 20_000] {
                    let (rig, _) = run(&setting, three(), &[], &[(from, Fault::Silent(cycles))]);
                    assert_eq!((rig.faulty.happened, rig.faulty.resets), (1, 0), "{policy:?}, from {from} for {cycles}");
                }
            }
            let (sound, _) = run(&setting, three(), &[], &[]);
            for (cycle, phase) in sound.faulty.phases.iter().filter(|_| SWEPT.contains(&policy)) {
                for from in (0..40).step_by(3) {
                    let (rig, _) = run(&setting, three(), &[], &[(*cycle, Fault::SilentReads(from))]);
                    assert_eq!(rig.faulty.resets, 0, "{policy:?}: silent from access {from} on, {phase:?}");
                }
            }
        }
    }

    /// The microcontroller is reset in every phase that takes time, and at every access of the
    /// interrupts between them, including those of Decide and Broadcast. The kernels continue, and
    /// are rescheduled within one launch latency.
    #[test]
    fn a_reset_in_any_phase_loses_nothing() {
        for policy in PolicyCode::ALL {
            let setting = Setting::new(policy, false);
            let (sound, _) = run(&setting, three(), &[], &[]);
            let asleep: Vec<u64> = sound.faulty.phases.iter().flat_map(|(cycle, _)| [*cycle, cycle + 50]).collect();
            for cycle in asleep {
                let mut rig = FaultRig::new(&small_gpu(3), &setting, &[], &[]);
                three().into_iter().for_each(|launch| rig.launch(launch));
                if rig.run_until(cycle) == RunEnd::AllComplete {
                    continue;
                }
                rig.faulty.reset(rig.gpu.registers_mut());
                let end = rig.run_until(cycle + u64::from(LAUNCH_LATENCY) + 1);
                let scheduler = rig.faulty.firmware.scheduler();
                let waiting = end == RunEnd::CycleLimit && !scheduler.kernels().is_empty() && scheduler.reschedulings() == 0;
                // A kernel that has just arrived opens its own batch.
                assert!(!waiting || rig.gpu.registers().phase() == Some(PhaseCode::Partition), "{policy:?}: reset in cycle {cycle}");
                rig.run();
                assert_eq!((rig.faulty.resets, rig.gpu.registers().faults()), (1, 0), "{policy:?}: reset in cycle {cycle}");
            }
            for (cycle, phase) in sound.faulty.phases.iter().filter(|_| SWEPT.contains(&policy)) {
                // Every access of the first decision and its broadcast, and some of the others.
                let deciding = *phase == PhaseCode::Steady && sound.faulty.winners.first().is_some_and(|(decided, _)| decided == cycle);
                let (accesses, step) = if deciding { (sound.faulty.deciding, 1) } else { (40, 4) };
                for after in (0..=accesses).step_by(step) {
                    let (rig, _) = run(&setting, three(), &[], &[(*cycle, Fault::Reset(after))]);
                    assert_eq!(rig.faulty.resets, 1, "{policy:?}: reset after access {after}, {phase:?}");
                }
            }
        }
    }

    /// A kernel's interrupt is lost, with its event or without. It is found at the next poll. The
    /// host must reset only if the lost event is a timer without a substitute.
    #[test]
    fn a_lost_interrupt_is_made_up_for() {
        let kinds =
            [interrupt::LAUNCH, interrupt::DRAINED, interrupt::COMPLETED, interrupt::PARTITION, interrupt::PROFILE_DONE, interrupt::TIMER];
        for policy in [PolicyCode::LeftOver, PolicyCode::Spatial, PolicyCode::MiasFactor] {
            let setting = Setting::new(policy, false);
            let (_, sound) = run(&setting, three(), &[], &[]);
            for status in kinds {
                for events in [false, true] {
                    for from in [0, 1_500, 2_600] {
                        let (rig, stats) = run(&setting, three(), &[], &[(from, Fault::Lost { status, events })]);
                        let what = format!("{policy:?}, {status:#x} with events {events} from {from}");
                        let resets = rig.faulty.resets;
                        assert!(resets == 0 || status == interrupt::TIMER, "{what}: {resets} resets");
                        let late = end(&stats).saturating_sub(end(&sound));
                        let most = if resets == 0 { u64::from(POLL_CYCLES) } else { HOST_PATIENCE + u64::from(LAUNCH_LATENCY) };
                        // A late discovery changes the order of TBs, at worst to one kernel after
                        // the other.
                        assert!(late <= most + end(&sound), "{what}: {late} cycles late");
                    }
                }
            }
        }
    }

    /// A third kernel of every length between none and longer than all: it ends in every phase that
    /// takes time.
    #[test]
    fn a_kernel_completes_in_every_phase() {
        for policy in MIAS {
            let setting = Setting { window: 700, ..Setting::new(policy, false) };
            let mut seen = std::collections::BTreeSet::new();
            for length in (5..1_000).step_by(13) {
                let third = launch(&HandMade::compute(1, 64, length).trace(), 2, 0);
                let late = launch(&HandMade::compute(6, 64, 20).trace(), 3, 1_300);
                let (rig, stats) = run(&setting, [pair(), vec![third, late]].concat(), &[], &[]);
                let ended = stats.launches[2].end_cycle.expect("complete");
                let phase = rig.faulty.phases.iter().take_while(|(cycle, _)| *cycle < ended).last().expect("a phase").1;
                seen.insert(phase);
                assert_eq!(rig.faulty.resets, 0);
            }
            let expected = [PhaseCode::Partition, PhaseCode::Transition, PhaseCode::Profile, PhaseCode::Steady];
            assert!(expected.iter().all(|phase| seen.contains(phase)), "{policy:?}: {seen:?}");
        }
    }

    /// A descriptor that fits no SM, or an invalid one: the firmware frees the slot and reports it,
    /// and the others continue.
    #[test]
    fn a_descriptor_that_cannot_run_is_rejected() {
        let whole = KernelDescriptor { grid_tbs: 5, tb_threads: 64, thread_registers: 16, ..KernelDescriptor::default() };
        let corrupt = [
            KernelDescriptor { tb_threads: 1_025, ..whole },
            KernelDescriptor { tb_shared_bytes: 70_000, ..whole },
            KernelDescriptor { thread_registers: u32::MAX, ..whole },
            KernelDescriptor { tb_threads: 0, ..whole },
            KernelDescriptor { grid_tbs: 0, ..whole },
            KernelDescriptor::default(),
        ];
        for policy in PolicyCode::ALL {
            for descriptor in corrupt {
                let mut rig = FaultRig::new(&small_gpu(3), &Setting::new(policy, false), &[], &[]);
                pair().into_iter().for_each(|launch| rig.launch(launch));
                rig.run_until(1_000);
                let slot = rig.gpu.registers_mut().post_launch(descriptor).expect("a free slot");
                rig.run_until(1_002);
                assert_eq!(rig.gpu.registers_mut().take_rejected(), 1 << slot, "{descriptor:?}: the host is told");
                assert_eq!(rig.gpu.registers().faults(), fault::KERNEL_TOO_LARGE);
                rig.run();
            }
        }
    }

    /// A descriptor that is read wrong but plausibly: too many or too few TBs are requested. The
    /// hardware issues those that fit.
    #[test]
    fn a_descriptor_that_was_read_wrong_does_no_harm() {
        use mias_registers::slot;
        let shown = [
            (slot::TB_THREADS, 32),
            (slot::TB_THREADS, 1_024),
            (slot::THREAD_REGISTERS, 0),
            (slot::TB_SHARED_BYTES, 40_000),
            (slot::GRID_TBS, 1),
            (slot::GRID_TBS, u32::MAX),
            (slot::UNFINISHED_TBS, 0),
        ];
        for policy in PolicyCode::ALL {
            for (register, value) in shown {
                let (rig, _) = run(&Setting::new(policy, false), three(), &[], &[(0, Fault::Descriptor { register, value })]);
                assert!(rig.faulty.misled);
                assert_eq!(rig.faulty.resets, 0, "{policy:?}, {register:#x} = {value}");
            }
        }
    }
}
