//! Results do not depend on the number of threads of a run. The tests cover traces, co-runs,
//! relaunches, firmware decisions, runs that share a simulation and diverge, and kernels that are
//! executed while they run.

use crate::common::workloads::executed_ahead;
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run};
use mias_lab::experiment::policy::{Control, Policy, Transition};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::threads::Threads;
use mias_lab::experiment::workload;
use mias_lab::gpus;
use mias_trace::accelsim::Warnings;
use mias_workloads::trace_store::Cache;
use std::path::Path;
use std::sync::Mutex;

/// More threads than SMs of a group, if there are as many; and more threads than cores.
const THREADS: [usize; 3] = [2, 4, 16];

fn runner(name: &str, sms: u32, threads: usize) -> SimulatedGpu {
    let mut gpu = gpus::load(name).unwrap();
    gpu.sm.count = sms;
    SimulatedGpu::new(gpu).with_threads(Threads::new(threads))
}

/// Returns the outcome of every run, from runs that may share a simulation.
fn together(runner: &SimulatedGpu, runs: &[Run<'_>]) -> Vec<Outcome> {
    let outcomes = Mutex::new(vec![None; runs.len()]);
    runner.run_together(runs, &|_| {}, &|at, outcome| outcomes.lock().unwrap()[at] = Some(outcome.unwrap()));
    outcomes.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
}

#[test]
fn traces_take_the_same_cycles_and_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference");
    for list in ["mem", "corun/comp60_mem"] {
        let workloads = workload::read_list(&folder.join(list).join("kernelslist.g"), &Cache::off(), &mut Warnings::new()).unwrap();
        let options = Options::new(End::Cycles(14_000));
        let run = Run { control: Control::Policy(Policy::LeftOver), workloads: workloads.iter().collect(), options };
        let outcome = |threads| runner("rtx2060-accelsim", 30, threads).run(&run, &|_| {}).unwrap();
        let alone = outcome(1);
        assert!(alone.launches.iter().any(|launch| launch.dram_reads > 0), "{list}");
        for threads in THREADS {
            assert_eq!(outcome(threads), alone, "{list}, {threads} threads");
        }
    }
}

#[test]
fn decisions_and_shared_simulations_are_the_same() {
    let policies = [Policy::MiasIpc, Policy::MiasIpmIpc, Policy::MiasFactor, Policy::Spatial];
    for transition in [Transition::Drain, Transition::Ideal] {
        let options = Options { profile_cycles: 2_000, transition, ..Options::new(End::Cycles(24_000)) };
        let outcomes = |threads| {
            let workloads = executed_ahead(&[("mm", 128), ("fwt", 1 << 15)]);
            let run = |&policy: &Policy| Run { control: Control::Policy(policy), workloads: workloads.iter().collect(), options };
            let runs: Vec<Run<'_>> = policies.iter().map(run).collect();
            together(&runner("rtx2060", 12, threads), &runs)
        };
        let alone = outcomes(1);
        assert!(alone[..3].iter().all(|outcome| outcome.decision.is_some()));
        for threads in THREADS {
            assert_eq!(outcomes(threads), alone, "{threads} threads");
        }
    }
}
