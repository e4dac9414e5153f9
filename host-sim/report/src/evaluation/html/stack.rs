//! Four levels of scheduling at once: all sixteen subsets, what each level brings, and which of them meet. Lines are those of
//! [`crate::evaluation::stack`].

use super::conditions;
use super::page::Page;
use super::palette;
use crate::evaluation::figure::{Chart, Figure, Key, Marker, Panel, Placed, Ranked};
use crate::evaluation::stack::{
    LEVELS, Measured, NAMES, OF_LEVELS, SUBSETS, effect, headings, headings_of_pairs, levels, mixes, name, pairs, queues, subsets,
};
use mias_lab::evaluate::queue::QueueResult;
use mias_lab::evaluate::results::{Evaluation, StudyResult};
use mias_lab::table::{grouped, number};

/// All of it.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let (mixes, queues) = (mixes(evaluation), queues(evaluation));
    page.section("Four levels in a minute");
    figure(page, "1", "Mixes in a window", &mixes);
    figure(page, "2", "Queues to their end", &queues);
    page.paragraph(crate::evaluation::stack::WHAT);
    for study in evaluation.studies.iter().filter(|study| study.levels.is_none()).take(1) {
        page.note(&conditions::fully(study));
    }
    page.section("Sixteen subsets");
    for all in [&mixes, &queues] {
        page.table(&strings(&headings(all)), &subsets(all), false);
    }
    page.section("What each level brings");
    for all in [&mixes, &queues] {
        page.table(&OF_LEVELS, &levels(all), true);
    }
    page.section("Together");
    for all in [&mixes, &queues] {
        page.table(&strings(&headings_of_pairs()), &pairs(all), false);
    }
    page.section("Every queue");
    every_queue(page, evaluation);
}

fn strings(headings: &[String]) -> Vec<&str> {
    headings.iter().map(String::as_str).collect()
}

/// The first quantity, which says how much is done: of each subset, and what each level does to it.
fn figure(page: &mut Page, id: &str, title: &str, all: &[Measured]) {
    let Some(first) = all.iter().find(|one| !one.cases.is_empty()) else { return };
    let placed = |name: String, ratio: Option<mias_lab::evaluate::paired::Ratio>| Placed {
        name,
        marker: Marker { style: palette::ONE, filling: 0 },
        value: ratio.map(|ratio| (ratio.mean, ratio.interval)),
    };
    let of_subsets = (1..SUBSETS).map(|subset| placed(name(subset), first.over_none(subset))).collect();
    let of_levels = (0..LEVELS).map(|level| placed(NAMES[level].to_owned(), effect(&first.cases, level).mean)).collect();
    let (better, count) = (if first.more_is_better { "farther right is better" } else { "farther left is better" }, first.cases.len());
    let panel = |title: String, placed| Panel {
        title: title.clone(),
        words: String::new(),
        chart: Chart::Ranked(Ranked { label: title, x_label: format!("{} over that without", first.name), placed }),
    };
    let panels = vec![panel(format!("{title}: subsets, {better}"), of_subsets), panel(format!("{title}: each level, {better}"), of_levels)];
    let caption = format!(
        "{title}: {} under every subset of four levels over that with none of them, and with each level over without it in the mean over the others; geometric means over {count} cases, with 95 % intervals.",
        first.name
    );
    page.figure(Figure { id: id.to_owned(), caption, key: Key::default(), panels });
}

/// The numbers of every queue.
fn every_queue(page: &mut Page, evaluation: &Evaluation) {
    let line = |study: &StudyResult, run: &QueueResult| {
        let seed = study.setting.iter().find(|(key, _)| key == "seed").map(|(_, seed)| seed.clone()).unwrap_or_default();
        let cycles = |value: f64| grouped(value.round() as u64);
        vec![
            seed,
            study.levels.clone().unwrap_or_else(|| "none".to_owned()),
            run.policy.to_owned(),
            grouped(run.makespan_cycles),
            number(run.stp, 3),
            number(run.antt, 2),
            cycles(run.latency.mean),
            cycles(run.latency.p95),
            cycles(run.latency.max),
            run.urgent_latency_cycles.map(cycles).unwrap_or_else(|| mias_lab::table::DASH.to_owned()),
            number(run.energy_joules.map(|joules| 1e3 * joules), 2),
        ]
    };
    let lines: Vec<Vec<String>> = evaluation.studies.iter().flat_map(|study| study.queue.iter().map(move |run| line(study, run))).collect();
    let headings =
        ["seed", "levels", "policy", "makespan", "STP", "ANTT", "latency, mean", "95 %", "largest", "urgent, mean", "energy, mJ"];
    page.table(&headings, &lines, true);
    page.note("Times in core cycles; a launch's latency is from its arrival in the queue to its end. STP: the time that the launches take one after the other, each alone, over the makespan.");
}
