//! Figures 4 and 7, and the categories of section 4.2: what each kernel uses of every part of the machine, and of every context.

use super::super::means::{named as named_series, plain};
use super::super::page::Page;
use super::super::palette::{self, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION};
use super::paper;
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Figure, Key, Panel, Series, Unit};
use mias_lab::evaluate::results::{AloneResult, StudyResult};
use mias_lab::evaluate::used::Used;
use mias_lab::table::{DASH, percent};

/// In the order of series.
const COLOURS: [&str; 6] = [ORANGE, PURPLE, BLUE, SKY, GREEN, VERMILLION];

fn known(study: &StudyResult) -> Vec<(&AloneResult, &Used)> {
    study.kernels.iter().filter_map(|kernel| Some((kernel, kernel.used.as_ref()?))).collect()
}

/// The name of a kernel there, or here.
pub(super) fn named(kernel: &AloneResult) -> String {
    let name = plain(&kernel.name);
    paper::find(&name).map_or_else(|| name.to_string(), |kernel| kernel.paper.to_owned())
}

/// Who is bound by what, there and here.
pub(super) fn table(page: &mut Page, study: &StudyResult) {
    let row = |(kernel, used): (&AloneResult, &Used)| {
        let said = paper::find(&plain(&kernel.name));
        let mut row = vec![
            named(kernel),
            plain(&kernel.name).into_owned(),
            kernel.max_tbs.to_string(),
            said.map_or(DASH, |said| said.bound_by).to_owned(),
            used.bound_by.clone(),
            said.and_then(|said| said.level).unwrap_or(DASH).to_owned(),
            used.level.clone(),
        ];
        row.extend(used.parts().map(|(_, share)| percent(share)));
        row
    };
    let known = known(study);
    let (agree, all) = (
        known.iter().filter(|(kernel, used)| paper::find(&plain(&kernel.name)).is_some_and(|said| said.bound_by == used.bound_by)).count(),
        known.len(),
    );
    let rows: Vec<Vec<String>> = known.into_iter().map(row).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Tables 2 and 3: the kernels, and what binds them");
    let headings = [
        "paper",
        "here",
        "TBs per SM",
        "bound by, paper",
        "bound by, here",
        "level, paper",
        "level, here",
        "scheduler",
        "L1",
        "L2 to SM",
        "SM to L2",
        "L2",
        "DRAM",
    ];
    page.table(&headings, &rows, false);
    page.note(&format!("Bound by: the part farthest above its line, 60 % of the schedulers, 60 % of what the crossbar sustains (60 % of its peak), 50 % of DRAM (section 4.2). Level: table 3. {agree} of {all} kernels are bound by what they are bound by in the paper."));
}

fn styles(names: &[&str]) -> (Vec<Series>, Key) {
    named_series(names.iter().copied(), |at| palette::of(&COLOURS, at))
}

/// Six utilisations of every kernel.
pub(super) fn figure_4(page: &mut Page, study: &StudyResult) {
    let known = known(study);
    let Some((_, first)) = known.first() else { return };
    let (series, key) = styles(&first.parts().map(|(name, _)| name));
    let cluster = |(kernel, used): &(&AloneResult, &Used)| Cluster {
        names: vec![named(kernel)],
        bars: used.parts().map(|(_, share)| share.map(Bar::new)).into(),
        marks: Vec::new(),
        apart: false,
    };
    let chart = Bars {
        label: "Utilisation of every part of the machine by each kernel alone".to_owned(),
        y_label: "share of what the part can do".to_owned(),
        unit: Unit::Percent,
        series,
        clusters: known.iter().map(cluster).collect(),
        one: true,
        numbers: false,
    };
    page.heading("Figure 4: utilisation");
    let caption = "What each kernel alone uses of every part of the machine; of the crossbar, relative to the 60 % of its peak that it sustains. The paper: the L1 is below 5 % for all but 7 kernels, the L2 above 10 % for 13.".to_owned();
    page.figure(Figure { id: "4".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}

/// Occupancy of registers, shared memory, warp slots and TB slots.
pub(super) fn figure_7(page: &mut Page, study: &StudyResult) {
    let known = known(study);
    if known.is_empty() {
        return;
    }
    let (series, key) = styles(&["registers", "shared memory", "warp slots", "TB slots"]);
    let cluster = |(kernel, used): &(&AloneResult, &Used)| Cluster {
        names: vec![named(kernel)],
        bars: used.occupancy.map(|share| Some(Bar::new(share))).into(),
        marks: Vec::new(),
        apart: false,
    };
    let chart = Bars {
        label: "Occupancy of contexts by each kernel".to_owned(),
        y_label: "share of an SM's".to_owned(),
        unit: Unit::Percent,
        series,
        clusters: known.iter().map(cluster).collect(),
        one: true,
        numbers: false,
    };
    page.heading("Figure 7: occupancy of contexts");
    let caption = "What the TBs that fit take of an SM. The paper: not all resources are full, so that what limits may move to what is left; BT leaves 12 % of the registers.".to_owned();
    page.figure(Figure { id: "7".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}
