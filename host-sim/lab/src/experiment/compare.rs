//! `compare`: every policy on one set of kernels, against isolated runs and against the best static
//! configuration.
//!
//! All runs cover the same window. The oracle is the best configuration of a sweep: one static run
//! of each maximal configuration with TBs of at least two kernels (sources.md D6). A policy that
//! ends with one configuration on all SMs is judged twice. Decision regret compares a static run of
//! its choice with the oracle's. End-to-end regret compares its own run, including the cost of
//! profiling and transition.

use super::comparison::Comparison;
use super::gpu_runner::{End, GpuRunner, Options, Outcome, Run, RunError};
use super::judge::{Material, judge};
use super::placement_latency::PlacementTimes;
use super::policy::{Control, Policy};
use super::rate::{estimated_ipc, ipc};
use super::sequential::sequential;
use super::workload::Workload;
use crate::gpus::fields::Field;
use crate::intervals::Estimated;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Receiver of progress reports during a comparison.
pub trait Watch: Sync {
    /// Adds `runs` to the number of planned runs.
    fn planned(&self, runs: usize);
    /// Adds `cycles` to the number of cycles simulated, over all runs.
    fn cycles(&self, cycles: u64);
    /// Reports that a run has ended.
    fn finished(&self);
}

/// Compares `policies` on `workloads`. The result does not depend on the number of threads.
///
/// After an interruption of the GPU, finished runs count. The others are listed as missing.
///
/// # Errors
/// The first [`RunError`] in the order of runs. [`RunError::Interrupted`] only if not all isolated
/// runs had ended: without them there is nothing to compare with.
pub fn compare(
    runner: &dyn GpuRunner,
    workloads: &[Workload],
    policies: &[Policy],
    options: Options,
    watch: &dyn Watch,
) -> Result<Comparison, RunError> {
    let all: Vec<&Workload> = workloads.iter().collect();
    let max_tbs = all.iter().map(|workload| runner.max_tbs(workload)).collect::<Result<Vec<u32>, _>>()?;
    let sweep_configs = configurations(runner, &all, options)?;

    let isolated = isolated_runs(runner, &all, options, watch)?;
    let isolated_ipc: Vec<Estimated> = isolated.iter().map(|outcome| estimated_ipc(outcome, 0, options)).collect();
    let alone = Alone { isolated: isolated.iter().collect(), max_tbs: &max_tbs, options };

    let sweep = sweep_configs.iter().cloned().map(|config| (Control::Fixed(config.clone()), Ran::of_config(config)));
    let of_policies = policies.iter().filter(|&&policy| policy != Policy::Sequential);
    let of_policies = of_policies.map(|&policy| (alone.control_of(policy), alone.ran(policy)));
    let asked: BTreeMap<Control, Ran> = sweep.chain(of_policies).collect();
    // The unchanged GPU first, then the GPUs of mechanisms.
    let mut fields: Vec<&[Field]> = vec![&[]];
    for ran in asked.values() {
        if !fields.contains(&&ran.fields[..]) {
            fields.push(&ran.fields);
        }
    }
    let changed = fields[1..].iter().map(|fields| runner.changed(fields)).collect::<Result<Vec<_>, _>>()?;
    let runners: Vec<&dyn GpuRunner> = std::iter::once(runner).chain(changed.iter().map(AsRef::as_ref)).collect();
    let run = |ran: &Ran| {
        let of = fields.iter().position(|fields| **fields == ran.fields[..]).unwrap_or_default();
        (runners[of], Run { control: ran.control.clone(), workloads: all.clone(), options })
    };
    let outcomes = run_all(asked.values().map(run).collect(), watch)?;
    let outcomes: BTreeMap<Control, Outcome> =
        asked.keys().cloned().zip(outcomes).filter_map(|(control, outcome)| Some((control, outcome?))).collect();

    let arrivals: Vec<u64> = all.iter().map(|workload| workload.arrival_cycle).collect();
    let sequential = sequential(&isolated, &arrivals, options);
    let takes: Vec<Option<u64>> = isolated.iter().map(PlacementTimes::takes).collect();
    let (isolated_ipc, max_tbs, takes) = (&isolated_ipc, &max_tbs, &takes);
    Ok(judge(Material { isolated_ipc, takes, sequential, max_tbs, sweep: sweep_configs, policies, outcomes: &outcomes, options }))
}

/// Returns the run of a policy, after isolated runs if the policy depends on them.
///
/// # Errors
/// The first [`RunError`] in the order of runs.
pub fn ran(runner: &dyn GpuRunner, all: &[&Workload], policy: Policy, options: Options, watch: &dyn Watch) -> Result<Ran, RunError> {
    let max_tbs = all.iter().map(|workload| runner.max_tbs(workload)).collect::<Result<Vec<u32>, _>>()?;
    let isolated = if policy.waits_for_alone() { isolated_runs(runner, all, options, watch)? } else { Vec::new() };
    Ok(Alone { isolated: isolated.iter().collect(), max_tbs: &max_tbs, options }.ran(policy))
}

/// Returns the time that each kernel with a latency limit [takes](PlacementTimes::takes) alone;
/// `None` for others. Deadlines need it.
///
/// # Errors
/// The first [`RunError`] in the order of runs.
pub fn takes(runner: &dyn GpuRunner, all: &[&Workload], options: Options, watch: &dyn Watch) -> Result<Vec<Option<u64>>, RunError> {
    let limited: Vec<&Workload> = all.iter().copied().filter(|workload| workload.latency_limit != 0).collect();
    let mut isolated = isolated_runs(runner, &limited, options, watch)?.into_iter();
    let of = |workload: &&Workload| if workload.latency_limit == 0 { None } else { PlacementTimes::takes(&isolated.next()?) };
    Ok(all.iter().map(of).collect())
}

/// Returns all maximal configurations of the kernels with quotas, with 0 for the others, in
/// lexicographic order. It returns none for fewer than two such kernels.
///
/// # Errors
/// Those of [`GpuRunner::configurations`].
pub fn configurations(runner: &dyn GpuRunner, all: &[&Workload], options: Options) -> Result<Vec<Vec<u32>>, RunError> {
    let beside: Vec<bool> = all.iter().map(|workload| workload.is_beside_quotas(options.transition)).collect();
    let sharing: Vec<&Workload> = all.iter().zip(&beside).filter(|(_, beside)| !**beside).map(|(workload, _)| *workload).collect();
    if sharing.len() < 2 {
        return Ok(Vec::new());
    }
    let whole = |config: Vec<u32>| {
        let mut tbs = config.into_iter();
        beside.iter().map(|beside| if *beside { 0 } else { tbs.next().unwrap_or(0) }).collect()
    };
    Ok(runner.configurations(&sharing)?.into_iter().map(whole).collect())
}

/// Runs each different kernel alone; equal kernels share a run. In a window a kernel arrives as in
/// the shared run, so that both count over the same cycles. Until done, its own time counts, and it
/// arrives at cycle 0.
fn isolated_runs(runner: &dyn GpuRunner, all: &[&Workload], options: Options, watch: &dyn Watch) -> Result<Vec<Outcome>, RunError> {
    let arrival = |workload: &Workload| if options.end == End::Done { 0 } else { workload.arrival_cycle };
    let once = |workload: &Workload| workload.latency_limit != 0;
    let same = |a: &Workload, b: &Workload| a.hash == b.hash && a.copies == b.copies && arrival(a) == arrival(b) && once(a) == once(b);
    let first_of = |workload: &Workload| all.iter().position(|other| same(other, workload)).unwrap_or_default();
    let firsts: Vec<usize> = all.iter().map(|workload| first_of(workload)).collect();
    let mut different = firsts.clone();
    different.sort_unstable();
    different.dedup();
    let alone = |&at: &usize| all[at].alone(arrival(all[at]));
    let alone: Vec<Workload> = different.iter().map(alone).collect();
    let runs = alone.iter().map(|workload| Run { control: Control::Policy(Policy::LeftOver), workloads: vec![workload], options });
    let runs = runs.map(|run| (runner, run)).collect();
    let outcomes = run_all(runs, watch)?.into_iter().collect::<Option<Vec<_>>>().ok_or(RunError::Interrupted)?;
    let by_first: BTreeMap<usize, &Outcome> = different.into_iter().zip(&outcomes).collect();
    Ok(firsts.iter().filter_map(|first| by_first.get(first).map(|&outcome| outcome.clone())).collect())
}

/// A run and its GPU.
type OnGpu<'a> = (&'a dyn GpuRunner, Run<'a>);

/// Executes all runs in parallel; `None` for interrupted ones. Runs of measuring policies on one
/// GPU with the same workloads are grouped.
pub(super) fn run_all(runs: Vec<OnGpu<'_>>, watch: &dyn Watch) -> Result<Vec<Option<Outcome>>, RunError> {
    watch.planned(runs.len());
    let measures = |run: &Run<'_>| matches!(run.control, Control::Policy(policy) if policy.measures());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, (runner, run)) in runs.iter().enumerate() {
        // All runs of a call on one GPU differ in control only. Exceptions are isolated runs,
        // which do not measure.
        let beside = |group: &&mut Vec<usize>| {
            let (other, first) = &runs[group[0]];
            measures(first) && std::ptr::addr_eq(*other, *runner)
        };
        match groups.iter_mut().find(beside).filter(|_| measures(run)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    // The largest groups take longest, so they start first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let outcomes: Vec<OnceLock<Result<Option<Outcome>, RunError>>> = runs.iter().map(|_| OnceLock::new()).collect();
    groups.par_iter().for_each(|group| {
        let members: Vec<Run<'_>> = group.iter().map(|&at| runs[at].1.clone()).collect();
        let done = |place: usize, outcome: Result<Outcome, RunError>| {
            let outcome = match outcome {
                Err(RunError::Interrupted) => Ok(None),
                outcome => {
                    watch.finished();
                    outcome.map(Some)
                }
            };
            // Each run reports once, so the cell is empty.
            let _ = outcomes[group[place]].set(outcome);
        };
        runs[group[0]].0.run_together(&members, &|cycles| watch.cycles(cycles), &done);
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or(Ok(None))).collect()
}

/// Resolved run of a policy: control and GPU fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Control of the run, without mechanisms and without policies that depend on isolated runs.
    pub control: Control,
    /// Fields that differ from the GPU's file.
    pub fields: Vec<Field>,
}

impl Ran {
    /// Creates a run with one configuration throughout.
    pub fn of_config(config: Vec<u32>) -> Self {
        Ran { control: Control::Fixed(config), fields: Vec::new() }
    }
}

/// Facts about kernels from their isolated runs.
#[derive(Clone, Debug)]
pub struct Alone<'a> {
    /// Isolated runs of the kernels; empty if no policy needs them.
    pub isolated: Vec<&'a Outcome>,
    /// Maximum number of TBs per SM of each kernel.
    pub max_tbs: &'a [u32],
    /// Options of the runs.
    pub options: Options,
}

impl Alone<'_> {
    /// Returns the run of a policy other than [`Policy::Sequential`].
    pub fn ran(&self, policy: Policy) -> Ran {
        // A kernel alone competes with no other, so mechanisms do not apply.
        let composed = policy.composed().filter(|_| self.max_tbs.len() != 1);
        let fields = composed.map(|composed| composed.fields_of(&self.isolated)).unwrap_or_default();
        let control = match policy {
            Policy::Null | Policy::Static(_) => self.control_of(policy),
            _ => Control::Policy(policy.base()),
        };
        Ran { control, fields }
    }

    /// Returns the control under which the outcome of a policy's run is stored.
    pub fn control_of(&self, policy: Policy) -> Control {
        let isolated: Vec<f64> = self.isolated.iter().map(|outcome| ipc(outcome, 0, self.options)).collect();
        control_of(policy, &only_fastest(&isolated, self.max_tbs))
    }
}

/// Returns the control under which the run of a policy other than [`Policy::Sequential`] is stored.
/// `alone` is the configuration of [`Policy::Null`].
pub fn control_of(policy: Policy, alone: &[u32]) -> Control {
    match policy {
        Policy::Null => Control::Fixed(alone.to_vec()),
        Policy::Static(config) => Control::Fixed(config.tbs().to_vec()),
        _ => Control::Policy(policy),
    }
}

/// Returns the configuration with all capacity for the kernel of the largest isolated IPC (the
/// first of equals).
pub fn only_fastest(isolated_ipc: &[f64], max_tbs: &[u32]) -> Vec<u32> {
    let mut fastest = 0;
    for (kernel, ipc) in isolated_ipc.iter().enumerate() {
        if *ipc > isolated_ipc[fastest] {
            fastest = kernel;
        }
    }
    max_tbs.iter().enumerate().map(|(kernel, &tbs)| if kernel == fastest { tbs } else { 0 }).collect()
}
