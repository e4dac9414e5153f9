//! Four levels of scheduling at once (plan `stack`): sixteen subsets, what each level brings, and which of them meet, as data for the terminal and the page.
//!
//! The level of thread blocks is the policy; the others are what the firmware sets beside it ([`mias_lab::experiment::levels`]).

mod effects;
#[cfg(test)]
mod tests;

pub(super) use effects::{Effect, LEVELS, SUBSETS, effect, together};

use super::field::change;
use effects::OfSubsets;
use mias_lab::choice::Choice;
use mias_lab::evaluate::blocks::Kind;
use mias_lab::evaluate::paired::Ratio;
use mias_lab::evaluate::queue::QueueResult;
use mias_lab::evaluate::results::{Evaluation, GroupResult, PolicyResult, StudyResult};
use mias_lab::experiment::levels::Levels;
use mias_lab::table::{self, DASH};

/// What places thread blocks where that level is off.
pub(super) const BASE: &str = "smk";

/// Names of the levels, in the order of the bits of a subset.
pub(super) const NAMES: [&str; LEVELS] = ["kernels", "thread blocks", "warps", "requests"];

/// Whether an evaluation is of that plan, or of its quick form.
pub(super) fn is_of(evaluation: &Evaluation) -> bool {
    evaluation.plan.report.has(Kind::LevelEffects)
}

/// The name of a subset.
pub(super) fn name(subset: usize) -> String {
    let on: Vec<&str> = (0..LEVELS).filter(|level| subset >> level & 1 != 0).map(|level| NAMES[level]).collect();
    if on.is_empty() { "none".to_owned() } else { on.join(" + ") }
}

/// The subset of a policy's run.
fn subset(study: &StudyResult, policy: &str) -> usize {
    let levels = study.levels.as_deref().and_then(Levels::find).unwrap_or_default();
    let bits = [levels.kernels(), policy != BASE, levels.warps(), levels.requests()];
    bits.into_iter().enumerate().fold(0, |subset, (level, on)| subset | usize::from(on) << level)
}

/// A quantity of all subsets.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// What it is.
    pub(super) name: &'static str,
    /// Whether more of it is better.
    pub(super) more_is_better: bool,
    /// Mixes, or queues: those that have it under every subset.
    pub(super) cases: Vec<OfSubsets>,
}

impl Measured {
    /// A subset over none.
    pub(super) fn over_none(&self, subset: usize) -> Option<Ratio> {
        Ratio::of(&self.cases.iter().map(|case| (case[subset], case[0])).collect::<Vec<_>>())
    }
}

/// A case's name, with its runs by subset.
type Runs<'e, T> = Vec<(String, [Option<&'e T>; SUBSETS])>;

fn collect<'e, T>(runs: impl Iterator<Item = (String, usize, &'e T)>) -> Runs<'e, T> {
    let mut cases: Runs<'e, T> = Vec::new();
    for (name, subset, run) in runs {
        let place = cases.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            cases.push((name, [None; SUBSETS]));
            cases.len() - 1
        });
        cases[place].1[subset] = Some(run);
    }
    cases
}

fn measured<T>(runs: &Runs<'_, T>, name: &'static str, more_is_better: bool, of: impl Fn(&T) -> Option<f64>) -> Measured {
    let case = |(_, runs): &(String, [Option<&T>; SUBSETS])| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| of((*run)?).filter(|value| *value > 0.0)).collect();
        values?.try_into().ok()
    };
    Measured { name, more_is_better, cases: runs.iter().filter_map(case).collect() }
}

/// What is measured of mixes in a window.
pub(super) fn mixes(evaluation: &Evaluation) -> Vec<Measured> {
    let of_group =
        |study: &'_ StudyResult, group: &'_ GroupResult, run: &PolicyResult| (group.kernels.join(" + "), subset(study, run.policy));
    let groups = evaluation.studies.iter().flat_map(|study| study.groups.iter().map(move |group| (study, group)));
    let runs = groups.flat_map(|(study, group)| {
        group.policies.iter().map(move |run| {
            let (name, subset) = of_group(study, group, run);
            (name, subset, run)
        })
    });
    let runs: Runs<'_, PolicyResult> = collect(runs);
    vec![
        measured(&runs, "STP", true, |run| run.metrics.stp),
        measured(&runs, "ANTT", false, |run| run.metrics.antt),
        measured(&runs, "energy for work", false, |run| Some(run.energy_joules? / run.metrics.stp.filter(|stp| *stp > 0.0)?)),
    ]
}

/// What is measured of queues.
pub(super) fn queues(evaluation: &Evaluation) -> Vec<Measured> {
    let seed = |study: &StudyResult| study.setting.iter().find(|(key, _)| key == "seed").map(|(_, seed)| seed.clone()).unwrap_or_default();
    let runs = evaluation.studies.iter().flat_map(|study| {
        study.queue.iter().map(move |run| (format!("{} {}", study.experiment, seed(study)), subset(study, run.policy), run))
    });
    let runs: Runs<'_, QueueResult> = collect(runs);
    vec![
        measured(&runs, "makespan", false, |run| Some(run.makespan_cycles as f64)),
        measured(&runs, "ANTT", false, |run| run.antt),
        measured(&runs, "latency, mean", false, |run| Some(run.latency.mean)),
        measured(&runs, "latency, 95 %", false, |run| Some(run.latency.p95)),
        measured(&runs, "latency, largest", false, |run| Some(run.latency.max)),
        measured(&runs, "latency of urgent launches", false, |run| run.urgent_latency_cycles),
        measured(&runs, "energy", false, |run| run.energy_joules),
    ]
}

/// A ratio as a change; with a question mark where the interval holds none, or there is no interval.
pub(super) fn told(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(|| DASH.to_owned(), |ratio| format!("{}{}", change(ratio.mean), if ratio.is_apart_from_one() { "" } else { " ?" }))
}

/// Headings of [`subsets`].
pub(super) fn headings(all: &[Measured]) -> Vec<String> {
    std::iter::once("levels on".to_owned()).chain(all.iter().map(|one| one.name.to_owned())).collect()
}

/// A line for each subset: every quantity over that with nothing on.
pub(super) fn subsets(all: &[Measured]) -> Vec<Vec<String>> {
    let line = |subset: usize| std::iter::once(name(subset)).chain(all.iter().map(|one| told(one.over_none(subset)))).collect();
    (0..SUBSETS).map(line).collect()
}

/// Headings of [`levels`].
pub(super) const OF_LEVELS: [&str; 5] = ["quantity", "level", "alone", "mean over the others", "beside all others"];

/// A line for each quantity and level.
pub(super) fn levels(all: &[Measured]) -> Vec<Vec<String>> {
    let line = |one: &Measured, level: usize| {
        let Effect { alone, mean, last } = effect(&one.cases, level);
        vec![one.name.to_owned(), NAMES[level].to_owned(), told(alone), told(mean), told(last)]
    };
    all.iter().flat_map(|one| (0..LEVELS).map(move |level| line(one, level))).collect()
}

/// Headings of [`pairs`].
pub(super) fn headings_of_pairs() -> Vec<String> {
    let pair = |(level, other): (usize, usize)| format!("{} and {}", NAMES[level], NAMES[other]);
    std::iter::once("quantity".to_owned()).chain(all_pairs().map(pair)).collect()
}

fn all_pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..LEVELS).flat_map(|level| (level + 1..LEVELS).map(move |other| (level, other)))
}

/// A line for each quantity: how much more two levels do together than one after the other would.
pub(super) fn pairs(all: &[Measured]) -> Vec<Vec<String>> {
    let line = |one: &Measured| {
        let cells = all_pairs().map(|(level, other)| told(together(&one.cases, level, other)));
        std::iter::once(one.name.to_owned()).chain(cells).collect()
    };
    all.iter().map(line).collect()
}

/// What the lines are.
pub(super) const WHAT: &str = "Over none: SMK-P places thread blocks, launches come in the order of their arrival, warps and DRAM requests as the machine has them. Changes are of geometric means over mixes, or over \
    queues; a question mark: the 95 % interval (Student's t of the logarithms) holds no change, or there is one case only. Alone: with the level over without it, nothing else on. Mean over the others: the same in the geometric mean over \
    the eight choices of the others. Beside all others: with all four over with the other three. Together: how much more a level does where the other is on; 0 where the two do not meet.";

/// The tables; empty where the plan is another.
pub(super) fn text(evaluation: &Evaluation) -> String {
    if !is_of(evaluation) {
        return String::new();
    }
    let mut text = String::new();
    for (title, all) in [("Mixes", mixes(evaluation)), ("Queues", queues(evaluation))] {
        let cases = all.iter().map(|one| one.cases.len()).max().unwrap_or_default();
        text += &format!(
            "{title}: sixteen subsets of four levels, {cases} cases\n{}",
            table::text(&table::of(&headings(&all), &subsets(&all)))
        );
        text += &table::text(&table::of(&OF_LEVELS.map(str::to_owned), &levels(&all)));
        text += &format!("together\n{}\n", table::text(&table::of(&headings_of_pairs(), &pairs(&all))));
    }
    format!("{text}{WHAT}\n\n")
}
