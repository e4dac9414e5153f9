//! Runs that share a simulation: every outcome equals that of the run alone, in every number.

use crate::common::workloads::{executed, runner};
use mias_hw_model::config::{DramOrder, DramSchedulerConfig, InFlightLimit, MemoryIssueConfig, MemoryOrder, Partition, PartitionConfig};
use mias_lab::cancel::Cancel;
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run, RunError};
use mias_lab::experiment::policy::{Control, Latency, Policy, Transition};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::gpus;
use std::sync::Mutex;

/// Returns all outcomes by index, and the cycles reported as progress.
fn together(runner: &SimulatedGpu, runs: &[Run<'_>]) -> (Vec<Result<Outcome, RunError>>, u64) {
    let (done, cycles) = (Mutex::new(vec![None; runs.len()]), Mutex::new(0));
    runner.run_together(runs, &|more| *cycles.lock().unwrap() += more, &|at, outcome| {
        let before = done.lock().unwrap()[at].replace(outcome);
        assert!(before.is_none(), "run {at} ended twice");
    });
    (done.into_inner().unwrap().into_iter().map(Option::unwrap).collect(), cycles.into_inner().unwrap())
}

/// Returns a GPU on which kernels that share an SM hold each other back: QBMI, DMIL, ways by
/// utility and batches of DRAM requests.
fn held() -> SimulatedGpu {
    let mut held = gpus::load("rtx2060").unwrap();
    held.sm.count = 3;
    let issue = MemoryIssueConfig { order: MemoryOrder::Quota, in_flight: InFlightLimit::Dynamic, ..MemoryIssueConfig::default() };
    held.sm.memory_issue = Some(issue);
    held.l1.partition = Some(PartitionConfig { by: Partition::Ucp, period_cycles: 2_000, ..PartitionConfig::default() });
    held.dram.scheduler = Some(DramSchedulerConfig { by: DramOrder::Batch, ..DramSchedulerConfig::default() });
    held.check().expect("they go together");
    SimulatedGpu::new(held)
}

fn shared_runs_on(runner: &SimulatedGpu) {
    let sets = [executed(&[("fwt", 1 << 14), ("mm", 64)]), executed(&[("blk", 1 << 15), ("mm", 64)])];
    let window = Options { profile_cycles: 2_000, latency: Latency::Off, ..Options::new(End::Cycles(20_000)) };
    // Each metric has its own time, so runs diverge even if they choose alike.
    let timed = Options { latency: Latency::PerMetric, ..Options::new(End::Cycles(60_000)) };
    let (mut parted, mut decided) = (false, 0);
    for all in &sets {
        for options in [
            window,
            Options { transition: Transition::Ideal, ..window },
            Options { end: End::Done, ..window },
            Options { profile_cycles: 2_000, ..timed },
        ] {
            let run = |&policy: &Policy| Run { control: Control::Policy(policy), workloads: all.iter().collect(), options };
            let policies: Vec<Policy> = Policy::ALL.into_iter().filter(|policy| policy.decides()).collect();
            let mut runs: Vec<Run<'_>> = policies.iter().map(run).collect();
            // Two runs that behave alike to the end.
            runs.push(runs[0].clone());
            let alone: Vec<_> = runs.iter().map(|run| runner.run(run, &|_| {})).collect();
            let (shared, cycles) = together(runner, &runs);
            let choices = |policy: Policy| shared[policies.iter().position(|&p| p == policy).unwrap()].clone().unwrap();
            parted |= choices(Policy::MiasIpc).config() != choices(Policy::MiasIpmIpc).config();
            decided += usize::from(choices(Policy::MiasIpc).decision.is_some());
            assert_eq!(cycles, shared.iter().map(|outcome| outcome.as_ref().unwrap().cycles).sum::<u64>());
            assert_eq!(shared, alone);
        }
    }
    assert!(decided > 2, "{decided} of 8 came to a decision");
    assert!(parted, "the metrics never chose differently: the test shows nothing");
}

#[test]
fn asked_to_stop_they_all_stop() {
    let all = executed(&[("mm", 64), ("fwt", 1 << 14)]);
    let cancel = Cancel::default();
    cancel.request();
    let options = Options::new(End::Cycles(30_000));
    let run = |policy| Run { control: Control::Policy(policy), workloads: all.iter().collect(), options };
    let (outcomes, _) = together(&runner(3).stopped_by(cancel), &[Policy::MiasIpc, Policy::MiasLinear].map(run));
    assert_eq!(outcomes, vec![Err(RunError::Interrupted); 2]);
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn shared_runs_are_the_runs_alone() {
        shared_runs_on(&runner(3));
    }

    #[test]
    fn shared_runs_are_the_runs_alone_where_kernels_hold_each_other_back() {
        shared_runs_on(&held());
    }
}
