//! `compare`: every policy on one set of kernels, against isolated runs and against the best configuration there is.
//!
//! All runs cover the same window. The oracle is the best of a sweep: one static run of each maximal configuration with TBs
//! of at least two kernels (sources.md D6). A policy that ends with one configuration on all SMs is judged twice:
//! decision regret compares a static run of its choice with the oracle's, end-to-end regret its own run, which pays for
//! profiling and transition.

use super::judge::{Material, judge};
use super::machine::{Decision, End, InPlace, Machine, Options, Outcome, Placement, Run, RunError};
use super::policy::{Control, IpcUnit, Policy};
use super::sequential::sequential;
use super::workload::Workload;
use crate::intervals::Estimated;
use crate::metrics::{Metrics, ratio};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A kernel alone on the GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Isolated {
    /// Instructions per cycle.
    pub ipc: f64,
    /// Half of the 95 % interval of `ipc`; 0 if its run was simulated in full.
    pub half_width: f64,
    /// Most TBs per SM.
    pub max_tbs: u32,
}

/// One kernel's part in a co-run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelResult {
    /// Instructions per cycle.
    pub ipc: f64,
    /// Over isolated; none if the kernel did nothing alone.
    pub normalized_ipc: Option<f64>,
}

/// A value for each of the two objectives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerObjective<T> {
    /// The thesis' speedup.
    pub s: T,
    /// Weighted speedup.
    pub stp: T,
}

/// Half-widths of 95 % intervals where runs ended before their window.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfWidths {
    /// Of each kernel's IPC.
    pub ipc: Vec<f64>,
    /// Of the metrics against isolated runs.
    pub metrics: Metrics,
    /// Of [`PolicyResult::decision_regret`].
    pub decision_regret: PerObjective<Option<f64>>,
    /// Of [`PolicyResult::end_to_end_regret`].
    pub end_to_end_regret: PerObjective<Option<f64>>,
}

/// What a policy achieved.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyResult {
    /// The policy.
    pub policy: Policy,
    /// TBs of each kernel per SM, in kernel order; none where SMs differ or the policy sets no quota.
    pub config: Option<Vec<u32>>,
    /// The quotas where SMs differ.
    pub placement: Vec<Placement>,
    /// Against isolated runs.
    pub metrics: Metrics,
    /// How well it is known; none if all that it is made of was simulated in full.
    pub half_widths: Option<HalfWidths>,
    /// Core cycles simulated, where the run ended before its window.
    pub simulated_cycles: Option<u64>,
    /// Lost by the choice of configuration, in effect or too late; none where it is not of the sweep.
    pub decision_regret: PerObjective<Option<f64>>,
    /// Lost in all.
    pub end_to_end_regret: PerObjective<Option<f64>>,
    /// Cycles spent in transition.
    pub transition_cycles: u64,
    /// How much of the run was spent in `config` or `placement`; none where that is of several runs.
    pub in_place: Option<InPlace>,
    /// Cycles spent profiling.
    pub profile_cycles: u64,
    /// Cycles from the launches that were collected to the first quotas, of all batches; none if that takes no time.
    pub placement_cycles: Option<u64>,
    /// Cycles from the interrupts that led to decisions to the decisions' effect; none if they take no time.
    pub decision_cycles: Option<u64>,
    /// Cycles until all kernels had completed, for runs until done.
    pub makespan_cycles: Option<u64>,
    /// Per kernel.
    pub kernels: Vec<KernelResult>,
    /// How it chose.
    pub decision: Option<Decision>,
    /// It measures, and the window ended before its choice was in effect: what ran is not what it chose.
    pub too_late: bool,
    /// What it had chosen by then, where that came too late.
    pub late_config: Option<Vec<u32>>,
    /// How an image and the firmware in this process parted ([`Outcome::parted`]).
    pub parted: Option<String>,
}

/// A configuration of the sweep and what a static run of it achieved.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Against isolated runs.
    pub metrics: Metrics,
    /// Half-widths of the 95 % intervals of `metrics`; none if all that they are made of was simulated in full.
    pub half_widths: Option<Metrics>,
}

/// The best of the sweep for one objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// The objective.
    pub value: f64,
    /// Half of its 95 % interval; 0 if all that it is made of was simulated in full.
    pub half_width: f64,
    /// Other configurations of the sweep that may be as good: intervals do not tell which is better.
    pub rivals: usize,
}

/// The whole comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Per kernel, in kernel order.
    pub isolated: Vec<Isolated>,
    /// In the order asked for.
    pub results: Vec<PolicyResult>,
    /// What running only the fastest kernel would score in S.
    pub s_null: Option<f64>,
    /// The sweep, in lexicographic order.
    pub sweep: Vec<SweepPoint>,
    /// Its best; none where no two kernels fit together, or the sweep is not complete. Ties go to the first.
    pub oracle: PerObjective<Option<Best>>,
    /// What was not finished when somebody asked to stop.
    pub missing: Missing,
}

/// What an interrupted comparison lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing {
    /// Policies without a result, in the order asked for.
    pub policies: Vec<Policy>,
    /// Configurations that the sweep lacks, in lexicographic order.
    pub configs: Vec<Vec<u32>>,
}

impl Missing {
    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.configs.is_empty()
    }
}

/// Called as runs go on.
pub trait Watch: Sync {
    /// So many runs have been planned, on top of those before.
    fn planned(&self, runs: usize);
    /// So many cycles have been simulated since the last call, over all runs.
    fn cycles(&self, cycles: u64);
    /// A run has ended.
    fn finished(&self);
}

/// Compares `policies` on `workloads`. The result does not depend on the number of threads.
///
/// Where the machine is interrupted, the runs that had ended count; the others are listed as missing.
///
/// # Errors
/// The first [`RunError`] in the order of runs. [`RunError::Interrupted`] only if not all isolated runs had ended: without
/// them there is nothing to compare with.
pub fn compare(
    machine: &dyn Machine,
    workloads: &[Workload],
    policies: &[Policy],
    options: Options,
    watch: &dyn Watch,
) -> Result<Comparison, RunError> {
    let all: Vec<&Workload> = workloads.iter().collect();
    let max_tbs = all.iter().map(|workload| machine.max_tbs(workload)).collect::<Result<Vec<u32>, _>>()?;
    let sweep_configs = if all.len() > 1 { machine.configurations(&all)? } else { Vec::new() };

    let isolated = isolated_runs(machine, &all, options, watch)?;
    let isolated_ipc: Vec<Estimated> = isolated.iter().map(|outcome| estimated_ipc(outcome, 0, options)).collect();
    let alone = only_fastest(&isolated_ipc.iter().map(|ipc| ipc.value).collect::<Vec<f64>>(), &max_tbs);

    let mut controls: Vec<Control> = sweep_configs.iter().cloned().map(Control::Fixed).collect();
    let run = policies.iter().filter(|&&policy| policy != Policy::Sequential);
    controls.extend(run.map(|&policy| control_of(policy, &alone)));
    controls.sort();
    controls.dedup();
    let runs = controls.iter().map(|control| Run { control: control.clone(), workloads: all.clone(), options }).collect();
    let outcomes: BTreeMap<Control, Outcome> =
        controls.iter().cloned().zip(run_all(machine, runs, watch)?).filter_map(|(control, outcome)| Some((control, outcome?))).collect();

    let arrivals: Vec<u64> = all.iter().map(|workload| workload.arrival_cycle).collect();
    let sequential = sequential(&isolated, &arrivals, options);
    let (isolated_ipc, max_tbs) = (&isolated_ipc, &max_tbs);
    Ok(judge(Material { isolated_ipc, sequential, max_tbs, sweep: sweep_configs, policies, outcomes: &outcomes, options }))
}

/// Instructions per cycle of one kernel: over the window, or until done over the time from its arrival to its end.
pub fn ipc(outcome: &Outcome, kernel: usize, options: Options) -> f64 {
    let Some(launch) = outcome.launches.get(kernel) else { return 0.0 };
    let cycles = match options.end {
        End::Cycles(window) => window,
        End::Done => launch.cycles(outcome.cycles),
    };
    if cycles == 0 { 0.0 } else { options.ipc.insts(launch) as f64 / cycles as f64 }
}

/// The same with its interval.
pub fn estimated_ipc(outcome: &Outcome, kernel: usize, options: Options) -> Estimated {
    let half = outcome.estimate.as_ref().and_then(|estimate| estimate.half_widths.get(kernel)).map_or(0, |half| match options.ipc {
        IpcUnit::Thread => half.thread_insts,
        IpcUnit::Warp => half.warp_insts,
    });
    Estimated { value: ipc(outcome, kernel, options), half_width: ratio(half, outcome.cycles).unwrap_or_default() }
}

/// What the null policy places: all room for the kernel that is fastest alone, found by isolated runs.
///
/// # Errors
/// The first [`RunError`] in the order of runs.
pub fn fastest_alone(machine: &dyn Machine, all: &[&Workload], options: Options, watch: &dyn Watch) -> Result<Vec<u32>, RunError> {
    let max_tbs = all.iter().map(|workload| machine.max_tbs(workload)).collect::<Result<Vec<u32>, _>>()?;
    let isolated = isolated_runs(machine, all, options, watch)?;
    let isolated_ipc: Vec<f64> = isolated.iter().map(|outcome| ipc(outcome, 0, options)).collect();
    Ok(only_fastest(&isolated_ipc, &max_tbs))
}

/// One run per different kernel, alone; equal kernels share it. In a window a kernel arrives when it does in the shared run,
/// so that both count over the same cycles; until done its own time counts, and it arrives at cycle 0.
fn isolated_runs(machine: &dyn Machine, all: &[&Workload], options: Options, watch: &dyn Watch) -> Result<Vec<Outcome>, RunError> {
    let arrival = |workload: &Workload| if options.end == End::Done { 0 } else { workload.arrival_cycle };
    let same = |a: &Workload, b: &Workload| a.hash == b.hash && a.copies == b.copies && arrival(a) == arrival(b);
    let first_of = |workload: &Workload| all.iter().position(|other| same(other, workload)).unwrap_or_default();
    let firsts: Vec<usize> = all.iter().map(|workload| first_of(workload)).collect();
    let mut different = firsts.clone();
    different.sort_unstable();
    different.dedup();
    let alone = |&at: &usize| Workload { arrival_cycle: arrival(all[at]), ..all[at].clone() };
    let alone: Vec<Workload> = different.iter().map(alone).collect();
    let runs = alone.iter().map(|workload| Run { control: Control::Policy(Policy::LeftOver), workloads: vec![workload], options });
    let outcomes = run_all(machine, runs.collect(), watch)?.into_iter().collect::<Option<Vec<_>>>().ok_or(RunError::Interrupted)?;
    let by_first: BTreeMap<usize, &Outcome> = different.into_iter().zip(&outcomes).collect();
    Ok(firsts.iter().filter_map(|first| by_first.get(first).map(|&outcome| outcome.clone())).collect())
}

/// All runs, in parallel; none for those that were interrupted. Runs of measuring policies on the same workloads go together.
pub(super) fn run_all(machine: &dyn Machine, runs: Vec<Run<'_>>, watch: &dyn Watch) -> Result<Vec<Option<Outcome>>, RunError> {
    watch.planned(runs.len());
    let measures = |run: &Run<'_>| matches!(run.control, Control::Policy(policy) if policy.measures());
    let (mut together, mut groups): (Vec<usize>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for (at, run) in runs.iter().enumerate() {
        if measures(run) { together.push(at) } else { groups.push(vec![at]) }
    }
    // All runs of a call differ in control only, but for those alone, which do not measure.
    groups.insert(0, together);
    let outcomes: Vec<OnceLock<Result<Option<Outcome>, RunError>>> = runs.iter().map(|_| OnceLock::new()).collect();
    groups.par_iter().for_each(|group| {
        let members: Vec<Run<'_>> = group.iter().map(|&at| runs[at].clone()).collect();
        let done = |place: usize, outcome: Result<Outcome, RunError>| {
            let outcome = match outcome {
                Err(RunError::Interrupted) => Ok(None),
                outcome => {
                    watch.finished();
                    outcome.map(Some)
                }
            };
            // Told once per run.
            let _ = outcomes[group[place]].set(outcome);
        };
        machine.run_together(&members, &|cycles| watch.cycles(cycles), &done);
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or(Ok(None))).collect()
}

/// What runs for a policy other than [`Policy::Sequential`]; `alone` is what [`Policy::Null`] places.
pub fn control_of(policy: Policy, alone: &[u32]) -> Control {
    if policy == Policy::Null { Control::Fixed(alone.to_vec()) } else { Control::Policy(policy) }
}

/// All room for the kernel with the largest isolated IPC (the first of equals), none for the others.
pub fn only_fastest(isolated_ipc: &[f64], max_tbs: &[u32]) -> Vec<u32> {
    let mut fastest = 0;
    for (kernel, ipc) in isolated_ipc.iter().enumerate() {
        if *ipc > isolated_ipc[fastest] {
            fastest = kernel;
        }
    }
    max_tbs.iter().enumerate().map(|(kernel, &tbs)| if kernel == fastest { tbs } else { 0 }).collect()
}
