//! Early stopping at a precision: results contain only simulated data, whichever runs share the
//! simulation.

use crate::common::workloads::executed;
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run};
use mias_lab::experiment::policy::{Control, Latency, Policy};
use mias_lab::experiment::precision::{Estimate, Precision};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::Workload;
use mias_lab::gpus;
use std::sync::Mutex;

/// Window in cycles, long enough for 20 batches and as many again.
const WINDOW: u64 = 1_000_000;

fn runner() -> SimulatedGpu {
    let mut gpu = gpus::load("rtx2060").unwrap();
    (gpu.sm.count, gpu.dram.channels) = (1, 1);
    SimulatedGpu::new(gpu)
}

/// Creates grids that restart some ten times in the window.
fn workloads() -> Vec<Workload> {
    executed(&[("fwt", 1 << 14), ("mm", 64)])
}

fn options(precision: Option<&str>) -> Options {
    let precision = precision.map(|text| text.parse::<Precision>().unwrap());
    Options { profile_cycles: 2_000, latency: Latency::Off, precision, ..Options::new(End::Cycles(WINDOW)) }
}

fn run(control: Control, all: &[Workload], options: Options) -> Outcome {
    runner().run(&Run { control, workloads: all.iter().collect(), options }, &|_| {}).unwrap()
}

#[test]
fn an_estimate_begins_with_what_was_simulated() {
    let all = workloads();
    let control = Control::Fixed(vec![2, 2]);
    let exact = run(control.clone(), &all, options(None));
    assert_eq!(exact.estimate, None);
    let outcome = run(control.clone(), &all, options(Some("5 %")));
    let Estimate { simulated_cycles, steady_from_cycle, half_widths } = outcome.estimate.clone().expect("it is known to 5 %");
    assert!(steady_from_cycle < simulated_cycles && simulated_cycles < WINDOW && outcome.cycles == WINDOW);
    // The same counts as runs that end there, and their rate for the rest, rounded to nearest.
    let ends = |cycles: u64| run(control.clone(), &all, Options { end: End::Cycles(cycles), ..options(None) });
    let (then, now) = (ends(steady_from_cycle), ends(simulated_cycles));
    let rest = |then: u64, now: u64| {
        let (span, rest) = (simulated_cycles - steady_from_cycle, WINDOW - simulated_cycles);
        (2 * (now - then) * rest + span) / (2 * span)
    };
    for (at, half) in half_widths.iter().enumerate() {
        let (told, then, now, exact) = (outcome.launches[at], then.launches[at], now.launches[at], exact.launches[at]);
        assert_eq!(told.warp_insts, now.warp_insts + rest(then.warp_insts, now.warp_insts));
        assert_eq!(told.dram_reads, now.dram_reads + rest(then.dram_reads, now.dram_reads));
        assert!(half.thread_insts as f64 <= 0.05 * told.thread_insts as f64 + 1.0);
        let error = told.thread_insts.abs_diff(exact.thread_insts);
        assert!(error as f64 <= 0.05 * exact.thread_insts as f64, "{error} of {}", exact.thread_insts);
    }
    // Every slot of every cycle is counted once, except for rounding.
    let slots: u64 = outcome.sms.issue_slots.iter().sum();
    let all: u64 = exact.sms.issue_slots.iter().sum();
    assert!(slots.abs_diff(all) < 16, "{slots} and {all}");
}

#[test]
fn who_is_known_leaves_those_that_go_on() {
    let all = workloads();
    // The exact run leads or not, policies diverge or not, and one policy runs alone except for its
    // precisions.
    shared_end_as_alone(&all, &[Policy::MiasIpc, Policy::MiasIpmIpc], &[Some("5 %"), None, Some("20 %")]);
    shared_end_as_alone(&all, &[Policy::Smk], &[None, Some("5 %"), Some("0.0001 %")]);
}

fn shared_end_as_alone(all: &[Workload], policies: &[Policy], precisions: &[Option<&str>]) {
    let runner = runner();
    let runs: Vec<Run<'_>> = policies
        .iter()
        .flat_map(|&policy| precisions.iter().map(move |&precision| (Control::Policy(policy), options(precision))))
        .map(|(control, options)| Run { control, workloads: all.iter().collect(), options })
        .collect();
    let done = Mutex::new(vec![None; runs.len()]);
    let cycles = Mutex::new(0);
    runner.run_together(&runs, &|more| *cycles.lock().unwrap() += more, &|at, outcome| {
        let before = done.lock().unwrap()[at].replace(outcome.unwrap());
        assert!(before.is_none(), "run {at} ended twice");
    });
    let shared: Vec<Outcome> = done.into_inner().unwrap().into_iter().map(Option::unwrap).collect();
    let alone: Vec<Outcome> = runs.iter().map(|run| runner.run(run, &|_| {}).unwrap()).collect();
    assert_eq!(shared, alone);
    assert!(shared.iter().any(|outcome| outcome.estimate.is_some()), "none was known: the test shows nothing");
    assert_eq!(cycles.into_inner().unwrap(), WINDOW * runs.len() as u64);
}

#[test]
fn what_does_not_begin_anew_is_simulated_in_full() {
    let all = workloads();
    for (end, relaunch) in [(End::Cycles(WINDOW), false), (End::Done, true)] {
        let asked = |precision| Options { end, relaunch, ..options(precision) };
        let control = || Control::Policy(Policy::Smk);
        assert_eq!(run(control(), &all, asked(Some("5 %"))), run(control(), &all, asked(None)));
    }
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn whoever_shares_a_simulation_ends_as_alone() {
        let all = workloads();
        let policies: Vec<Policy> = Policy::ALL.into_iter().filter(|policy| policy.measures()).collect();
        shared_end_as_alone(&all, &policies, &[Some("5 %")]);
    }
}
