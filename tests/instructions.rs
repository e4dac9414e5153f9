//! Executed instructions depend on the kernels alone (sources.md D102): for any policy,
//! configuration, transition and cap, every TB runs once and executes its trace.

use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Run};
use mias_lab::experiment::policy::{Control, Latency, Policy, Transition};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_workloads::kernels::Spec;
use rayon::prelude::*;
use std::sync::Arc;

/// Number of SMs: few enough for runs below a second, and enough for spatial partitions.
const SMS: u32 = 4;

/// Profiling window in cycles: several pass before the kernels end, so that the measuring policies
/// decide.
const PROFILE_CYCLES: u32 = 1_000;

fn workloads(kernels: &[&str]) -> Vec<Workload> {
    let traced = |(stream, &name): (usize, &&str)| {
        let trace = Spec::parse(name).unwrap().prepare().unwrap().record().unwrap();
        Workload::new(name, Arc::new(trace), stream as u32)
    };
    let mut workloads: Vec<Workload> = kernels.iter().enumerate().map(traced).collect();
    place(&mut workloads);
    workloads
}

/// Returns every control of these kernels, with every transition, and a cap for one of them.
fn runs(workloads: &[Workload], runner: &SimulatedGpu) -> Vec<(Control, Options)> {
    let all: Vec<&Workload> = workloads.iter().collect();
    // Decisions of zero length, because these small kernels would end between two rounds of three
    // kernels' configurations.
    let done = Options { profile_cycles: PROFILE_CYCLES, latency: Latency::Off, ..Options::new(End::Done) };
    // Null places only one kernel's TBs, so a run until done would never end. Sequential is not a
    // run.
    let policies = Policy::ALL.into_iter().filter(|policy| policy.decides()).map(Control::Policy);
    let configs = runner.configurations(&all).unwrap().into_iter().filter(|config| !config.contains(&0)).map(Control::Fixed);
    let controls: Vec<Control> = policies.chain(configs).collect();
    let transitions = [Transition::Drain, Transition::Ideal].into_iter();
    let mut runs: Vec<(Control, Options)> =
        transitions.flat_map(|transition| controls.iter().map(move |control| (control.clone(), Options { transition, ..done }))).collect();
    runs.push((Control::Policy(Policy::LeftOver), Options { tbs_per_sm: Some(1), ..done }));
    runs
}

fn instructions_do_not_depend_on_the_policy(kernels: &[&str]) {
    let workloads = workloads(kernels);
    let mut gpu = gpus::load("rtx2060").unwrap();
    gpu.sm.count = SMS;
    let runner = SimulatedGpu::new(gpu);
    let cycles: Vec<(u64, bool)> = runs(&workloads, &runner)
        .into_par_iter()
        .map(|(control, options)| {
            let measures = matches!(control, Control::Policy(policy) if policy.measures());
            let run = Run { control: control.clone(), workloads: workloads.iter().collect(), options };
            let outcome = runner.run(&run, &|_| {}).unwrap();
            for (workload, launch) in workloads.iter().zip(&outcome.launches) {
                let what = format!("{} under {control:?}, {:?}", workload.name, options.transition);
                let tbs = workload.trace.info().tbs();
                assert_eq!((launch.tbs_issued, launch.tbs_completed), (tbs, tbs), "{what}");
                assert_eq!(launch.warp_insts, workload.trace.warp_insts(), "{what}");
                assert_eq!(launch.thread_insts, workload.trace.thread_insts(), "{what}");
            }
            (outcome.cycles, measures && outcome.decision.is_some())
        })
        .collect();
    assert!(cycles.iter().any(|run| run.0 != cycles[0].0), "the runs do differ: {cycles:?}");
    assert!(cycles.iter().any(|run| run.1), "a policy decided by measuring");
}

#[test]
fn of_a_compute_and_a_memory_kernel() {
    instructions_do_not_depend_on_the_policy(&["mm:96", "fwt:16384"]);
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn of_kernels_that_diverge_and_synchronize() {
        instructions_do_not_depend_on_the_policy(&["bfs:8192", "bopt:12,steps=512"]);
    }

    #[test]
    fn of_three_kernels() {
        instructions_do_not_depend_on_the_policy(&["blk:8192", "dxtc:20", "nbdy:1024,systems=2"]);
    }
}
