//! Means over the groups of a class, per policy: the thesis' figures 4.2 (means) and 4.4, and those
//! of every other quantity.

use super::half_widths;
use super::results::{GroupResult, Means, MetricValues, Objectives, PolicyResult, SummaryRow};
use super::statistics::{Concordance, arithmetic, geometric};
use std::collections::BTreeMap;

/// Name of the class of all groups.
pub const ALL: &str = "all";

/// Name of the reference that runs only the fastest kernel.
pub const S_NULL: &str = "s-null";

/// Name of the reference that runs the best configuration for S throughout.
pub const ORACLE_S: &str = "oracle-s";

/// Name of the reference that runs the best configuration for STP throughout.
pub const ORACLE_STP: &str = "oracle-stp";

/// Quantity of a policy's run: name and accessor.
type Quantity = (&'static str, fn(&PolicyResult) -> Option<f64>);

/// Metric of any run: name and accessor.
type Metric = (&'static str, fn(&MetricValues) -> Option<f64>);

/// Quantities with means, by their names in the documents. Those of decisions exclude decisions
/// that came too late.
pub const QUANTITIES: [Quantity; 21] = [
    ("speedup", |r| r.metrics.speedup),
    ("stp", |r| r.metrics.stp),
    ("antt", |r| r.metrics.antt),
    ("fairness", |r| r.metrics.fairness),
    ("regret_s", |r| in_effect(r)?.regret.s),
    ("regret_stp", |r| in_effect(r)?.regret.stp),
    ("end_to_end_regret_s", |r| r.end_to_end_regret.s),
    ("end_to_end_regret_stp", |r| r.end_to_end_regret.stp),
    ("overhead", |r| r.overhead),
    ("transition_cycles", |r| Some(r.transition_cycles as f64)),
    ("in_place", |r| r.in_place),
    ("sms_short_of_it", |r| r.sms_short_of_it.map(f64::from)),
    ("profile_cycles", |r| Some(r.profile_cycles as f64)),
    ("decision_cycles", |r| r.decision_cycles.map(|cycles| cycles as f64)),
    ("decision_cycles_in_run", |r| r.decision_cycles_in_run.map(|cycles| cycles as f64)),
    ("decision_cycle", |r| in_effect(r)?.decision_cycle.map(|cycle| cycle as f64)),
    ("kendall_s", |r| in_effect(r)?.ranking.as_ref()?.kendall.s),
    ("kendall_stp", |r| in_effect(r)?.ranking.as_ref()?.kendall.stp),
    ("makespan_speedup_sequential", |r| r.makespan_speedup_sequential),
    ("makespan_speedup_left_over", |r| r.makespan_speedup_left_over),
    ("makespan_speedup_left_over_reversed", |r| r.makespan_speedup_left_over_reversed),
];

/// Memory pipeline quantities, with means only if results have them.
const OF_MEMORY: [Quantity; 4] = [
    ("l1_miss_rate", |r| r.memory.as_ref()?.l1_miss_rate),
    ("fails_per_access", |r| r.memory.as_ref()?.fails_per_access),
    ("lsu_stall_share", |r| r.memory.as_ref()?.lsu_stall_share),
    ("alu_utilization", |r| r.memory.as_ref()?.alu_utilization),
];

/// Preemption quantities, with means only if results have them.
const OF_PREEMPTION: [Quantity; 1] = [("thrown_away", |r| r.thrown_away)];

/// Returns the names of all quantities that rows have means of.
pub fn quantities() -> impl Iterator<Item = &'static str> {
    QUANTITIES.iter().chain(&OF_MEMORY).chain(&OF_PREEMPTION).map(|(name, _)| *name)
}

/// Returns the run, unless its decision came too late.
fn in_effect(result: &PolicyResult) -> Option<&PolicyResult> {
    (!result.too_late).then_some(result)
}

/// Returns the rows of a study, in which a kernel may arrive `late`. Classes are in the thesis'
/// order, then all; in each, policies in the plan's order, then the references.
pub fn rows(groups: &[GroupResult], late: bool) -> Vec<SummaryRow> {
    let mut classes: Vec<&str> = Vec::new();
    for group in groups {
        if !classes.contains(&group.class.as_str()) {
            classes.push(&group.class);
        }
    }
    // Classes known to the thesis come first, in its order.
    let place = |class: &&str| (["CC", "MM", "MC"].iter().position(|known| known == class).unwrap_or(usize::MAX), (*class).to_owned());
    classes.sort_by_key(place);
    let mut rows = Vec::new();
    for class in classes.iter().copied().chain([ALL]) {
        let members: Vec<&GroupResult> = groups.iter().filter(|group| class == ALL || group.class == class).collect();
        let mut policies: Vec<&'static str> = Vec::new();
        for result in members.iter().flat_map(|group| &group.policies) {
            if !policies.contains(&result.policy) {
                policies.push(result.policy);
            }
        }
        rows.extend(policies.into_iter().map(|policy| of_policy(class, policy, &members, late)));
        rows.extend(references(class, &members));
    }
    rows
}

fn of_policy(class: &str, policy: &'static str, groups: &[&GroupResult], late: bool) -> SummaryRow {
    let found = groups.iter().filter_map(|group| Some((*group, group.policies.iter().find(|result| result.policy == policy)?)));
    let results: Vec<(&GroupResult, &PolicyResult)> = found.collect();
    let mean = |(name, of): &Quantity| {
        let known: Vec<(f64, Option<f64>)> =
            results.iter().filter_map(|(_, result)| Some((of(result)?, half_widths::of_quantity(name, result)))).collect();
        let (values, widths): (Vec<f64>, Vec<Option<f64>>) = known.into_iter().unzip();
        (*name, Means { half_width: mean_half_width(&widths), ..means(&values) })
    };
    let decided = || results.iter().filter_map(|(_, result)| in_effect(result));
    let chosen = |of: fn(&PolicyResult) -> Option<f64>| decided().filter(|result| of(result).is_some_and(|r| r <= 0.0)).count();
    let pairs = |of: fn(&super::results::Ranking) -> (u64, u64)| {
        let counts = decided().filter_map(|result| result.ranking.as_ref()).map(of);
        let count = |(concordant, discordant)| Concordance { concordant, discordant, ..Concordance::default() };
        counts.map(count).fold(Concordance::default(), Concordance::plus).gamma()
    };
    let metrics: Vec<MetricValues> = results.iter().map(|(_, result)| result.metrics).collect();
    let of_memory = OF_MEMORY.iter().chain(&OF_PREEMPTION).filter(|(_, of)| results.iter().any(|(_, result)| of(result).is_some()));
    let quantities = QUANTITIES.iter().chain(of_memory);
    let still = results.iter().flat_map(|(_, result)| &result.ipc).filter(|ipc| **ipc == 0.0).count();
    SummaryRow {
        kernels_without_progress: late.then_some(still),
        too_late: results.iter().filter(|(_, result)| result.too_late).count(),
        best_chosen: Objectives { s: chosen(|r| r.regret.s), stp: chosen(|r| r.regret.stp) },
        gamma: Objectives { s: pairs(|r| (r.concordant.s, r.discordant.s)), stp: pairs(|r| (r.concordant.stp, r.discordant.stp)) },
        ..row(class, policy, &metrics, quantities.map(mean).collect())
    }
}

/// Returns the references, which no policy decides: running only the fastest kernel, and the best
/// configurations.
fn references(class: &str, groups: &[&GroupResult]) -> Vec<SummaryRow> {
    let none = MetricValues { speedup: None, stp: None, antt: None, fairness: None };
    let null: Vec<MetricValues> = groups.iter().map(|group| MetricValues { speedup: group.s_null, ..none }).collect();
    let oracle = |of: fn(&GroupResult) -> Option<&[u32]>| {
        let best = |group: &&GroupResult| {
            let config = of(group)?;
            group.configurations.iter().find(|point| point.config == config).map(|point| point.metrics)
        };
        groups.iter().filter_map(best).collect::<Vec<MetricValues>>()
    };
    let (s, stp) = (oracle(|g| Some(&g.oracle.s.as_ref()?.config)), oracle(|g| Some(&g.oracle.stp.as_ref()?.config)));
    let rows = [(S_NULL, null), (ORACLE_S, s), (ORACLE_STP, stp)].into_iter().filter(|(_, metrics)| !metrics.is_empty());
    let of = |(name, metrics): (&str, Vec<MetricValues>)| {
        let quantities: [Metric; 4] = [("speedup", |m| m.speedup), ("stp", |m| m.stp), ("antt", |m| m.antt), ("fairness", |m| m.fairness)];
        let means: BTreeMap<_, _> =
            quantities.iter().map(|(name, of)| (*name, means(&metrics.iter().filter_map(of).collect::<Vec<_>>()))).collect();
        row(class, name, &metrics, means)
    };
    rows.map(of).collect()
}

fn row(class: &str, policy: &str, metrics: &[MetricValues], means: BTreeMap<&'static str, Means>) -> SummaryRow {
    let count = |holds: fn(&MetricValues) -> bool| metrics.iter().filter(|metrics| holds(metrics)).count();
    SummaryRow {
        class: class.to_owned(),
        groups: metrics.len(),
        policy: policy.to_owned(),
        means,
        most_speedup: metrics.iter().filter_map(|metrics| metrics.speedup).reduce(f64::max),
        below_one: count(|metrics| metrics.speedup.is_some_and(|s| s < 1.0)),
        not_worth_sharing: count(|metrics| metrics.stp.is_some_and(|stp| stp <= 1.0)),
        kernels_without_progress: None,
        too_late: 0,
        best_chosen: Objectives::default(),
        gamma: Objectives::default(),
    }
}

/// Returns the means of values.
pub fn means(values: &[f64]) -> Means {
    Means { count: values.len(), arithmetic: arithmetic(values), geometric: geometric(values), half_width: None }
}

/// Returns the half-width of a mean: the mean of all, for fully correlated errors; exact values
/// count as 0. `None` if all are exact.
fn mean_half_width(widths: &[Option<f64>]) -> Option<f64> {
    let known = widths.iter().any(Option::is_some);
    known.then(|| widths.iter().flatten().sum::<f64>() / widths.len() as f64)
}

/// Returns the values behind a mean of [`rows`]: a quantity of [`QUANTITIES`] under a policy, in
/// the groups of a class in which it exists.
pub fn values(groups: &[GroupResult], class: &str, policy: &str, quantity: &str) -> Vec<f64> {
    let Some((_, of)) = QUANTITIES.iter().chain(&OF_MEMORY).chain(&OF_PREEMPTION).find(|(name, _)| *name == quantity) else {
        return Vec::new();
    };
    let members = groups.iter().filter(|group| class == ALL || group.class == class);
    members.filter_map(|group| of(group.policies.iter().find(|result| result.policy == policy)?)).collect()
}

/// Returns the row of a class and a policy.
pub fn find<'r>(rows: &'r [SummaryRow], class: &str, policy: &str) -> Option<&'r SummaryRow> {
    rows.iter().find(|row| row.class == class && row.policy == policy)
}
