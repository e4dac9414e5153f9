//! `compare`: every policy on one set of kernels, against isolated runs and against the best configuration there is.
//!
//! All runs cover the same window. The oracle is the best of a sweep: one static run of each maximal configuration with TBs
//! of at least two kernels (sources.md D6). A policy that ends with one configuration on all SMs is judged twice:
//! decision regret compares a static run of its choice with the oracle's, end-to-end regret its own run, which pays for
//! profiling and transition.

use super::gpu_runner::{Decision, End, GpuRunner, InPlace, Options, Outcome, Placement, Run, RunError, SearchFound};
use super::judge::{Material, judge};
use super::placement_latency::{Latency, PlacementTimes};
use super::policy::{Control, Policy};
use super::rate::{estimated_ipc, ipc};
use super::sequential::sequential;
use super::workload::Workload;
use crate::gpus::fields::Field;
use crate::intervals::Estimated;
use crate::metrics::Metrics;
use mias_hw_model::energy::Spent;
use mias_hw_model::gpu::SmStateCycles;
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
    /// How long it waited for its room; none where nobody is preempted and nobody is before others.
    pub latency: Option<Latency>,
    /// Share of its warp instructions that came to nothing, since their TBs were flushed, 0..=1; none where nothing was thrown away.
    pub thrown_away: Option<f64>,
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
    /// Bits of the faults that the register block had raised by the end ([`Outcome::faults`]).
    pub faults: u32,
    /// What a search for SMs found; none if the policy searches for none.
    pub search: Option<SearchFound>,
    /// What SMs were, and for how long; none if every SM was active all the time.
    pub sm_states: Option<SmStateCycles>,
    /// Energy of the run; none if the machine has no coefficients.
    pub energy: Option<Spent>,
    /// Core cycles that it is of.
    pub cycles: u64,
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
    // The machine as it is first, then those of mechanisms.
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

/// What runs for a policy, for which the kernels run alone where it depends on that.
///
/// # Errors
/// The first [`RunError`] in the order of runs.
pub fn ran(runner: &dyn GpuRunner, all: &[&Workload], policy: Policy, options: Options, watch: &dyn Watch) -> Result<Ran, RunError> {
    let max_tbs = all.iter().map(|workload| runner.max_tbs(workload)).collect::<Result<Vec<u32>, _>>()?;
    let isolated = if policy.waits_for_alone() { isolated_runs(runner, all, options, watch)? } else { Vec::new() };
    Ok(Alone { isolated: isolated.iter().collect(), max_tbs: &max_tbs, options }.ran(policy))
}

/// What each kernel [takes](PlacementTimes::takes) alone, for whose deadlines kernels with a limit run alone; none for others.
///
/// # Errors
/// The first [`RunError`] in the order of runs.
pub fn takes(runner: &dyn GpuRunner, all: &[&Workload], options: Options, watch: &dyn Watch) -> Result<Vec<Option<u64>>, RunError> {
    let limited: Vec<&Workload> = all.iter().copied().filter(|workload| workload.latency_limit != 0).collect();
    let mut isolated = isolated_runs(runner, &limited, options, watch)?.into_iter();
    let of = |workload: &&Workload| if workload.latency_limit == 0 { None } else { PlacementTimes::takes(&isolated.next()?) };
    Ok(all.iter().map(of).collect())
}

/// All maximal configurations of the kernels that quotas are of, with 0 for the others, in lexicographic order; none where these are not several.
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

/// One run per different kernel, alone; equal kernels share it. In a window a kernel arrives when it does in the shared run,
/// so that both count over the same cycles; until done its own time counts, and it arrives at cycle 0.
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

/// A run, and the machine that it is on.
type OnMachine<'a> = (&'a dyn GpuRunner, Run<'a>);

/// All runs, in parallel; none for those that were interrupted. Runs of measuring policies on one machine and the same workloads go together.
pub(super) fn run_all(runs: Vec<OnMachine<'_>>, watch: &dyn Watch) -> Result<Vec<Option<Outcome>>, RunError> {
    watch.planned(runs.len());
    let measures = |run: &Run<'_>| matches!(run.control, Control::Policy(policy) if policy.measures());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, (runner, run)) in runs.iter().enumerate() {
        // All runs of a call on one machine differ in control only, but for those alone, which do not measure.
        let beside = |group: &&mut Vec<usize>| {
            let (other, first) = &runs[group[0]];
            measures(first) && std::ptr::addr_eq(*other, *runner)
        };
        match groups.iter_mut().find(beside).filter(|_| measures(run)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    // Those that go together take longest.
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
            // Told once per run.
            let _ = outcomes[group[place]].set(outcome);
        };
        runs[group[0]].0.run_together(&members, &|cycles| watch.cycles(cycles), &done);
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or(Ok(None))).collect()
}

/// What runs for a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What decides: without mechanisms, and no policy that waits for others' results.
    pub control: Control,
    /// Fields of the machine that are other than in its file.
    pub fields: Vec<Field>,
}

impl Ran {
    /// A configuration throughout.
    pub fn of_config(config: Vec<u32>) -> Self {
        Ran { control: Control::Fixed(config), fields: Vec::new() }
    }
}

/// What is known of kernels that have run alone.
#[derive(Clone, Debug)]
pub struct Alone<'a> {
    /// Their runs; none where no policy asks for them.
    pub isolated: Vec<&'a Outcome>,
    /// Most TBs per SM of each.
    pub max_tbs: &'a [u32],
    /// Of the runs.
    pub options: Options,
}

impl Alone<'_> {
    /// What runs for a policy other than [`Policy::Sequential`].
    pub fn ran(&self, policy: Policy) -> Ran {
        // Alone nobody is held back for others' sake.
        let composed = policy.composed().filter(|_| self.max_tbs.len() != 1);
        let fields = composed.map(|composed| composed.fields_of(&self.isolated)).unwrap_or_default();
        let control = match policy {
            Policy::Null | Policy::Static(_) => self.control_of(policy),
            _ => Control::Policy(policy.base()),
        };
        Ran { control, fields }
    }

    /// By what the outcome of its run is known.
    pub fn control_of(&self, policy: Policy) -> Control {
        let isolated: Vec<f64> = self.isolated.iter().map(|outcome| ipc(outcome, 0, self.options)).collect();
        control_of(policy, &only_fastest(&isolated, self.max_tbs))
    }
}

/// By what the outcome of the run of a policy other than [`Policy::Sequential`] is known; `alone` is what [`Policy::Null`] places.
pub fn control_of(policy: Policy, alone: &[u32]) -> Control {
    match policy {
        Policy::Null => Control::Fixed(alone.to_vec()),
        Policy::Static(config) => Control::Fixed(config.tbs().to_vec()),
        _ => Control::Policy(policy),
    }
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
