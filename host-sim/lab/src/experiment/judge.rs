//! Derives a comparison from outcomes: metrics, oracle, regrets. Nothing is run here, so outcomes
//! may have any source.

use super::compare::{control_of, only_fastest};
use super::comparison::{Best, Comparison, HalfWidths, Isolated, KernelResult, Missing, PerObjective, PolicyResult, SweepPoint};
use super::gpu_runner::{Decision, End, Options, Outcome};
use super::policy::{Control, Policy};
use super::rate::estimated_ipc;
use super::sequential::Sequential;
use crate::intervals::{self, Estimated};
use crate::metrics::{self, Metrics};
use mias_hw_model::energy::EnergyReport;
use std::collections::BTreeMap;

/// Inputs of a judgment: outcomes and isolated results.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// Isolated IPC of each kernel, in kernel order.
    pub isolated_ipc: &'a [Estimated],
    /// Time of each kernel alone from its first TB to its end, where known
    /// ([`super::placement_latency::PlacementTimes::takes`]).
    pub takes: &'a [Option<u64>],
    /// Sequential execution of the kernels.
    pub sequential: Sequential,
    /// Maximum number of TBs per SM of each kernel.
    pub max_tbs: &'a [u32],
    /// All configurations, in lexicographic order; those without an outcome are reported missing.
    pub sweep: Vec<Vec<u32>>,
    /// Policies in the order of results.
    pub policies: &'a [Policy],
    /// Outcomes by control.
    pub outcomes: &'a BTreeMap<Control, Outcome>,
    /// Options of all runs.
    pub options: Options,
}

/// Judges the available outcomes; policies and configurations without an outcome are listed as
/// missing.
pub fn judge(material: Material<'_>) -> Comparison {
    let Material { isolated_ipc: alone_ipc, takes, sequential, max_tbs, sweep: sweep_configs, policies, outcomes, options } = material;
    let isolated_ipc: &[f64] = &alone_ipc.iter().map(|ipc| ipc.value).collect::<Vec<f64>>();
    let alone = only_fastest(isolated_ipc, max_tbs);
    let ipcs_of =
        |outcome: &Outcome| (0..isolated_ipc.len()).map(|kernel| estimated_ipc(outcome, kernel, options)).collect::<Vec<Estimated>>();
    let judge = |outcome: &Outcome| {
        let ipcs: Vec<f64> = ipcs_of(outcome).iter().map(|ipc| ipc.value).collect();
        (Metrics::of(&ipcs, isolated_ipc), ipcs)
    };
    // Half-widths, unless all was simulated in full.
    let uncertain = |outcome: &Outcome| {
        let ipcs = ipcs_of(outcome);
        let exact = ipcs.iter().chain(alone_ipc).all(|ipc| ipc.half_width <= 0.0) && outcome.estimate.is_none();
        (!exact).then(|| intervals::metrics(&ipcs, alone_ipc))
    };
    let of_config = |config: Vec<u32>| {
        let outcome = outcomes.get(&Control::Fixed(config.clone())).ok_or_else(|| config.clone())?;
        Ok(SweepPoint { config, metrics: judge(outcome).0, half_widths: uncertain(outcome) })
    };
    let mut missing = Missing::default();
    let mut sweep: Vec<SweepPoint> = Vec::new();
    for config in sweep_configs {
        match of_config(config) {
            Ok(point) => sweep.push(point),
            Err(config) => missing.configs.push(config),
        }
    }
    let oracle = if missing.configs.is_empty() {
        PerObjective { s: best(&sweep, |m| m.speedup), stp: best(&sweep, |m| m.stp) }
    } else {
        PerObjective::default()
    };
    let regret = |metrics: Option<Metrics>| PerObjective {
        s: metrics::regret(metrics.and_then(|m| m.speedup), oracle.s.as_ref().map(|best| best.value)),
        stp: metrics::regret(metrics.and_then(|m| m.stp), oracle.stp.as_ref().map(|best| best.value)),
    };

    let regret_width = |metrics: Metrics, half_widths: Option<Metrics>| {
        let against = |of: fn(&Metrics) -> Option<f64>, best: &Option<Best>| {
            let best = best.as_ref().map(|best| Estimated { value: best.value, half_width: best.half_width })?;
            intervals::regret(estimated(metrics, half_widths, of)?, best)
        };
        PerObjective { s: against(|m| m.speedup, &oracle.s), stp: against(|m| m.stp, &oracle.stp) }
    };

    let mut results = Vec::new();
    for &policy in policies {
        if policy == Policy::Sequential {
            let best = PerObjective { s: oracle.s.as_ref().map(|best| best.value), stp: oracle.stp.as_ref().map(|best| best.value) };
            results.push(sequential.result(isolated_ipc, best, options));
            continue;
        }
        let Some(outcome) = outcomes.get(&control_of(policy, &alone)) else {
            missing.policies.push(policy);
            continue;
        };
        let (metrics, ipcs) = judge(outcome);
        let too_late = outcome.unsettled && policy.measures() && isolated_ipc.len() > 1 && options.end != End::Done;
        let config = outcome.config().filter(|_| !too_late).map(<[u32]>::to_vec);
        // Only the last decision can be pending; an earlier one concerned other kernels.
        let pending = too_late && outcome.decision_time.is_some_and(|time| time.beyond_end_cycles > 0);
        let late_config = outcome.decision.as_ref().filter(|_| pending).and_then(Decision::config).map(<[u32]>::to_vec);
        let chosen = config.as_ref().or(late_config.as_ref()).and_then(|config| sweep.iter().find(|point| point.config == *config));
        let normalized = |kernel: usize| metrics::normalized(&ipcs[kernel..=kernel], &isolated_ipc[kernel..=kernel]).map(|n| n[0]);
        let latency = |kernel: usize| outcome.room.get(kernel).map(|room| room.judged(takes.get(kernel).copied().flatten()));
        let thrown_away = |kernel: usize| {
            let launch = outcome.launches.get(kernel).filter(|launch| launch.thrown_away.warp_insts > 0)?;
            metrics::ratio(launch.thrown_away.warp_insts, launch.warp_insts)
        };
        let half_widths = uncertain(outcome).map(|half_widths| HalfWidths {
            ipc: ipcs_of(outcome).iter().map(|ipc| ipc.half_width).collect(),
            metrics: half_widths,
            decision_regret: chosen.map(|point| regret_width(point.metrics, point.half_widths)).unwrap_or_default(),
            end_to_end_regret: regret_width(metrics, Some(half_widths)),
        });
        results.push(PolicyResult {
            half_widths,
            simulated_cycles: outcome.estimate.as_ref().map(|estimate| estimate.simulated_cycles),
            policy,
            placement: if too_late || config.is_some() { Vec::new() } else { outcome.placement.clone() },
            config,
            metrics,
            decision_regret: regret(chosen.map(|point| point.metrics)),
            end_to_end_regret: regret(Some(metrics)),
            transition_cycles: outcome.transition_cycles,
            in_place: Some(outcome.in_place),
            profile_cycles: outcome.profile_cycles,
            placement_cycles: outcome.decision_time.map(|time| time.placement_cycles),
            decision_cycles: outcome.decision_time.map(|time| time.cycles),
            makespan_cycles: if options.end == End::Done { Some(outcome.cycles) } else { None },
            kernels: ipcs
                .iter()
                .enumerate()
                .map(|(k, &ipc)| KernelResult { ipc, normalized_ipc: normalized(k), latency: latency(k), thrown_away: thrown_away(k) })
                .collect(),
            decision: outcome.decision.clone(),
            too_late,
            late_config,
            parted: outcome.parted.clone(),
            faults: outcome.faults,
            search: outcome.search.clone(),
            sm_states: outcome.sm_states,
            energy: outcome.energy.as_ref().map(EnergyReport::spent),
            cycles: outcome.cycles,
        });
    }
    let isolated = alone_ipc.iter().zip(max_tbs);
    let isolated = isolated.map(|(ipc, &max_tbs)| Isolated { ipc: ipc.value, half_width: ipc.half_width, max_tbs }).collect();
    Comparison { isolated, results, s_null: metrics::null_speedup(isolated_ipc), sweep, oracle, missing }
}

fn best(sweep: &[SweepPoint], objective: fn(&Metrics) -> Option<f64>) -> Option<Best> {
    let mut best: Option<(&SweepPoint, Estimated)> = None;
    for point in sweep {
        let Some(value) = estimated(point.metrics, point.half_widths, objective) else { continue };
        if best.is_none_or(|(_, best)| value.value > best.value) {
            best = Some((point, value));
        }
    }
    let (point, Estimated { value, half_width }) = best?;
    let others = sweep.iter().filter(|other| other.config != point.config);
    let rivals = others.filter_map(|other| Some((estimated(other.metrics, other.half_widths, objective)?, other.half_widths.is_some())));
    // Among exact ties the first is the best.
    let rivals = rivals.filter(|(other, uncertain)| *uncertain && !other.is_apart_from(Estimated { value, half_width })).count();
    Some(Best { config: point.config.clone(), value, half_width, rivals })
}

/// Combines a metric with its interval.
fn estimated(metrics: Metrics, half_widths: Option<Metrics>, of: fn(&Metrics) -> Option<f64>) -> Option<Estimated> {
    let half_width = half_widths.and_then(|half_widths| of(&half_widths)).unwrap_or(0.0);
    Some(Estimated { value: of(&metrics)?, half_width })
}
