//! From outcomes to a comparison: metrics, oracle, regrets. Nothing is run here, so that outcomes may come from anywhere.

use super::compare::{
    Best, Comparison, Isolated, KernelResult, Missing, PerObjective, PolicyResult, SweepPoint, control_of, ipc, only_fastest,
};
use super::machine::{Decision, End, Options, Outcome};
use super::policy::{Control, Policy};
use super::sequential::Sequential;
use crate::metrics::{self, Metrics};
use std::collections::BTreeMap;

/// What there is to judge.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// Isolated IPC of each kernel, in kernel order.
    pub isolated_ipc: &'a [f64],
    /// The kernels one after the other.
    pub sequential: Sequential,
    /// Most TBs per SM of each.
    pub max_tbs: &'a [u32],
    /// All configurations, in lexicographic order; those without an outcome are reported missing.
    pub sweep: Vec<Vec<u32>>,
    /// In the order of results.
    pub policies: &'a [Policy],
    /// By what ran.
    pub outcomes: &'a BTreeMap<Control, Outcome>,
    /// Of all runs.
    pub options: Options,
}

/// Judges what there is; policies and configurations without an outcome are listed as missing.
pub fn judge(material: Material<'_>) -> Comparison {
    let Material { isolated_ipc, sequential, max_tbs, sweep: sweep_configs, policies, outcomes, options } = material;
    let alone = only_fastest(isolated_ipc, max_tbs);
    let judge = |outcome: &Outcome| {
        let ipcs: Vec<f64> = (0..isolated_ipc.len()).map(|kernel| ipc(outcome, kernel, options)).collect();
        (Metrics::of(&ipcs, isolated_ipc), ipcs)
    };
    let of_config = |config: &[u32]| outcomes.get(&Control::Fixed(config.to_vec())).map(|outcome| judge(outcome).0);
    let mut missing = Missing::default();
    let mut sweep: Vec<SweepPoint> = Vec::new();
    for config in sweep_configs {
        match of_config(&config) {
            Some(metrics) => sweep.push(SweepPoint { config, metrics }),
            None => missing.configs.push(config),
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
        // The decision that is not over yet is the last one; an earlier one was of other kernels.
        let pending = too_late && outcome.decision_time.is_some_and(|time| time.beyond_end_cycles > 0);
        let late_config = outcome.decision.as_ref().filter(|_| pending).and_then(Decision::config).map(<[u32]>::to_vec);
        let chosen = config.as_ref().or(late_config.as_ref()).and_then(|config| sweep.iter().find(|point| point.config == *config));
        let normalized = |kernel: usize| metrics::normalized(&ipcs[kernel..=kernel], &isolated_ipc[kernel..=kernel]).map(|n| n[0]);
        results.push(PolicyResult {
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
            kernels: ipcs.iter().enumerate().map(|(k, &ipc)| KernelResult { ipc, normalized_ipc: normalized(k) }).collect(),
            decision: outcome.decision.clone(),
            too_late,
            late_config,
            parted: outcome.parted.clone(),
        });
    }
    let isolated = isolated_ipc.iter().zip(max_tbs).map(|(&ipc, &max_tbs)| Isolated { ipc, max_tbs }).collect();
    Comparison { isolated, results, s_null: metrics::null_speedup(isolated_ipc), sweep, oracle, missing }
}

fn best(sweep: &[SweepPoint], objective: impl Fn(&Metrics) -> Option<f64>) -> Option<Best> {
    let mut best: Option<Best> = None;
    for point in sweep {
        let Some(value) = objective(&point.metrics) else { continue };
        if best.as_ref().is_none_or(|b| value > b.value) {
            best = Some(Best { config: point.config.clone(), value });
        }
    }
    best
}
