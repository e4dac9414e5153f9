//! Figures of the thesis, drawn from our data: 3.1, 3.4, 4.1, 4.2 a to c, 4.3 a to d, 4.4. Other
//! plans have the same figures for their own kernels, under other numbers.

use super::conditions::apart_from_thesis;
use super::means::{self, joined, plain, policies, series};
use super::page::Page;
use super::palette;
use super::tables;
use super::thesis;
use crate::evaluation::figure::{Bars, Chart, Cluster, Curve, Curves, Figure, Key, Panel, RATIO, Series, Stack, Stacks, Swatch};
use mias_lab::evaluate::SAMPLING;
use mias_lab::evaluate::results::{AloneResult, GroupResult, StudyResult};
use mias_lab::evaluate::summary::ALL;
use mias_lab::table::grouped;
use std::collections::BTreeMap;

/// Draws all of the thesis' figures.
pub(super) fn draw(page: &mut Page, study: &StudyResult) {
    figure_3_1(page, study);
    let (from, to) = thesis::SETTLED_CYCLES;
    if study.kernels.iter().any(|kernel| !kernel.curve.is_empty()) {
        page.heading("Figure 3.4: IPC over time");
        let says = format!(
            " In the thesis, the IPC of most kernels settles at 45,000 to 50,000 cycles (gray), hence its profiling window of 45,000 cycles.{}",
            apart_from_thesis(study)
        );
        let band = Some(((from / 1e3, to / 1e3), "settling of IPC in the thesis".to_owned()));
        over_time(page, study, "3.4", &says, band);
    }
    page.heading("Figure 4.1: breakdown of issue slots");
    let says = format!(" The thesis has one class of RAW stalls, here split by cause. It prints no numbers.{}", apart_from_thesis(study));
    stalls_alone(page, study, "4.1", &says);
    figures_4_2(page, study);
    figures_4_3(page, study);
    figure_4_4(page, study);
}

/// Creates a chart of S.
fn speedups(page: &Page, label: String, policies: &[&'static str], clusters: Vec<Cluster>, numbers: bool, y_label: &str) -> Bars {
    let series = series(&page.palette, policies);
    Bars { label, y_label: y_label.to_owned(), unit: RATIO, series, clusters, one: true, numbers }
}

fn figure_3_1(page: &mut Page, study: &StudyResult) {
    let all = policies(study);
    let baseline = "warped-slicer";
    let shown: Vec<&'static str> = all.iter().copied().filter(|policy| [baseline, "spatial", "mias-ipm-ipc"].contains(policy)).collect();
    let pairs: Vec<&GroupResult> = thesis::FIGURE_3_1.iter().filter_map(|&kernels| thesis::pair(study, kernels)).collect();
    if pairs.is_empty() || shown.is_empty() {
        return;
    }
    page.heading("Figure 3.1: the baseline on four pairs");
    let cluster = |group: &&GroupResult| {
        let cluster = means::of_group(study, group, &shown);
        Cluster { names: vec![cluster.names.join(" "), group.class.clone()], ..cluster }
    };
    let clusters: Vec<Cluster> = pairs.iter().map(cluster).collect();
    let missing = if all.contains(&baseline) { "" } else { " The plan does not include Warped-Slicer." };
    let caption = format!(
        "Speedup S of single runs. The thesis: Warped-Slicer gains on mm-bopt, 1.6 on fwt-dxtc, loses on bfs-bopt and on all pairs of memory-intensive kernels.{missing}{}{}",
        means::explained(&clusters),
        apart_from_thesis(study)
    );
    let key = means::marks(means::key(&page.palette, &shown), &clusters);
    let chart = speedups(page, "Speedup S on four pairs".to_owned(), &shown, clusters, true, "speedup S");
    page.figure(Figure { id: "3.1".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
    tables::speedups(page, &pairs, &shown);
}

/// Draws IPC of the isolated kernels over time.
pub(super) fn over_time(page: &mut Page, study: &StudyResult, id: &str, says: &str, band: Option<((f64, f64), String)>) {
    let with_curve = study.kernels.iter().filter(|kernel| !kernel.curve.is_empty());
    let curves: Vec<Curve> = with_curve
        .enumerate()
        .map(|(number, kernel)| {
            let (marker, dash) = palette::curve(number);
            let points = kernel.curve.iter().map(|&(cycle, ipc)| (cycle as f64 / 1e3, ipc)).collect();
            Curve { name: plain(&kernel.name).into_owned(), dash, marker, points }
        })
        .collect();
    let label = "IPC of each isolated kernel over time".to_owned();
    let (x, y) = (
        ("time".to_owned(), "thousand core cycles"),
        ("IPC".to_owned(), if study.ipc_unit == "warp" { "warp instructions per cycle" } else { "thread instructions per cycle" }),
    );
    let caption = format!(
        "Instructions per cycle ({}) of each isolated kernel, over intervals of {} cycles.{says}",
        study.ipc_unit,
        grouped(SAMPLING.every_cycles)
    );
    let chart = Chart::Curves(Curves { label, x, y, band, curves });
    page.figure(Figure { id: id.to_owned(), caption, key: Key::default(), panels: vec![Panel::untitled(chart)] });
    tables::curves(page, study);
}

/// Returns the fractions of issue slots lost, in the order of [`palette::STALLS`].
fn stalls(slots: &BTreeMap<&'static str, f64>) -> Vec<f64> {
    palette::STALLS.iter().map(|(class, _)| slots.get(class.name()).copied().unwrap_or_default()).collect()
}

fn stall_series() -> Vec<Series> {
    palette::STALLS.iter().map(|(class, _)| Series { name: class.heading().to_owned(), style: palette::stall(*class) }).collect()
}

fn stall_key() -> Key {
    palette::STALLS.iter().fold(Key::default(), |key, (class, _)| key.with(Swatch::Bar(palette::stall(*class)), class.heading()))
}

/// Draws the stalls of the isolated kernels, by cause.
pub(super) fn stalls_alone(page: &mut Page, study: &StudyResult, id: &str, says: &str) {
    let stack = |kernel: &AloneResult| Stack { names: vec![plain(&kernel.name).into_owned()], shares: stalls(&kernel.issue_slots) };
    let chart = Stacks {
        label: "Stalls of each isolated kernel".to_owned(),
        y_label: "share of issue slots".to_owned(),
        series: stall_series(),
        stacks: study.kernels.iter().map(stack).collect(),
    };
    let caption = format!(
        "Scheduler cycles without an issued instruction, of each isolated kernel, by cause; an instruction was issued in the others.{says}"
    );
    page.figure(Figure { id: id.to_owned(), caption, key: stall_key(), panels: vec![Panel::untitled(Chart::Stacks(chart))] });
    tables::slots(page, study.kernels.iter().map(|kernel| (kernel.name.clone(), &kernel.issue_slots)));
}

fn figures_4_2(page: &mut Page, study: &StudyResult) {
    page.heading("Figure 4.2: speedup of every pair");
    page.paragraph("Bars are the thesis' speedup S: the sum of both IPCs over the mean of the IPCs alone. The dotted line across a pair is the score of running only its faster kernel; a bar below it shows no gain in S.");
    for class in means::classes(study) {
        let letter = thesis::CLASSES.iter().find(|(known, _)| *known == class).map_or("", |(_, letter)| letter);
        by_group(page, study, class, &format!("4.2{letter}"), &apart_from_thesis(study));
    }
}

/// Draws S of every group of a class, and the class' means.
pub(super) fn by_group(page: &mut Page, study: &StudyResult, class: &str, id: &str, says: &str) {
    let all = policies(study);
    let members: Vec<&GroupResult> = study.groups.iter().filter(|group| group.class == class).collect();
    let mut clusters: Vec<Cluster> = members.iter().map(|group| means::of_group(study, group, &all)).collect();
    let mean =
        |clusters: &mut Vec<Cluster>| clusters.push(Cluster { apart: true, ..means::cluster(study, class, &all, "speedup", "mean") });
    let of_means = if members.len() > 1 {
        mean(&mut clusters);
        format!(" Right: means over the {} groups, {}.", members.len(), means::QUARTILES)
    } else {
        String::new()
    };
    let words = means::in_words(class);
    let caption = format!("Speedup S of {words}, one run each.{of_means}{}{says}", means::explained(&clusters));
    let key = means::marks(means::key(&page.palette, &all), &clusters);
    let chart = speedups(page, format!("Speedup of {words}"), &all, clusters, false, "speedup S");
    page.figure(Figure { id: id.to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
    tables::speedups(page, &members, &all);
}

fn figures_4_3(page: &mut Page, study: &StudyResult) {
    // The thesis' final variant, or else the first policy that measures.
    let measures =
        |policy: &&'static str| study.groups.iter().flat_map(|g| &g.policies).any(|r| r.policy == *policy && r.ranking.is_some());
    let all = policies(study);
    let Some(policy) = all.iter().find(|policy| **policy == "mias-ipm-ipc").or_else(|| all.iter().find(|policy| measures(policy))).copied()
    else {
        return;
    };
    let score =
        |group: &&GroupResult| group.policies.iter().find(|r| r.policy == policy).and_then(|r| r.metrics.speedup).unwrap_or_default();
    let best_memory = study.groups.iter().filter(|group| group.class == "MM").max_by(|a, b| score(a).total_cmp(&score(b)));
    let mut panels = Vec::new();
    let mut has_b = false;
    let mut rows: Vec<(String, BTreeMap<&'static str, f64>)> = Vec::new();
    for (letter, kernels, says) in thesis::FIGURE_4_3 {
        let group = kernels.map_or(best_memory, |kernels| thesis::pair(study, kernels));
        let Some((group, result)) = group.and_then(|group| Some((group, group.policies.iter().find(|r| r.policy == policy)?))) else {
            continue;
        };
        has_b |= kernels.is_none();
        let alone = group.kernels.iter().filter_map(|name| study.kernels.iter().find(|kernel| kernel.name == *name));
        let mut bars: Vec<(Vec<String>, BTreeMap<&'static str, f64>)> =
            alone.map(|kernel| (vec![plain(&kernel.name).into_owned(), "alone".to_owned()], kernel.issue_slots.clone())).collect();
        let joint = joined(group);
        let config = mias_lab::table::config(result.config.as_deref());
        bars.push((vec![joint.clone(), format!("together, {config}")], result.issue_slots.clone()));
        let label = format!("Stalls of {joint}, alone and together");
        let stacks = bars.iter().map(|(names, slots)| Stack { names: names.clone(), shares: stalls(slots) }).collect();
        let chart = Chart::Stacks(Stacks { label, y_label: "share of issue slots".to_owned(), series: stall_series(), stacks });
        panels.push(Panel { title: format!("({letter}) {joint}"), words: format!("Thesis: {says}."), chart });
        rows.extend(bars.into_iter().map(|(names, slots)| (format!("{letter}, {}", names.join(", ")), slots)));
    }
    if rows.is_empty() {
        return;
    }
    page.heading("Figure 4.3: stalls alone and together");
    let of_b = if has_b { "; (b) is the pair of memory-intensive kernels with its largest S" } else { "" };
    let caption = format!("Stalls of both kernels alone and together under {policy}{of_b}.{}", apart_from_thesis(study));
    page.figure(Figure { id: "4.3".to_owned(), caption, key: stall_key(), panels });
    tables::slots(page, rows.iter().map(|(name, slots)| (name.clone(), slots)));
}

fn figure_4_4(page: &mut Page, study: &StudyResult) {
    let all = policies(study);
    page.heading("Figure 4.4: global mean speedup");
    let clusters = vec![means::cluster(study, ALL, &all, "speedup", "")];
    let caption = format!(
        "Mean S of each policy over all pairs ({}), {}; the lines are means over all pairs, too.{}{}",
        means::count(study, ALL),
        means::QUARTILES,
        means::explained(&clusters),
        apart_from_thesis(study)
    );
    let key = means::marks(means::key(&page.palette, &all), &clusters);
    let chart = speedups(page, "Global mean speedup by policy".to_owned(), &all, clusters, true, "mean speedup S");
    page.figure(Figure { id: "4.4".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
    tables::beside_thesis(page, study);
}
