//! The whole field on one machine (plan `field`): a line for each policy and mechanism, as data for the terminal and the page.
//!
//! Means over pairs are geometric but for fairness and overhead, which may be 0. Work done, slowdown and energy stand beside those of the even split of the same
//! pair, so that what pairs differ by does not count ([`mias_lab::evaluate::paired`]).

mod entry;
mod storage;
#[cfg(test)]
mod tests;

pub(super) use entry::{Family, mechanism};
pub(super) use storage::Bits;

use mias_lab::evaluate::blocks::Kind;
use mias_lab::evaluate::paired::Ratio;
use mias_lab::evaluate::results::{Evaluation, GroupResult, PolicyResult, StudyResult};
use mias_lab::evaluate::statistics::{arithmetic, geometric};
use mias_lab::evaluate::summary::ALL;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::Policy;
use mias_lab::gpus;
use mias_lab::gpus::fields::{Field, changed};
use mias_lab::table::{self, DASH, grouped, number, percent};

/// With what everything is compared: nothing stored, nothing measured, nothing decided.
pub(super) const BASE: &str = "spatial";

/// Where the base is, and what decides in no time and once.
const PLACED: &str = "placed";

/// Experiments in which decisions take their time begin so.
const CHARGED: &str = "charged";

/// Experiments that are as those of the same policies, but for the time of decisions.
const FREE: [&str; 2] = [PLACED, "searched"];

/// Whether an evaluation is of that plan, or of its quick form.
pub(super) fn is_of(evaluation: &Evaluation) -> bool {
    evaluation.plan.report.has(Kind::MechanismRanking)
}

/// The time of decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Decisions {
    /// It decides nothing by measuring.
    None,
    /// Core cycles of a run's decisions together, in the mean over runs.
    Cycles(f64),
    /// Nobody has charged it.
    Unknown,
}

/// A line.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Among which it stands.
    pub(super) family: Family,
    /// What it is called.
    pub(super) name: String,
    /// Whose it is.
    pub(super) after: &'static str,
    /// Groups.
    pub(super) groups: usize,
    /// Geometric mean of STP.
    pub(super) stp: Option<f64>,
    /// STP over that of the base.
    pub(super) work: Option<Ratio>,
    /// Geometric mean of ANTT over the groups in which every kernel got on.
    pub(super) antt: Option<f64>,
    /// ANTT over that of the base, over the same groups.
    pub(super) slowdown: Option<Ratio>,
    /// Groups in which a kernel did nothing, and there is no ANTT.
    pub(super) starved: usize,
    /// Arithmetic mean of fairness.
    pub(super) fairness: Option<f64>,
    /// Energy for the work, over that of the base.
    pub(super) energy: Option<Ratio>,
    /// Arithmetic mean of the share of a window that went into transitions and profiling.
    pub(super) overhead: Option<f64>,
    /// Groups whose window ended before the choice was in effect.
    pub(super) too_late: usize,
    /// Bits beside what every policy needs; none where they are not known.
    pub(super) bits: Option<Bits>,
    /// The time of its decisions.
    pub(super) decisions: Decisions,
    /// STP where decisions take their time, over STP where they take none.
    pub(super) charged: Option<Ratio>,
}

/// The result of a policy for the same kernels.
fn same<'s>(study: &'s StudyResult, group: &GroupResult, policy: &str) -> Option<&'s PolicyResult> {
    let other = study.groups.iter().find(|other| other.kernels == group.kernels)?;
    other.policies.iter().find(|result| result.policy == policy)
}

/// Joules for a unit of STP.
fn energy(result: &PolicyResult) -> Option<f64> {
    Some(result.energy_joules? / result.metrics.stp.filter(|stp| *stp > 0.0)?)
}

/// The names of policies in a study, in its order.
fn policies(study: &StudyResult) -> Vec<&'static str> {
    let mut names = Vec::new();
    for result in study.groups.iter().flat_map(|group| &group.policies) {
        if !names.contains(&result.policy) {
            names.push(result.policy);
        }
    }
    names
}

/// All lines over the pairs of a class, or over all, by family, in each as the plan has them.
pub(super) fn rows(evaluation: &Evaluation, class: &str) -> Vec<Row> {
    let Some(base) = evaluation.studies.iter().find(|study| study.experiment == PLACED) else { return Vec::new() };
    let known = Policies::default();
    let mut rows = Vec::new();
    for study in evaluation.studies.iter().filter(|study| !study.experiment.starts_with(CHARGED)) {
        for policy in policies(study).into_iter().filter_map(|name| known.find(name)) {
            rows.push(row(evaluation, base, (study, class), policy));
        }
    }
    rows.sort_by_key(|row| row.family);
    rows
}

fn row(evaluation: &Evaluation, base: &StudyResult, (study, class): (&StudyResult, &str), policy: Policy) -> Row {
    let name = policy.name();
    let groups = study.groups.iter().filter(|group| class == ALL || group.class == class);
    let found = groups.filter_map(|group| Some((group, group.policies.iter().find(|result| result.policy == name)?)));
    let results: Vec<(&GroupResult, &PolicyResult)> = found.collect();
    let all = |of: &dyn Fn(&PolicyResult) -> Option<f64>| results.iter().filter_map(|(_, result)| of(result)).collect::<Vec<f64>>();
    let over_base = |of: &dyn Fn(&PolicyResult) -> Option<f64>| {
        let pair = |(group, result): &(&GroupResult, &PolicyResult)| Some((of(result)?, of(same(base, group, BASE)?)?));
        Ratio::of(&results.iter().filter_map(pair).collect::<Vec<_>>())
    };
    let family = Family::of(study, policy);
    let antt = all(&|result| result.metrics.antt);
    let (decisions, charged) = decided(evaluation, study, policy);
    Row {
        family,
        name: entry::name(study, name),
        after: entry::after(study, policy, family),
        groups: results.len(),
        stp: geometric(&all(&|result| result.metrics.stp)),
        work: over_base(&|result| result.metrics.stp),
        slowdown: over_base(&|result| result.metrics.antt),
        starved: results.len() - antt.len(),
        antt: geometric(&antt),
        fairness: arithmetic(&all(&|result| result.metrics.fairness)),
        energy: over_base(&energy),
        overhead: arithmetic(&all(&|result| result.overhead)),
        too_late: results.iter().filter(|(_, result)| result.too_late).count(),
        bits: bits(study, policy),
        decisions,
        charged,
    }
}

/// What a policy's decisions take where they are charged, and what that costs; a composed one's are those of its base.
fn decided(evaluation: &Evaluation, study: &StudyResult, policy: Policy) -> (Decisions, Option<Ratio>) {
    let places = policy.base();
    if !places.measures() {
        return (Decisions::None, None);
    }
    let charged = || evaluation.studies.iter().filter(|study| study.experiment.starts_with(CHARGED));
    let runs = charged().flat_map(|study| &study.groups).flat_map(|group| &group.policies).filter(|run| run.policy == places.name());
    let cycles: Vec<f64> = runs.filter_map(|run| run.decision_cycles).map(|cycles| cycles as f64).collect();
    let decisions = arithmetic(&cycles).map_or(Decisions::Unknown, Decisions::Cycles);
    let mut pairs = Vec::new();
    if FREE.contains(&study.experiment.as_str()) {
        for group in charged().flat_map(|study| &study.groups) {
            let run = group.policies.iter().find(|run| run.policy == policy.name());
            pairs.extend(run.and_then(|run| run.metrics.stp).zip(same(study, group, policy.name()).and_then(|free| free.metrics.stp)));
        }
    }
    (decisions, Ratio::of(&pairs))
}

/// What is stored, from the machine that the study names.
fn bits(study: &StudyResult, policy: Policy) -> Option<Bits> {
    let name = study.gpu.split(' ').next()?;
    let fields = entry::fields(study).map(|(key, value)| Field {
        path: key.split('.').map(str::to_owned).collect(),
        value: value.parse::<i64>().map_or_else(|_| toml::Value::String(value.to_owned()), toml::Value::Integer),
    });
    let gpu = changed(&gpus::load(name).ok()?, &fields.collect::<Vec<_>>()).ok()?;
    storage::bits(policy, &gpu, entry::tells_transition(study) && study.transition.starts_with("preempt"))
}

/// The line that is best for a group, with its value; none where there is none.
pub(super) type BestOf = Option<(String, f64)>;

/// For each pair and each family what does most work there, and how much over the even split; pairs in the plan's order.
pub(super) fn best(evaluation: &Evaluation) -> Vec<(&GroupResult, Vec<BestOf>)> {
    let Some(base) = evaluation.studies.iter().find(|study| study.experiment == PLACED) else { return Vec::new() };
    let known = Policies::default();
    let of_group = |group: &GroupResult| {
        let mut found: Vec<BestOf> = vec![None; Family::ALL.len()];
        let stp = same(base, group, BASE).and_then(|result| result.metrics.stp).filter(|stp| *stp > 0.0);
        for study in evaluation.studies.iter().filter(|study| !study.experiment.starts_with(CHARGED)) {
            for policy in policies(study).into_iter().filter(|name| *name != BASE || study.experiment != PLACED) {
                let over = same(study, group, policy).and_then(|result| result.metrics.stp).zip(stp).map(|(stp, even)| stp / even);
                let (Some(over), Some(of)) = (over, known.find(policy)) else { continue };
                let place = &mut found[Family::of(study, of) as usize];
                if place.as_ref().is_none_or(|(_, most)| over > *most) {
                    *place = Some((entry::name(study, policy), over));
                }
            }
        }
        found
    };
    base.groups.iter().map(|group| (group, of_group(group))).collect()
}

/// Headings of the cells.
pub(super) const HEADINGS: [&str; 14] = [
    "",
    "policy and mechanism",
    "after",
    "STP",
    "over even split",
    "95 %",
    "ANTT",
    "fairness",
    "energy for work",
    "overhead",
    "too late",
    "bits per SM",
    "bits per chip",
    "decisions, cycles",
];

/// A ratio as a change, with its sign.
pub(super) fn change(ratio: f64) -> String {
    format!("{:+.1} %", (1000.0 * (ratio - 1.0)).round() / 10.0 + 0.0).replace('-', "\u{2212}")
}

/// The cells of a line.
pub(super) fn cells(row: &Row) -> Vec<String> {
    let changed = |ratio: Option<f64>| ratio.map_or_else(|| DASH.to_owned(), change);
    let interval = row.work.and_then(|work| work.interval);
    let antt = match row.starved {
        0 => number(row.antt, 2),
        _ if row.antt.is_none() => DASH.to_owned(),
        starved => format!("{} of {}", number(row.antt, 2), row.groups - starved),
    };
    let bits = |of: fn(&Bits) -> u64| row.bits.as_ref().map_or_else(|| "not known".to_owned(), |bits| grouped(of(bits)));
    vec![
        row.family.name().to_owned(),
        row.name.clone(),
        row.after.to_owned(),
        number(row.stp, 3),
        changed(row.work.map(|work| work.mean)),
        interval.map_or_else(|| DASH.to_owned(), |(low, high)| format!("{} to {}", change(low), change(high))),
        antt,
        number(row.fairness, 2),
        changed(row.energy.map(|energy| energy.mean)),
        percent(row.overhead),
        if row.too_late == 0 { DASH.to_owned() } else { row.too_late.to_string() },
        bits(|bits| bits.sm),
        bits(|bits| bits.chip),
        match row.decisions {
            Decisions::None => "none".to_owned(),
            Decisions::Cycles(cycles) => grouped(cycles.round() as u64),
            Decisions::Unknown => "not known".to_owned(),
        },
    ]
}

/// What the cells are.
pub(super) const WHAT: &str = "STP and ANTT: geometric means over the pairs; ANTT over so many of them, where a kernel did nothing in the others. Over even split: STP over that of `spatial` for the same \
    pair, in the geometric mean, and its 95 % interval (Student's t of the logarithms; pairs share kernels, so that it is rather too narrow). Energy for work: joules over STP, likewise \
    over `spatial`. Overhead: transitions and profiling, of the window. Too late: pairs whose window ended before the choice was in effect. Bits: storage beside what every policy needs, as far as the \
    register map and the model state widths. Decisions: core cycles that all decisions of a run take on the machine's microcontroller where they are charged; \
    here they take no time. What hardware decides, and who leaves an SM, is not in them.";

/// The table; empty where the plan is another.
pub(super) fn text(evaluation: &Evaluation) -> String {
    if !is_of(evaluation) {
        return String::new();
    }
    let rows: Vec<Vec<String>> = rows(evaluation, ALL).iter().map(cells).collect();
    format!("The field\n{}{WHAT}\n\n", table::text(&table::of(&HEADINGS.map(str::to_owned), &rows)))
}
