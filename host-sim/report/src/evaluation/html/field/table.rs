//! The tables: every line, by class, by pair, and with decisions in their time.

use super::super::means::{classes, in_words, joined};
use super::super::page::Page;
use crate::evaluation::field::{BASE, BestOf, Decisions, Family, HEADINGS, Row, WHAT, best, cells, change, rows};
use mias_lab::evaluate::results::{Evaluation, GroupResult};
use mias_lab::table::{DASH, grouped};

/// Every line.
pub(super) fn all(page: &mut Page, rows: &[Row]) {
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    page.table(&HEADINGS, &cells, true);
    page.paragraph(WHAT);
}

/// Work over the even split, by class.
pub(super) fn by_class(page: &mut Page, evaluation: &Evaluation, all: &[Row]) {
    let Some(study) = evaluation.studies.first() else { return };
    let classes = classes(study);
    let of_class: Vec<Vec<Row>> = classes.iter().map(|class| rows(evaluation, class)).collect();
    let line = |at: usize, row: &Row| {
        let work = |rows: &Vec<Row>| {
            let ratio = rows.get(at).and_then(|row| row.work)?;
            let sure = if ratio.is_apart_from_one() { "" } else { " ?" };
            Some(format!("{}{sure}", change(ratio.mean)))
        };
        let cells = of_class.iter().map(|rows| work(rows).unwrap_or_else(|| DASH.to_owned()));
        [row.family.name().to_owned(), row.name.clone()].into_iter().chain(cells).collect()
    };
    let all: Vec<Vec<String>> = all.iter().enumerate().map(|(at, row)| line(at, row)).collect();
    let headings: Vec<String> =
        ["", "policy and mechanism"].map(str::to_owned).into_iter().chain(classes.iter().map(|class| in_words(class))).collect();
    page.table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &all, true);
    page.note(&format!(
        "STP over that of `{BASE}` for the same pair, geometric means. A question mark: the 95 % interval holds no change."
    ));
}

/// What measures, with the time of its decisions.
pub(super) fn charged(page: &mut Page, rows: &[Row]) {
    let line = |row: &Row| {
        let (Decisions::Cycles(cycles), Some(charged)) = (row.decisions, row.charged) else { return None };
        let interval = charged.interval.map_or_else(|| DASH.to_owned(), |(low, high)| format!("{} to {}", change(low), change(high)));
        let n = charged.count.to_string();
        Some(vec![row.family.name().to_owned(), row.name.clone(), n, grouped(cycles.round() as u64), change(charged.mean), interval])
    };
    let lines: Vec<Vec<String>> = rows.iter().filter_map(line).collect();
    page.table(&["", "policy", "pairs", "decisions, core cycles", "STP", "95 %"], &lines, true);
    page.note("STP where decisions take their time on the machine's microcontroller, placement included, over STP where they take none, for the same pairs. Cycles: of all decisions of a run, in the mean.");
}

/// What is best for each pair, of every family.
pub(super) fn by_pair(page: &mut Page, evaluation: &Evaluation) {
    let line = |(group, best): (&GroupResult, Vec<BestOf>)| {
        let cells = best.into_iter().map(|one| one.map_or_else(|| DASH.to_owned(), |(name, over)| format!("{name} {}", change(over))));
        [joined(group), group.class.clone()].into_iter().chain(cells).collect()
    };
    let lines: Vec<Vec<String>> = best(evaluation).into_iter().map(line).collect();
    let headings: Vec<&str> = ["kernels", "class"].into_iter().chain(Family::ALL.map(Family::name)).collect();
    page.table(&headings, &lines, false);
    page.note(&format!("What does most work for each pair, and STP over that of `{BASE}`. The best of several is known afterwards only."));
}
