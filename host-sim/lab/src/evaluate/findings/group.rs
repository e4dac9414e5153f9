//! From the runs of a folder to results: judged as `mias compare` judges ([`judge`]), and what only many groups together can say.

use super::half_widths::HalfWidths;
use super::memory::{MemoryAsked, MemoryResult, SeriesResult};
use super::plan::Plan;
use super::record::Kept;
use super::requests::{self, RequestsResult};
use super::results::{
    AloneResult, ConfigurationResult, Evaluation, GroupResult, MetricValues, Objectives, OracleResult, PlanNote, PolicyResult, Ranking,
    SCHEMA_VERSION, StudyResult,
};
use super::statistics::{Concordance, spearman};
use super::store::{Note, Store, StoreError};
use super::study::{GroupPlan, Origin, Studies, Study};
use super::summary;
use crate::choice::Choice;
use crate::experiment::compare::{self, Alone, PerObjective, Ran, control_of, estimated_ipc, ipc, only_fastest};
use crate::experiment::judge::{Material, judge};
use crate::experiment::machine::{Decision, End, Options, Outcome};
use crate::experiment::policy::{Control, IpcUnit, Latency, Policy};
use crate::experiment::recorded::name_of;
use crate::experiment::room::Room;
use crate::experiment::sequential::sequential;
use crate::fingerprint;
use crate::intervals::Estimated;
use crate::metrics::{Metrics, ratio};
use mias_hw_model::sm::IssueClass;
use std::collections::BTreeMap;

/// Nanojoules per joule.
const NJ_PER_J: f64 = 1e9;

/// The runs of a folder, loaded once.
#[derive(Debug, Default)]
pub struct Runs(BTreeMap<String, Kept>);

impl Runs {
    /// Those of `studies` that are in `store`.
    pub fn load(studies: &Studies<'_>, store: &Store) -> Self {
        Runs::of(studies, store, studies.jobs.keys())
    }

    /// Those of them that have these keys.
    pub fn of<'k>(studies: &Studies<'_>, store: &Store, keys: impl Iterator<Item = &'k String>) -> Self {
        Runs(keys.filter_map(|key| Some((key.clone(), store.load(&studies.jobs.get(key)?.identity)?))).collect())
    }

    /// Whether the run is among them.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    fn get(&self, key: &str) -> Result<&Kept, StoreError> {
        self.0.get(key).ok_or_else(|| StoreError(format!("the run {key} has gone from the folder; give the same command again")))
    }

    /// What runs for a policy that waits for kernels alone, and by what its outcome is known; none if a run is missing.
    pub fn ran(&self, study: &Study<'_>, group: &GroupPlan, policy: Policy) -> Option<(Control, Ran)> {
        let isolated = group.alone.iter().map(|key| Some(self.get(key).ok()?.outcome())).collect::<Option<Vec<Outcome>>>()?;
        let alone = Alone { isolated: isolated.iter().collect(), max_tbs: &group.max_tbs, options: study.setting.options };
        Some((alone.control_of(policy), alone.ran(policy)))
    }

    fn isolated(&self, study: &Study<'_>, group: &GroupPlan) -> Result<Vec<Estimated>, StoreError> {
        group.alone.iter().map(|key| Ok(estimated_ipc(&self.get(key)?.outcome(), 0, study.setting.options))).collect()
    }

    /// What a control gave in a group.
    fn outcome(&self, study: &Study<'_>, group: &GroupPlan, origin: &Origin) -> Result<Kept, StoreError> {
        let kept = self.get(&origin.key)?;
        let derived = || kept.with_idle_kernels(group.names.len(), group.max_tbs[0], study.setting.gpu.sm.count);
        Ok(if origin.derived { derived() } else { kept.clone() })
    }
}

/// All results of a plan.
///
/// # Errors
/// [`StoreError`] if a run is missing.
pub fn findings(plan: &Plan, studies: &Studies<'_>, runs: &Runs) -> Result<Evaluation, StoreError> {
    let mut results = studies.all.iter().map(|study| self::study(study, runs)).collect::<Result<Vec<_>, _>>()?;
    compare_orders(&mut results);
    for result in &mut results {
        result.summary = summary::rows(&result.groups, result.arrive > 0);
    }
    let note = Note::of(plan);
    Ok(Evaluation {
        schema_version: SCHEMA_VERSION,
        model: note.model,
        plan: PlanNote { name: plan.name.clone(), description: plan.description.clone(), hash: note.plan_hash },
        studies: results,
    })
}

fn study(study: &Study<'_>, runs: &Runs) -> Result<StudyResult, StoreError> {
    let (experiment, setting) = (study.experiment, study.setting);
    let options = setting.options;
    let mut kernels: Vec<AloneResult> = Vec::new();
    for group in &study.groups {
        for (kernel, key) in group.alone.iter().enumerate() {
            if !kernels.iter().any(|known| known.run == *key) {
                let mut row = alone(key, group.max_tbs[kernel], runs.get(key)?, options, &group.names[kernel], group.hash(kernel));
                // Until done a kernel alone arrives at 0.
                row.arrival_cycle = if options.end == End::Done { 0 } else { group.arrivals()[kernel] };
                (row.memory, row.series) = what_it_met(study, runs.get(key)?);
                let counts = experiment.memory && group.names.len() == 1;
                row.asks = counts.then(|| MemoryAsked::of(group.trace(kernel), setting.gpu.l1.line_bytes));
                kernels.push(row);
            }
        }
    }
    for group in study.groups.iter().filter(|group| experiment.scalability && group.names.len() == 1) {
        let curve = scalability(group, runs, options)?;
        kernels.iter_mut().filter(|row| row.run == group.alone[0]).for_each(|row| row.scalability.clone_from(&curve));
    }
    let place = |kernel: &AloneResult| experiment.kernels.iter().position(|(word, request)| request.name(word) == kernel.name);
    kernels.sort_by_key(|kernel| (place(kernel), kernel.arrival_cycle));
    Ok(StudyResult {
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        setting: setting.labels.clone(),
        gpu: setting.sharing.name.clone(),
        gpu_hash: fingerprint::gpu(&setting.sharing.gpu),
        cycles: if let End::Cycles(cycles) = options.end { Some(cycles) } else { None },
        profile_cycles: options.profile_cycles,
        transition: options.transition.name(),
        latency: options.latency.name(),
        ipc_unit: options.ipc.name(),
        relaunch: options.relaunch,
        share_memory: options.share_memory,
        warm_l2: options.warm_l2,
        precision: options.precision.map(|precision| precision.to_string()),
        arrive: setting.arrive,
        requests: requests(study, runs)?,
        kernels,
        groups: study.groups.iter().map(|group| self::group(study, group, runs)).collect::<Result<_, _>>()?,
        summary: Vec::new(),
    })
}

/// What requests for room came to, if there were any: of every kernel, and over all.
fn requests(study: &Study<'_>, runs: &Runs) -> Result<Vec<RequestsResult>, StoreError> {
    let mut rows = Vec::new();
    for group in &study.groups {
        for origin in group.runs.values() {
            rows.extend(requests::of(name_of(&group.names[0]), &runs.get(&origin.key)?.requested));
        }
    }
    let all = requests::over_all(&rows);
    rows.extend(all);
    Ok(rows)
}

fn alone(key: &str, max_tbs: u32, kept: &Kept, options: Options, name: &str, trace_hash: &str) -> AloneResult {
    let mut curve = Vec::new();
    let mut before = (0, 0);
    for sample in &kept.samples {
        let (warp, thread) = sample.insts.first().copied().unwrap_or_default();
        let insts = if options.ipc == IpcUnit::Warp { warp } else { thread };
        curve.push((sample.cycle, ratio(insts - before.1, sample.cycle - before.0).unwrap_or_default()));
        before = (sample.cycle, insts);
    }
    let known = estimated_ipc(&kept.outcome(), 0, options);
    AloneResult {
        name: name_of(name).to_owned(),
        trace_hash: trace_hash.to_owned(),
        arrival_cycle: 0,
        run: key.to_owned(),
        max_tbs,
        ipc: known.value,
        ipc_half_width: kept.estimate.is_some().then_some(known.half_width),
        simulated_cycles: simulated_cycles(kept),
        cycles: kept.cycles,
        issue_slots: issue_slots(kept),
        energy_joules: joules(kept),
        curve,
        scalability: Vec::new(),
        memory: None,
        asks: None,
        series: None,
    }
}

/// What a run met in the memory pipeline, and its series, as far as the experiment asks for them.
fn what_it_met(study: &Study<'_>, kept: &Kept) -> (Option<MemoryResult>, Option<SeriesResult>) {
    let memory = study.experiment.memory.then(|| MemoryResult::of(kept));
    (memory, study.setting.options.sample_cycles.map(|cycles| SeriesResult::of(kept, cycles)))
}

/// IPC of a kernel alone by its TBs per SM.
fn scalability(group: &GroupPlan, runs: &Runs, options: Options) -> Result<Vec<(u32, f64)>, StoreError> {
    let key = |tbs: u32| group.runs.get(&Control::Fixed(vec![tbs])).map_or(&group.alone[0], |origin| &origin.key);
    (1..=group.max_tbs[0]).map(|tbs| Ok((tbs, ipc(&runs.get(key(tbs))?.outcome(), 0, options)))).collect()
}

fn simulated_cycles(kept: &Kept) -> Option<u64> {
    kept.estimate.as_ref().map(|estimate| estimate.simulated_cycles)
}

fn group(study: &Study<'_>, group: &GroupPlan, runs: &Runs) -> Result<GroupResult, StoreError> {
    let options = study.setting.options;
    let isolated = &runs.isolated(study, group)?;
    let isolated_ipc: Vec<f64> = isolated.iter().map(|ipc| ipc.value).collect();
    let mut kept: BTreeMap<Control, (Origin, Kept)> = BTreeMap::new();
    for (control, origin) in &group.runs {
        kept.insert(control.clone(), (origin.clone(), runs.outcome(study, group, origin)?));
    }
    let outcomes: BTreeMap<Control, Outcome> = kept.iter().map(|(control, (_, kept))| (control.clone(), kept.outcome())).collect();
    let policies = &study.experiment.policies;
    let sweep = group.sweep.clone();
    let alone = group.alone.iter().map(|key| runs.get(key)).collect::<Result<Vec<&Kept>, _>>()?;
    let one_by_one = sequential(&alone.iter().map(|kept| kept.outcome()).collect::<Vec<_>>(), &group.arrivals(), options);
    let sequential_cycles = one_by_one.makespan_cycles;
    let max_tbs = &group.max_tbs;
    let takes: Vec<Option<u64>> = alone.iter().map(|kept| Room::takes(&kept.outcome())).collect();
    let material =
        Material { isolated_ipc: isolated, takes: &takes, sequential: one_by_one, max_tbs, sweep, policies, outcomes: &outcomes, options };
    let comparison = judge(material);

    let ipcs = |outcome: &Outcome| (0..group.names.len()).map(|kernel| ipc(outcome, kernel, options)).collect::<Vec<f64>>();
    let mut configurations = Vec::new();
    for point in &comparison.sweep {
        let control = Control::Fixed(point.config.clone());
        if let (Some((origin, kept)), Some(outcome)) = (kept.get(&control), outcomes.get(&control)) {
            let (config, run) = (point.config.clone(), origin.key.clone());
            configurations.push(ConfigurationResult {
                config,
                run,
                metrics: values(point.metrics),
                half_widths: point.half_widths.map(values),
                simulated_cycles: simulated_cycles(kept),
                ipc: ipcs(outcome),
                issue_slots: issue_slots(kept),
            });
        }
    }
    let fastest = only_fastest(&isolated_ipc, &group.max_tbs);
    let mut results = Vec::new();
    for result in &comparison.results {
        let of_runs = (result.policy == Policy::Sequential).then(|| in_turn(group, &alone, options));
        if let Some((origin, kept)) = of_runs.as_ref().or_else(|| kept.get(&control_of(result.policy, &fastest))) {
            let mut row = policy(result, origin, kept, &configurations, options);
            if of_runs.is_none() {
                (row.memory, row.series) = what_it_met(study, kept);
            }
            row.makespan_speedup_sequential = sequential_cycles.zip(row.makespan_cycles).and_then(|(sum, own)| ratio(sum, own));
            results.push(row);
        }
    }
    compare_to_left_over(&mut results);
    let oracle = |best: &Option<compare::Best>| {
        let best = best.as_ref()?;
        let half_width = (best.half_width > 0.0).then_some(best.half_width);
        Some(OracleResult { config: best.config.clone(), value: best.value, half_width, rivals: best.rivals })
    };
    Ok(GroupResult {
        kernels: group.names.clone(),
        class: group.class.clone(),
        isolated_ipc,
        s_null: comparison.s_null,
        sequential_cycles,
        oracle: Objectives { s: oracle(&comparison.oracle.s), stp: oracle(&comparison.oracle.stp) },
        configurations,
        policies: results,
    })
}

/// The runs of kernels alone, one after the other, as one; in a window each for its part of the time.
fn in_turn(group: &GroupPlan, alone: &[&Kept], options: Options) -> (Origin, Kept) {
    let mut all = Kept::of(&Outcome::default());
    all.cycles = alone.iter().map(|kept| kept.cycles).sum();
    for kept in alone {
        all.issue_slots.iter_mut().zip(kept.issue_slots).for_each(|(sum, cycles)| *sum += cycles);
    }
    let part = if options.end == End::Done { 1 } else { alone.len().max(1) as u64 };
    all.energy_nj = alone.iter().map(|kept| kept.energy_nj).sum::<Option<u64>>().map(|sum| sum / part);
    (Origin { key: group.alone.join("+"), derived: true }, all)
}

fn policy(
    result: &compare::PolicyResult,
    origin: &Origin,
    kept: &Kept,
    configurations: &[ConfigurationResult],
    options: Options,
) -> PolicyResult {
    let objectives = |regret: PerObjective<Option<f64>>| Objectives { s: regret.s, stp: regret.stp };
    // A run that decides nothing is the same whatever time decisions take ([`super::record::canonical`]): it took none for them.
    let none_taken = (options.latency != Latency::Off).then_some(0);
    let in_run = kept.decision_time.map(|time| time.in_run_cycles()).or(none_taken);
    let placing = kept.decision_time.map(|time| time.placement_cycles).or(none_taken);
    PolicyResult {
        policy: result.policy.name(),
        run: origin.key.clone(),
        derived: origin.derived,
        config: result.config.clone(),
        placement: result.placement.clone(),
        metrics: values(result.metrics),
        ipc: result.kernels.iter().map(|kernel| kernel.ipc).collect(),
        normalized_ipc: result.kernels.iter().map(|kernel| kernel.normalized_ipc).collect(),
        latency: result.kernels.iter().filter_map(|kernel| kernel.latency).collect(),
        half_widths: result.half_widths.as_ref().map(HalfWidths::of),
        simulated_cycles: result.simulated_cycles,
        too_late: result.too_late,
        too_late_config: result.late_config.clone(),
        regret: objectives(result.decision_regret),
        end_to_end_regret: objectives(result.end_to_end_regret),
        transition_cycles: result.transition_cycles,
        in_place: result.in_place.map(|in_place| in_place.share),
        sms_short_of_it: result.in_place.map(|in_place| in_place.sms_short_of_it),
        profile_cycles: result.profile_cycles,
        overhead: ratio(
            result.transition_cycles + result.profile_cycles + placing.unwrap_or_default() + in_run.unwrap_or_default(),
            kept.cycles,
        ),
        thrown_away: options.transition.preempts().then(|| thrown_away(kept)).flatten(),
        placement_cycles: placing,
        decision_cycles: result.decision_cycles.or(none_taken),
        decision_cycles_in_run: in_run,
        decision_cycle: result.decision.as_ref().map(|decision| decision.cycle),
        ranking: result.decision.as_ref().map(|decision| ranking(decision, configurations)),
        issue_slots: issue_slots(kept),
        energy_joules: joules(kept),
        makespan_cycles: result.makespan_cycles,
        makespan_speedup_sequential: None,
        makespan_speedup_left_over: None,
        makespan_speedup_left_over_reversed: None,
        memory: None,
        series: None,
    }
}

/// Warp instructions that flushes threw away, over all that were issued.
fn thrown_away(kept: &Kept) -> Option<f64> {
    let flushed = kept.preemptions.iter().filter(|tb| tb.technique == Technique::Flush && !tb.refused);
    ratio(flushed.map(|tb| tb.warp_insts).sum(), kept.launches.iter().map(|launch| launch.warp_insts).sum())
}

/// How the decision's scores order the configurations, against static runs of them.
pub(super) fn ranking(decision: &Decision, configurations: &[ConfigurationResult]) -> Ranking {
    let scored = decision.profiled.iter().filter_map(|profiled| Some((profiled.config.clone(), profiled.score?)));
    let scores: Vec<(Vec<u32>, f64)> = scored.collect();
    let against = |objective: fn(&MetricValues) -> Option<f64>| {
        let found = |(config, score): &(Vec<u32>, f64)| {
            let point = configurations.iter().find(|point| point.config == *config)?;
            Some((*score, objective(&point.metrics)?))
        };
        let (scores, values): (Vec<f64>, Vec<f64>) = scores.iter().filter_map(found).unzip();
        (Concordance::of(&scores, &values), spearman(&scores, &values))
    };
    let (s, stp) = (against(|metrics| metrics.speedup), against(|metrics| metrics.stp));
    Ranking {
        kendall: Objectives { s: s.0.tau_b(), stp: stp.0.tau_b() },
        spearman: Objectives { s: s.1, stp: stp.1 },
        concordant: Objectives { s: s.0.concordant, stp: stp.0.concordant },
        discordant: Objectives { s: s.0.discordant, stp: stp.0.discordant },
        scores,
    }
}

fn values(metrics: Metrics) -> MetricValues {
    let Metrics { speedup, stp, antt, fairness } = metrics;
    MetricValues { speedup, stp, antt, fairness }
}

fn issue_slots(kept: &Kept) -> BTreeMap<&'static str, f64> {
    let all: u64 = kept.issue_slots.iter().sum();
    IssueClass::of(&kept.issue_slots)
        .map(|class| (class.name(), ratio(kept.issue_slots[class as usize], all).unwrap_or_default()))
        .collect()
}

fn joules(kept: &Kept) -> Option<f64> {
    kept.energy_nj.map(|energy| energy as f64 / NJ_PER_J)
}

/// The makespan of left-over among the results of a group.
fn left_over(policies: &[PolicyResult]) -> Option<u64> {
    policies.iter().find(|result| result.policy == Policy::LeftOver.name()).and_then(|result| result.makespan_cycles)
}

fn compare_to_left_over(policies: &mut [PolicyResult]) {
    let same = left_over(policies);
    for row in policies {
        row.makespan_speedup_left_over = same.zip(row.makespan_cycles).and_then(|(left_over, own)| ratio(left_over, own));
    }
}

/// Finds, for every group, the same kernels launched the other way round, in a study of the same experiment that differs in nothing else.
fn compare_orders(results: &mut [StudyResult]) {
    let rest = |study: &StudyResult| {
        let setting: Vec<_> = study.setting.iter().filter(|(key, _)| key != "order").cloned().collect();
        (study.experiment.clone(), study.gpu_hash.clone(), setting)
    };
    let mut makespans = BTreeMap::new();
    for study in &*results {
        for group in &study.groups {
            makespans.insert((rest(study), group.kernels.clone()), left_over(&group.policies));
        }
    }
    for study in results {
        let of_study = rest(study);
        for group in &mut study.groups {
            let reversed: Vec<String> = group.kernels.iter().rev().map(|name| name_of(name).to_owned()).collect();
            let other = makespans.get(&(of_study.clone(), reversed)).copied().flatten();
            for row in &mut group.policies {
                row.makespan_speedup_left_over_reversed = other.zip(row.makespan_cycles).and_then(|(other, own)| ratio(other, own));
            }
        }
    }
}
