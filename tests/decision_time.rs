//! Decisions take simulated time: quotas change after the cycles of the counted instructions, and
//! events in between wait.

use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, RunEnd, Stats};
use mias_hw_model::register_block::{Activity, ActivityEvent, RegisterBlock, Straps};
use mias_lab::decision_cost::{Batch, Charge, LatencyTable, Situation};
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run};
use mias_lab::experiment::policy::{Control, Latency, Policy};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_policies::Firmware;
use mias_registers::{PhaseCode, PolicyCode, global, interrupt};
use mias_workloads::kernels::Spec;
use std::sync::{Arc, LazyLock};

/// Number of SMs, enough to try every configuration of two kernels in one round.
const SMS: u32 = 6;
const WINDOW: u32 = 1_000;
const CYCLES: u64 = 150_000;

static WORKLOADS: LazyLock<Vec<Workload>> = LazyLock::new(|| {
    let traced = |(name, stream)| {
        let trace = Spec::parse(name).unwrap().prepare().unwrap().record().unwrap();
        Workload::new(name, Arc::new(trace), stream)
    };
    let mut workloads: Vec<Workload> = [("mm:128", 0), ("fwt:32768", 1), ("bopt:40,steps=512", 2)].map(traced).into();
    place(&mut workloads);
    workloads
});

fn runner() -> GpuConfig {
    let mut gpu = gpus::load("rtx2060").unwrap();
    gpu.sm.count = SMS;
    gpu
}

/// Runs the first kernels, and returns the events at the register block.
fn run(gpu: &GpuConfig, policy: Policy, latency: Latency, workloads: &[Workload]) -> Outcome {
    let options = Options { profile_cycles: WINDOW, latency, ..Options::new(End::Cycles(CYCLES)) };
    let run = Run { control: Control::Policy(policy), workloads: workloads.iter().collect(), options };
    SimulatedGpu::new(gpu.clone()).recording().run(&run, &|_| {}).unwrap()
}

/// Returns the cycles of the writes of `value` to `register`.
fn writes(activity: &[Activity], register: u32, value: Option<u32>) -> Vec<u64> {
    let written =
        |event| matches!(event, ActivityEvent::Write { offset, value: v } if offset == register && value.is_none_or(|value| value == v));
    activity.iter().filter(|a| written(a.event)).map(|a| a.cycle).collect()
}

/// Returns the cycle of each decision's interrupt, and of the following commit.
fn decisions(outcome: &Outcome) -> Vec<(u64, u64)> {
    let commits = writes(&outcome.activity, global::COMMIT, None);
    let made = writes(&outcome.activity, global::PHASE, Some(PhaseCode::Decide as u32));
    made.into_iter().filter_map(|at| Some((at, *commits.iter().find(|commit| **commit >= at)?))).collect()
}

#[test]
fn quotas_change_after_the_decisions_time() {
    for (latency, kernels) in [(Latency::Worst, 2), (Latency::PerMetric, 2), (Latency::Worst, 3)] {
        let mut gpu = runner();
        // Fast enough for the second round, whose generation takes most of the time, to fit the
        // run.
        gpu.microcontroller.clock_khz = if kernels == 2 { 400_000 } else { 10_000_000 };
        let outcome = run(&gpu, Policy::MiasFactor, latency, &WORKLOADS[..kernels]);
        let time = outcome.decision_time.unwrap();
        let decisions = decisions(&outcome);
        assert_eq!(decisions.len(), time.decisions as usize);
        // Three kernels have more configurations than SMs: two rounds.
        assert_eq!(decisions.len(), kernels - 1, "{kernels} kernels");
        assert_eq!(decisions.iter().map(|(from, to)| to - from).sum::<u64>(), time.cycles);
        // Cycles match the instructions: 1.5 per instruction; each decision is rounded up
        // separately.
        let exact = time.instructions as f64 * 1.5 * 1_365_000.0 / f64::from(gpu.microcontroller.clock_khz);
        assert!((exact..exact + decisions.len() as f64).contains(&(time.cycles as f64)), "{time:?}");
        // No quota is placed in between, and SMs profile again only with the second round's quotas.
        for (from, to) in decisions {
            let inside = |a: &&Activity| a.cycle > from && a.cycle < to && matches!(a.event, ActivityEvent::Write { .. });
            assert_eq!(outcome.activity.iter().filter(inside).count(), 0);
        }
    }
}

/// The first quotas of a profiling policy come after the counted time; those of another one when
/// the batch ends.
#[test]
fn the_first_quotas_take_the_placements_time() {
    let gpu = runner();
    let first = |policy, latency, kernels| writes(&run(&gpu, policy, latency, &WORKLOADS[..kernels]).activity, global::COMMIT, None)[0];
    let end = u64::from(gpu.launch.latency_cycles);
    let at_once = [(Policy::MiasIpc, Latency::Off, 2), (Policy::Spatial, Latency::Worst, 2), (Policy::MiasIpc, Latency::Worst, 1)];
    assert_eq!(at_once.map(|(policy, latency, kernels)| first(policy, latency, kernels)), [end; 3]);
    // 5,000 cycles of 1,365 MHz are 976 instructions of 1.5 cycles of 400 MHz; mm and fwt have 3
    // configurations.
    let batch = Batch { sms: SMS, kernels: 2, configs: 3, time_ahead: 976 };
    let instructions = LatencyTable::measured().placement(gpu.microcontroller.core, batch);
    let cycles = (instructions * 1_500 * 1_365).div_ceil(1_000 * 400);
    for latency in [Latency::Worst, Latency::PerMetric] {
        assert_eq!(first(Policy::MiasFactor, latency, 2), end + cycles);
    }
}

/// Each access waits some microcontroller cycles: the added time is proportional to them, in
/// placements and decisions.
#[test]
fn wait_states_are_added_for_every_access() {
    let times = |wait_states| {
        let mut gpu = runner();
        gpu.microcontroller.wait_states = wait_states;
        let outcome = run(&gpu, Policy::MiasIpc, Latency::Worst, &WORKLOADS[..2]);
        let (from, to) = decisions(&outcome)[0];
        [writes(&outcome.activity, global::COMMIT, None)[0], to - from]
    };
    let [none, few, many] = [0, 4, 8].map(times);
    // A decision reads at least three counters per SM; a placement writes at least a quota per
    // slot. Times are rounded up.
    for (at, least) in [8, 3 * u64::from(SMS)].into_iter().enumerate() {
        let (added, twice) = (few[at] - none[at], many[at] - none[at]);
        assert!(added + 1 >= least * 4 * 1_365 / 400, "{added} for {least} accesses");
        assert!((2 * added).abs_diff(twice) <= 2, "{added}, {twice}");
    }
}

/// The firmware with decisions of fixed length in cycles; none for no timing.
struct Timed {
    firmware: Firmware,
    cycles: Option<u64>,
}

impl Microcontroller for Timed {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.firmware.on_interrupt(registers);
        if registers.undated_decision().is_some() {
            registers.finish_decision(registers.now() + self.cycles.unwrap());
        }
    }
}

/// Runs with decisions of `cycles` cycles, and returns statistics and the events at the register
/// block.
fn timed(policy: PolicyCode, workloads: &[Workload], cycles: Option<u64>) -> (Stats, Vec<Activity>) {
    let straps = Straps { profile_window: WINDOW, ..Straps::new(policy) };
    let mut gpu = Gpu::new(&runner(), straps);
    for Workload { trace, stream, sector_offset, .. } in workloads {
        let (trace, stream, sector_offset) = (trace.clone(), *stream, *sector_offset);
        gpu.launch(Launch { stream, relaunch: true, sector_offset, ..Launch::new(trace) }).unwrap();
    }
    let registers = gpu.registers_mut();
    registers.record_activity();
    let mut timed = Timed { firmware: Firmware::from_straps(registers).unwrap(), cycles };
    if cycles.is_some() {
        registers.time_decisions();
    }
    assert_eq!(gpu.run(&mut timed, CYCLES), RunEnd::CycleLimit);
    (gpu.stats(), gpu.registers_mut().take_activity())
}

/// Decisions of zero length equal untimed decisions; longer ones make a difference.
#[test]
fn decisions_of_no_time_are_those_that_are_off() {
    for (policy, kernels) in [(PolicyCode::MiasLinear, 2), (PolicyCode::MiasIpc, 3)] {
        let run = |cycles| timed(policy, &WORKLOADS[..kernels], cycles);
        // Writes that wait for the decision's end come after all reads of the firmware.
        let run = |cycles| {
            let (stats, mut activity) = run(cycles);
            activity.retain(|activity| !matches!(activity.event, ActivityEvent::Read { .. }));
            (stats, activity)
        };
        let off = run(None);
        assert!(writes(&off.1, global::PHASE, Some(PhaseCode::Decide as u32)).len() == kernels - 1);
        assert_eq!(run(Some(0)), off);
        assert_ne!(run(Some(1)), off);
    }
}

#[test]
fn a_faster_clock_is_never_later_and_chooses_the_same() {
    let mut last: Option<(u64, Vec<u32>)> = None;
    for clock_khz in [100_000, 400_000, 1_000_000, 10_000_000] {
        let mut gpu = runner();
        gpu.microcontroller.clock_khz = clock_khz;
        let outcome = run(&gpu, Policy::MiasIpc, Latency::Worst, &WORKLOADS[..2]);
        let commit = decisions(&outcome)[0].1;
        let config = outcome.config().unwrap().to_vec();
        if let Some((slower, same)) = last {
            assert!(commit < slower, "{clock_khz} kHz");
            assert_eq!(config, same);
        }
        last = Some((commit, config));
    }
}

/// A kernel arrives during a decision: its interrupt is raised at once and served after the
/// broadcast.
#[test]
fn a_launch_during_a_decision_is_served_after_it() {
    let gpu = runner();
    let (from, to) = decisions(&run(&gpu, Policy::MiasIpc, Latency::Worst, &WORKLOADS[..2]))[0];
    let arrival = from + (to - from) / 2;
    let mut workloads = WORKLOADS.clone();
    workloads[2].arrival_cycle = arrival;
    let outcome = run(&gpu, Policy::MiasIpc, Latency::Worst, &workloads);
    assert_eq!(decisions(&outcome)[0], (from, to), "the decision goes on");
    let raised = |a: &&Activity| a.event == ActivityEvent::Raised(interrupt::LAUNCH) && a.cycle > 0;
    assert_eq!(outcome.activity.iter().find(raised).unwrap().cycle, arrival);
    let popped = writes(&outcome.activity, global::LAUNCH_POP, None);
    assert_eq!(popped.iter().copied().find(|cycle| *cycle > 0), Some(to));
    let steady = writes(&outcome.activity, global::PHASE, Some(PhaseCode::Steady as u32));
    let partition = writes(&outcome.activity, global::PHASE, Some(PhaseCode::Partition as u32));
    assert!(steady.contains(&to) && partition.contains(&to));
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn the_metric_takes_no_longer_than_the_worst() {
        let cycles = |policy, latency| run(&runner(), policy, latency, &WORKLOADS[..2]).decision_time.unwrap().cycles;
        let own = [Policy::MiasIpc, Policy::MiasIpmIpc, Policy::MiasFactor, Policy::MiasLinear].map(|policy| {
            assert!(cycles(policy, Latency::PerMetric) <= cycles(policy, Latency::Worst));
            cycles(policy, Latency::PerMetric)
        });
        assert_eq!(own.iter().max(), Some(&cycles(Policy::MiasIpc, Latency::Worst)));
        assert!(own[0] < own[1] && own[1] < own[2], "IPC reads and computes least: {own:?}");
    }

    /// Two kernels of 4 TBs per SM have 8 points, which 6 SMs profile in two windows of 4. Other
    /// policies profile the kernels alone.
    #[test]
    fn other_policies_take_what_was_counted_of_themselves() {
        let mut gpu = runner();
        gpu.microcontroller.clock_khz = 10_000_000;
        let core = gpu.microcontroller.core;
        let situation = |scored, generated| Situation { late: false, sms: SMS, kernels: 2, scored, generated };
        for (policy, rounds) in [
            (Policy::WarpedSlicer, &[situation(4, 8), situation(8, 0)][..]),
            (Policy::WarpedSlicerUnscaled, &[situation(4, 8), situation(8, 0)]),
            (Policy::Coordinated, &[situation(2, 0)]),
            // The shared measurement ends at the time-out: the first drained SM starts, and the
            // last ones take longer than two windows.
            (Policy::Maestro, &[situation(2, 1), Situation { late: true, ..situation(3, 0) }]),
        ] {
            for latency in [Latency::Worst, Latency::PerMetric] {
                let time = run(&gpu, policy, latency, &WORKLOADS[..2]).decision_time.unwrap();
                assert_eq!(time.decisions as usize, rounds.len(), "{policy:?}");
                let charge = Charge::of(policy.in_firmware(), latency == Latency::Worst);
                let counted = rounds.iter().map(|round| LatencyTable::measured().instructions(core, *round, charge));
                assert_eq!(time.instructions, counted.sum::<u64>(), "{policy:?}");
            }
        }
        let none = run(&gpu, Policy::Smk, Latency::Worst, &WORKLOADS[..2]).decision_time.unwrap();
        assert_eq!((none.decisions, none.instructions), (0, 0));
    }
}
