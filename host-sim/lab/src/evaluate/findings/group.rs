//! Results of shared runs: judged as in `mias compare` ([`judge`]), policy by policy and
//! configuration by configuration.

use super::quantities::{issue_slots, joules, simulated_cycles, thrown_away, values};
use super::ranking::ranking;
use super::runs::Runs;
use super::{orders, what_it_met};
use crate::evaluate::energy::EnergyResult;
use crate::evaluate::half_widths::HalfWidths;
use crate::evaluate::record::Kept;
use crate::evaluate::results::{ConfigurationResult, GroupResult, Objectives, OracleResult, PolicyResult};
use crate::evaluate::store::StoreError;
use crate::evaluate::study::{GroupPlan, Origin, Study};
use crate::experiment::compare::{control_of, only_fastest};
use crate::experiment::comparison::{self, PerObjective};
use crate::experiment::gpu_runner::{End, Options, Outcome};
use crate::experiment::judge::{Material, judge};
use crate::experiment::placement_latency::PlacementTimes;
use crate::experiment::policy::{Control, Latency, Policy};
use crate::experiment::rate::ipc;
use crate::experiment::sequential::sequential;
use crate::metrics::ratio;
use std::collections::BTreeMap;

/// Returns the results of a group of kernels.
pub(super) fn group(study: &Study<'_>, group: &GroupPlan, runs: &Runs) -> Result<GroupResult, StoreError> {
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
    let takes: Vec<Option<u64>> = alone.iter().map(|kept| PlacementTimes::takes(&kept.outcome())).collect();
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
                energy_joules: joules(kept),
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
            // In a window each kernel has its part of it, and the energy is that of one window.
            let parts = if of_runs.is_some() { parts(&alone, options) } else { 1 };
            row.energy = EnergyResult::of(kept, kept.cycles / parts, &study.setting.gpu, row.metrics.stp);
            row.makespan_speedup_sequential = sequential_cycles.zip(row.makespan_cycles).and_then(|(sum, own)| ratio(sum, own));
            results.push(row);
        }
    }
    orders::compare_to_left_over(&mut results);
    let oracle = |best: &Option<comparison::Best>| {
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

/// Combines isolated runs into one sequential run; in a window, each for its part of the time.
fn in_turn(group: &GroupPlan, alone: &[&Kept], options: Options) -> (Origin, Kept) {
    let mut all = Kept::of(&Outcome::default());
    all.cycles = alone.iter().map(|kept| kept.cycles).sum();
    for kept in alone {
        all.issue_slots.iter_mut().zip(kept.issue_slots).for_each(|(sum, cycles)| *sum += cycles);
    }
    let of = |energy: fn(&Kept) -> Option<u64>| {
        alone.iter().map(|kept| energy(kept)).sum::<Option<u64>>().map(|sum| sum / parts(alone, options))
    };
    all.energy_nj = of(|kept| kept.energy_nj);
    all.leakage_nj = of(|kept| kept.leakage_nj);
    all.clock_nj = of(|kept| kept.clock_nj);
    (Origin { key: group.alone.join("+"), derived: true }, all)
}

/// Returns the number of parts of sequential time: 1 if each kernel runs to its end, else one part
/// of the window per kernel.
fn parts(alone: &[&Kept], options: Options) -> u64 {
    if options.end == End::Done { 1 } else { alone.len().max(1) as u64 }
}

/// Returns the results of a policy.
fn policy(
    result: &comparison::PolicyResult,
    origin: &Origin,
    kept: &Kept,
    configurations: &[ConfigurationResult],
    options: Options,
) -> PolicyResult {
    let objectives = |regret: PerObjective<Option<f64>>| Objectives { s: regret.s, stp: regret.stp };
    // A run without decisions is stored with latency off ([`crate::evaluate::record::canonical`]),
    // so it took no time for them.
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
        energy: None,
        makespan_cycles: result.makespan_cycles,
        makespan_speedup_sequential: None,
        makespan_speedup_left_over: None,
        makespan_speedup_left_over_reversed: None,
        search: result.search.clone(),
        sm_states: result.sm_states,
        memory: None,
        series: None,
    }
}
