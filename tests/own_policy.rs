//! A policy of an external program runs in the firmware as a built-in one does.

use mias::custom_policy::{Custom, CustomPolicy};
use mias_firmware::configs::ConfigTable;
use mias_firmware::counters::CounterSet;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::metric::{IpmIpc, Score};
use mias_firmware::policy::{Context, Mias, Plan, Verdict};
use mias_lab::cosim::{Core, Image};
use mias_lab::decision_cost::Situation;
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run, RunError};
use mias_lab::experiment::policy::{Control, Latency, Policy};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_workloads::kernels;
use std::sync::{Arc, Mutex};

/// MIAS by IPM*IPC as an external policy. It takes `COUNT` instructions to decide, or gives no
/// count.
#[derive(Clone, Debug)]
struct Brought<const COUNT: u64>(Mias<IpmIpc>);

impl<const COUNT: u64> mias_firmware::policy::Policy for Brought<COUNT> {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        self.0.generate_configs(context, table)
    }

    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        self.0.on_done_profiling(context, table)
    }

    fn counters(&self) -> CounterSet {
        self.0.counters()
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        self.0.score(table, index)
    }
}

impl<const COUNT: u64> CustomPolicy for Brought<COUNT> {
    const NAME: &'static str = "brought";
    const HELP: &'static str = "for a test";

    fn new(_: &GpuProperties, _: &Settings) -> Self {
        Brought(Mias { metric: IpmIpc })
    }

    fn decision_instructions(_: &Situation) -> Option<u64> {
        (COUNT > 0).then_some(COUNT)
    }
}

const SILENT: Policy = Policy::Custom(Custom::of::<Brought<0>>());

fn runner() -> SimulatedGpu {
    let mut gpu = gpus::load("rtx2060").unwrap();
    gpu.sm.count = 3;
    SimulatedGpu::new(gpu)
}

fn workloads() -> Vec<Workload> {
    let traced = |(name, size, stream)| {
        let trace = kernels::trace(kernels::find(name).unwrap(), size, 1).unwrap();
        Workload::new(name, Arc::new(trace), stream)
    };
    let mut workloads: Vec<Workload> = [("fwt", 1 << 14, 0), ("mm", 64, 1)].map(traced).into();
    place(&mut workloads);
    workloads
}

fn run<'a>(policy: Policy, workloads: &'a [Workload], latency: Latency) -> Run<'a> {
    let options = Options { profile_cycles: 2_000, latency, ..Options::new(End::Cycles(60_000)) };
    Run { control: Control::Policy(policy), workloads: workloads.iter().collect(), options }
}

fn outcome(policy: Policy, latency: Latency) -> Outcome {
    runner().run(&run(policy, &workloads(), latency), &|_| {}).unwrap()
}

#[test]
fn it_does_what_the_same_policy_does_in_the_firmware() {
    let (own, built_in) = (outcome(SILENT, Latency::Off), outcome(Policy::MiasIpmIpc, Latency::Off));
    assert!(own.decision.as_ref().is_some_and(|decision| decision.profiled.iter().all(|profiled| profiled.score.is_some())));
    assert_eq!(own, built_in);
}

#[test]
fn it_shares_simulations_with_others() {
    let workloads = workloads();
    let runs = [Policy::MiasIpc, SILENT, Policy::MiasLinear].map(|policy| run(policy, &workloads, Latency::Off));
    let done = Mutex::new(vec![None; runs.len()]);
    runner().run_together(&runs, &|_| {}, &|at, outcome| done.lock().unwrap()[at] = Some(outcome.unwrap()));
    assert_eq!(done.into_inner().unwrap()[1], Some(outcome(SILENT, Latency::Off)));
}

#[test]
fn its_decisions_take_what_it_says_or_the_worst_there_is() {
    let instructions = |policy, latency| outcome(policy, latency).decision_time.unwrap().instructions;
    let worst = instructions(Policy::MiasIpc, Latency::Worst);
    assert_eq!([Latency::Worst, Latency::PerMetric].map(|latency| instructions(SILENT, latency)), [worst; 2]);
    let (little, much) = (Policy::Custom(Custom::of::<Brought<100>>()), Policy::Custom(Custom::of::<Brought<20_000>>()));
    assert!(worst > 100 && worst < 20_000, "{worst}");
    assert_eq!([little, much].map(|policy| instructions(policy, Latency::PerMetric)), [100, 20_000]);
    assert_eq!([little, much].map(|policy| instructions(policy, Latency::Worst)), [worst, 20_000]);
}

#[test]
fn an_image_does_not_know_it() {
    let runner = runner().with_image(Some(Image { core: Core::CortexM4, file: "none.elf".into() }));
    match runner.run(&run(SILENT, &workloads(), Latency::Off), &|_| {}) {
        Err(RunError::Firmware(message)) => assert!(message.contains("`brought` belongs to this program"), "{message}"),
        other => panic!("{other:?}"),
    }
}
