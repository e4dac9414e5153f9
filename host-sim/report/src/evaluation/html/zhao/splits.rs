//! Figures 2 to 5: STP of pairs over the SMs of each of their kernels, found by giving both so many throughout.

use super::super::means::{self, joined, of, plain};
use super::super::page::Page;
use super::super::palette;
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Curve, Curves, Figure, Key, Panel, RATIO, Style, Surface};
use mias_lab::evaluate::results::{GroupResult, PolicyResult, StudyResult};

/// The key of the setting that says how many SMs each kernel has.
const SHARES: &str = "shares";

/// The policy that gives them.
const GIVES: &str = "spatial";

/// SMs of both kernels of a setting.
pub(super) fn shares(study: &StudyResult) -> Option<(u32, u32)> {
    let said = &study.setting.iter().find(|(key, _)| key == SHARES)?.1;
    let (first, second) = said.split_once('-')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

/// STP of a group in a study.
pub(super) fn stp(study: &StudyResult, group: &GroupResult) -> Option<f64> {
    result(study, group)?.metrics.stp
}

/// What the SMs of a study gave for a group.
pub(super) fn result<'r>(study: &'r StudyResult, group: &GroupResult) -> Option<&'r PolicyResult> {
    of(study.groups.iter().find(|other| other.kernels == group.kernels)?, GIVES)
}

/// The place of a group's setting on the axis, by the SMs of both kernels; none if it is not on it.
type Place<'p> = &'p dyn Fn(&GroupResult, (u32, u32)) -> Option<u32>;

/// A curve per group: STP of the settings that `x` gives a place, from left to right.
fn curves(studies: &[&StudyResult], label: &str, x_label: &str, x: Place<'_>) -> Option<Curves> {
    let groups = &studies.first()?.groups;
    let curve = |(at, group): (usize, &GroupResult)| {
        let point = |study: &&StudyResult| Some((f64::from(x(group, shares(study)?)?), stp(study, group)?));
        let mut points: Vec<(f64, f64)> = studies.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (marker, dash) = palette::curve(at);
        Curve { name: joined(group), dash, marker, points }
    };
    let curves: Vec<Curve> = groups.iter().enumerate().map(curve).filter(|curve| curve.points.len() > 1).collect();
    let (x, y) = ((x_label.to_owned(), ""), ("STP".to_owned(), ""));
    (!curves.is_empty()).then(|| Curves { label: label.to_owned(), x, y, band: None, curves })
}

/// Where each group is best, in words.
fn best(studies: &[&StudyResult]) -> String {
    let Some(first) = studies.first() else { return String::new() };
    let of_group = |group: &GroupResult| {
        let values = studies.iter().filter_map(|study| Some((shares(study)?, stp(study, group)?)));
        let (shares, value) = values.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!("{} {} and {} ({value:.2})", joined(group), shares.0, shares.1))
    };
    let all: Vec<String> = first.groups.iter().filter_map(of_group).collect();
    format!(" Best here, SMs of both in order: {}.", all.join(", "))
}

fn panel(title: &str, chart: Curves) -> Panel {
    Panel { title: title.to_owned(), words: String::new(), chart: Chart::Curves(chart) }
}

/// STP of some splits over that of the even one.
pub(super) fn figure_2(page: &mut Page, studies: &[&StudyResult]) {
    let Some(even) = studies.iter().find(|study| shares(study).is_some_and(|(first, second)| first == second)) else { return };
    let label = |study: &StudyResult| shares(study).map_or_else(String::new, |(first, second)| format!("{first}_{second}"));
    let style = |at: usize| Style { colour: palette::curve(at).0.style.colour, number: at };
    let labels: Vec<String> = studies.iter().map(|study| label(study)).collect();
    let (series, key) = means::named(labels.iter().map(String::as_str), style);
    let cluster = |group: &GroupResult| {
        let bar = |study: &&StudyResult| {
            let value = stp(study, group)? / stp(even, group).filter(|stp| *stp > 0.0)?;
            Some(Bar::new(value))
        };
        Cluster { names: vec![joined(group)], bars: studies.iter().map(bar).collect(), marks: Vec::new(), apart: false }
    };
    let chart = Bars {
        label: "STP of some splits over the even one".to_owned(),
        y_label: "STP over the even split".to_owned(),
        unit: RATIO,
        series,
        clusters: even.groups.iter().map(cluster).collect(),
        one: true,
        numbers: true,
    };
    page.heading("Figure 2: three mixes");
    let caption = "STP over that of the even split; a_b: SMs of the left and of the right kernel. The paper: for GAUSSIAN_LEU 4_20 is best and 20_4 does harm; LBM_DWT2D loses nothing with half of the SMs; BINO_LEU gains nothing from any split and loses half with half of the SMs.".to_owned();
    page.figure(Figure { id: "2".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}

/// STP over the SMs of the memory-intensive kernel, or of the second where both are of one type; the other has the rest.
pub(super) fn figure_3(page: &mut Page, studies: &[&StudyResult]) {
    let memory = |group: &GroupResult| group.kernels.iter().position(|kernel| super::kernels::paper_type(kernel) == Some('M'));
    let of_memory = |group: &GroupResult, (first, second): (u32, u32)| Some(if memory(group) == Some(0) { first } else { second });
    let Some(chart) = curves(studies, "STP over the SMs of the memory-intensive kernel", "SMs of the memory-intensive kernel", &of_memory)
    else {
        return;
    };
    page.heading("Figure 3: mixed pairs");
    let caption = format!(
        "STP over the SMs of the kernel that is memory-intensive in the paper; the other has the rest. The paper: best at 4 to 7 SMs, 38 % above the even split for DWT_LEU, 1.64 for LAVAMD_MERGE.{}",
        best(studies)
    );
    page.figure(Figure { id: "3".to_owned(), caption, key: Key::default(), panels: vec![Panel::untitled(Chart::Curves(chart))] });
}

/// STP over the SMs of both together, as many of each.
pub(super) fn figure_4(page: &mut Page, studies: &[&StudyResult]) {
    let Some(chart) =
        curves(studies, "STP over the SMs of both kernels", "SMs in all, half of each", &|_, (a, b)| (a == b).then_some(a + b))
    else {
        return;
    };
    page.heading("Figure 4: fewer SMs for memory-intensive pairs");
    let caption = format!(
        "STP over the SMs in all, as many of each kernel, the others empty. The paper: flat down to 7 to 11 SMs; 3 of each for LBM with DWT2D, 5 for LBM with LAVAMD, 4 for LAVAMD with GAUSSIAN.{}",
        best(studies)
    );
    page.figure(Figure { id: "4".to_owned(), caption, key: Key::default(), panels: vec![Panel::untitled(Chart::Curves(chart))] });
}

/// Pairs that compute: over the SMs of one of them, and over the SMs of both.
pub(super) fn figure_5(page: &mut Page, studies: &[&StudyResult]) {
    let Some(all) = studies.iter().filter_map(|study| shares(study)).map(|(first, second)| first + second).max() else { return };
    let whole = |_: &GroupResult, (first, second): (u32, u32)| (first + second == all).then_some(first);
    let even = |_: &GroupResult, (first, second): (u32, u32)| (first == second).then_some(first + second);
    let of_one = curves(studies, "STP over the SMs of the left kernel", "SMs of the left kernel", &whole);
    let of_both = curves(studies, "STP over the SMs of both kernels", "SMs in all, half of each", &even);
    let panels: Vec<Panel> =
        [("(a) all SMs", of_one), ("(b) fewer SMs", of_both)].into_iter().filter_map(|(title, chart)| Some(panel(title, chart?))).collect();
    if panels.is_empty() {
        return;
    }
    page.heading("Figure 5: compute-intensive pairs");
    let caption = "STP over the SMs of the left kernel, the other having the rest, and over the SMs in all, as many of each. The paper: flat, and linear.".to_owned();
    page.figure(Figure { id: "5".to_owned(), caption, key: Key::default(), panels });
}

/// Memory-intensive pairs over the SMs of either kernel: what a search in both dimensions could find.
pub(super) fn corners(page: &mut Page, studies: &[&StudyResult]) {
    let Some(first) = studies.first() else { return };
    let axis = |of: fn((u32, u32)) -> u32| {
        let mut values: Vec<u32> = studies.iter().filter_map(|study| shares(study)).map(of).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let (columns, rows) = (axis(|shares| shares.0), axis(|shares| shares.1));
    page.heading("Memory-intensive pairs with any numbers of SMs");
    for (at, group) in first.groups.iter().enumerate() {
        let value =
            |column: u32, row: u32| studies.iter().find(|study| shares(study) == Some((column, row))).and_then(|study| stp(study, group));
        let named =
            |kernel: usize| format!("SMs of {}", group.kernels.get(kernel).map_or_else(String::new, |name| plain(name).into_owned()));
        let surface = Surface {
            label: format!("STP of {} over the SMs of both", joined(group)),
            quantity: "STP".to_owned(),
            x_label: named(0),
            y_label: named(1),
            columns: columns.iter().map(u32::to_string).collect(),
            rows: rows.iter().map(u32::to_string).collect(),
            values: rows.iter().map(|&row| columns.iter().map(|&column| value(column, row)).collect()).collect(),
        };
        let caption = format!("STP of {} by the SMs of both, the others empty.", joined(group));
        let id = format!("B.{}", at + 1);
        page.figure(Figure { id, caption, key: Key::default(), panels: vec![Panel::untitled(Chart::Surface(surface))] });
    }
}
