//! Throughput over B, ranked, with the best static choices: a figure for each window, a panel for
//! each GPU and set of kernels.

use super::super::page::Page;
use super::super::palette::{self, BLUE, GRAY, GREEN, ORANGE};
use crate::evaluation::decisions::{BEST, name};
use crate::evaluation::figure::{Chart, Figure, Key, Marker, Panel, Placed, Ranked, Swatch};
use mias_lab::evaluate::decisions::{Judgment, Known, TRANSITION};
use mias_lab::table::grouped;

/// Colors for policies without a mechanism, with one, draining ones, and the best static choices.
const COLORS: [&str; 4] = [BLUE, ORANGE, GREEN, GRAY];

const KINDS: [&str; 4] = ["unmodified GPU", "with a mechanism", "drained", BEST];

fn marker(kind: usize) -> Marker {
    Marker { style: palette::of(&COLORS, kind), filling: 0 }
}

fn placed(name: String, kind: usize, over: Option<Known>) -> Placed {
    Placed { name, marker: marker(kind), value: over.map(|known| (known.value, known.interval)) }
}

/// Returns the items of a panel, the largest first.
fn ranked(judgment: &Judgment<'_>) -> Vec<(usize, Placed)> {
    let kind = |with: &str, transition: &str| match (transition == TRANSITION, with.is_empty()) {
        (false, _) => 2,
        (true, false) => 1,
        (true, true) => 0,
    };
    let lines = &judgment.lines;
    let mut all: Vec<(usize, Placed)> = lines
        .iter()
        .map(|line| {
            let kind = kind(&line.way.with, line.way.transition);
            (kind, placed(name(&line.way), kind, line.over_base[0]))
        })
        .collect();
    all.push((3, placed(BEST.to_owned(), 3, judgment.best_over_base[0])));
    let value = |one: &Placed| one.value.map_or(f64::NEG_INFINITY, |(value, _)| value);
    all.sort_by(|(_, a), (_, b)| value(b).total_cmp(&value(a)));
    all
}

/// Draws all figures.
pub(super) fn figures(page: &mut Page, judgments: &[Judgment<'_>]) {
    let mut windows: Vec<u64> = Vec::new();
    for judgment in judgments {
        if !windows.contains(&judgment.block.cycles) {
            windows.push(judgment.block.cycles);
        }
    }
    for (number, &cycles) in windows.iter().enumerate() {
        let mut kinds = [false; 4];
        let mut panels = Vec::new();
        for judgment in judgments.iter().filter(|judgment| judgment.block.cycles == cycles) {
            let all = ranked(judgment);
            all.iter().for_each(|(kind, _)| kinds[*kind] = true);
            let title = format!("{}, {}", judgment.block.gpu, judgment.block.set.name());
            let placed = all.into_iter().map(|(_, placed)| placed).collect();
            let chart = Chart::Ranked(Ranked { label: title.clone(), x_label: "STP over that of B".to_owned(), placed });
            panels.push(Panel { title, words: String::new(), chart });
        }
        let key = (0..kinds.len()).filter(|kind| kinds[*kind]);
        let key = key.fold(Key::default(), |key, kind| key.with(Swatch::Dot(marker(kind)), KINDS[kind]));
        let caption = format!(
            "Mean STP in windows of {} cycles over that of B, the existing policy with the best mean STP (dashed line), profile, transitions and decisions included; farther right is better. \
             The distance to the best static choice of each mix is the potential gain of deciding once. Intervals (95 %) resample kernels, not mixes.",
            grouped(cycles)
        );
        page.figure(Figure { id: (number + 1).to_string(), caption, key, panels });
    }
}
