//! What each mechanism does over an even split of the SMs: work done and slowdown, ranked, with intervals.

use super::super::page::Page;
use super::super::palette::{self, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION};
use crate::evaluation::field::{Family, Row};
use crate::evaluation::figure::{Chart, Figure, Key, Marker, Panel, Placed, Ranked, Swatch};
use mias_lab::evaluate::paired::Ratio;

/// A line for each mechanism: of variants that differ in a reading or a detail the one that its paper has, and where that is several, the first.
const SHOWN: [&str; 22] = [
    "left-over",
    "spatial",
    "cd-search",
    "fair-share",
    "effective-bandwidth",
    "smk",
    "smk+warp-quota",
    "warped-slicer",
    "coordinated",
    "mias-ipc",
    "mias-ipm-ipc",
    "mias-factor",
    "mias-linear",
    "mias-roofline+stp",
    "maestro+search",
    "warped-slicer+l1-ucp",
    "warped-slicer+qbmi",
    "warped-slicer+dmil",
    "warped-slicer+qbmi+dmil",
    "smk+dmil",
    "spatial + Virtual Thread",
    "spatial + GPUDuet",
];

/// Combinations that are shown: those that do most work.
const COMBINATIONS: usize = 3;

/// Colours, in the order of families.
const COLOURS: [&str; 8] = [GREY, SKY, BLUE, GREEN, PURPLE, ORANGE, VERMILLION, "#222222"];

fn marker(family: Family) -> Marker {
    Marker { style: palette::of(&COLOURS, family as usize), filling: 0 }
}

/// The lines that are shown, the one that does most work first.
fn shown(rows: &[Row]) -> Vec<&Row> {
    let combined = ranked(rows.iter().filter(|row| row.family == Family::Combination));
    let mechanisms = rows.iter().filter(|row| SHOWN.contains(&row.name.as_str()) && row.family != Family::Transition);
    ranked(mechanisms.chain(combined.into_iter().take(COMBINATIONS)))
}

fn ranked<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<&'r Row> {
    let work = |row: &Row| row.work.map_or(0.0, |work| work.mean);
    let mut ranked: Vec<&Row> = rows.collect();
    ranked.sort_by(|a, b| work(b).total_cmp(&work(a)));
    ranked
}

/// Both panels.
pub(super) fn figure(page: &mut Page, rows: &[Row]) {
    let rows = shown(rows);
    if rows.is_empty() {
        return;
    }
    let placed = |of: fn(&Row) -> Option<Ratio>| {
        let one = |row: &&Row| Placed {
            name: row.name.clone(),
            marker: marker(row.family),
            value: of(row).map(|ratio| (ratio.mean, ratio.interval)),
        };
        rows.iter().map(one).collect::<Vec<_>>()
    };
    let panel = |title: &str, label: &str, placed| Panel {
        title: title.to_owned(),
        words: String::new(),
        chart: Chart::Ranked(Ranked { label: title.to_owned(), x_label: label.to_owned(), placed }),
    };
    let panels = vec![
        panel("Work done: farther right is better", "STP over that of an even split", placed(|row| row.work)),
        panel("Slowdown of kernels: farther left is better", "ANTT over that of an even split", placed(|row| row.slowdown)),
    ];
    let families = Family::ALL.into_iter().filter(|family| rows.iter().any(|row| row.family == *family));
    let key = families.fold(Key::default(), |key, family| key.with(Swatch::Dot(marker(family)), family.name()));
    let groups = rows.first().map_or(0, |row| row.groups);
    let caption = format!(
        "What each mechanism does over dividing the SMs evenly (spatial, the dashed line): geometric means over {groups} pairs, ranked by work done. An interval (95 %) that does not reach the line tells \
         that it is better or worse; two whose intervals overlap may be alike. Slowdown is of the pairs in which both kernels get on: none where one never does. Of the ten combinations the {COMBINATIONS} that do \
         most work, which flatters them."
    );
    page.figure(Figure { id: "1".to_owned(), caption, key, panels });
}
