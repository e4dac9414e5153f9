//! Factors that are on or off in every combination: a figure of the first quantity, and tables of
//! all.

use super::page::Page;
use super::palette;
use crate::evaluation::factorial::{WHAT, combinations, effects, together};
use crate::evaluation::figure::{Chart, Figure, Key, Marker, Panel, Placed, Ranked};
use mias_lab::evaluate::blocks::{Block, Row};
use mias_lab::evaluate::paired::Ratio;
use mias_lab::evaluate::results::Evaluation;

/// Draws the figure and the tables.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation, block: &Block) {
    let rows = block.rows(evaluation);
    let all = block.factorial(&rows);
    let Some(first) = all.iter().find(|one| !one.cases.is_empty()) else { return };
    page.heading(&block.title);
    let placed = |name: String, ratio: Option<Ratio>| Placed {
        name,
        marker: Marker { style: palette::ONE, filling: 0 },
        value: ratio.map(|ratio| (ratio.mean, ratio.interval)),
    };
    let of_combinations = (1..first.combinations()).map(|at| placed(block.combination(at), first.over_none(at))).collect();
    let of_factors = block.factors.iter().enumerate().map(|(at, factor)| placed(factor.name.clone(), first.effect(at).mean)).collect();
    let panel = |title: &str, placed| Panel {
        title: title.to_owned(),
        words: String::new(),
        chart: Chart::Ranked(Ranked {
            label: format!("{}: {title}", block.title),
            x_label: format!("{} over that without", first.name),
            placed,
        }),
    };
    let panels = vec![panel("Combinations of factors", of_combinations), panel("Each factor, mean over the others", of_factors)];
    let said = block.caption.as_ref().map_or_else(String::new, |words| words.of(&rows.iter().collect::<Vec<&Row<'_>>>()));
    let caption = format!(
        "{}: {} under every combination of factors over that with all off, and with each factor over without it in the mean over the others; geometric means over {} cases, with 95 % intervals. {said}",
        block.title,
        first.name,
        first.cases.len()
    );
    page.figure(Figure { id: block.figure.clone(), caption, key: Key::default(), panels });
    page.lines(&combinations(block, &all), false);
    page.lines(&effects(block, &all), true);
    page.lines(&together(block, &all), false);
    page.note(WHAT);
}
