//! The thesis' figures, drawn from our data: 3.1, 3.4, 4.1, 4.2 a to c, 4.3 a to d, 4.4.

use super::bars::{Cluster, Grouped, Mark, Series, Stack, Stacked, WIDTH};
use super::late;
use super::page::{Legend, Page, panels};
use super::palette::{self, Palette};
use super::points::{self, Curve};
use super::svg::Unit;
use super::tables;
use super::thesis;
use mias_lab::evaluate::SAMPLING;
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::summary::{self, S_NULL};
use mias_lab::table::grouped;
use std::collections::BTreeMap;

/// Classes of pairs in the thesis' order, with the letter of figure 4.2 and words.
pub(super) const CLASSES: [(&str, &str, &str); 3] = [
    ("CC", "a", "two compute-intensive kernels"),
    ("MM", "b", "two memory-intensive kernels"),
    ("MC", "c", "a memory- and a compute-intensive kernel"),
];

/// A kernel's name without its settings.
pub(super) fn plain(kernel: &str) -> &str {
    kernel.split([':', '#']).next().unwrap_or_default()
}

/// The policies of a study, in its order.
pub(super) fn policies(study: &StudyResult) -> Vec<&'static str> {
    let mut names = Vec::new();
    for result in study.groups.iter().flat_map(|group| &group.policies) {
        if !names.contains(&result.policy) {
            names.push(result.policy);
        }
    }
    names
}

pub(super) fn series(palette: &Palette, names: &[&'static str]) -> Vec<Series> {
    names.iter().map(|&name| Series { name: name.to_owned(), colour: palette.policy(name) }).collect()
}

pub(super) fn legend(palette: &Palette, names: &[&'static str]) -> Legend {
    names.iter().fold(Legend::default(), |legend, name| legend.colour(palette.policy(name), name))
}

/// The bars of a pair, with S_null and the oracle.
fn cluster(group: &GroupResult, policies: &[&str]) -> Cluster {
    let speedup = |policy: &&str| group.policies.iter().find(|result| result.policy == *policy)?.metrics.speedup;
    let mut marks: Vec<Mark> = group.s_null.map(Mark::Null).into_iter().collect();
    marks.extend(group.oracle.s.as_ref().map(|best| Mark::Oracle(best.value)));
    let name = group.kernels.iter().map(|kernel| plain(kernel)).collect::<Vec<_>>().join("+");
    let thesis = policies.iter().enumerate().filter_map(|(at, policy)| Some(Mark::Thesis(at, thesis::speedup(&name, policy)?.0)));
    marks.extend(thesis);
    marks.extend(late::of_group(group, policies));
    // One under the other: pairs stand close.
    let last = group.kernels.len() - 1;
    let line = |(at, kernel): (usize, &String)| format!("{}{}", plain(kernel), if at < last { " +" } else { "" });
    let names = group.kernels.iter().enumerate().map(line).collect();
    Cluster { names, note: String::new(), values: policies.iter().map(speedup).collect(), marks, apart: false }
}

/// The bars of the means of a class, with the thesis' means where they are of the same pairs.
fn mean_cluster(study: &StudyResult, class: &str, policies: &[&str], name: &str) -> Cluster {
    let mean = |policy: &str| summary::find(&study.summary, class, policy)?.means.get("speedup")?.arithmetic;
    let mut marks: Vec<Mark> = mean(S_NULL).map(Mark::Null).into_iter().collect();
    marks.extend(mean(summary::ORACLE_S).map(Mark::Oracle));
    let comparable = if thesis::has_pairs(study, class) { policies } else { &[] };
    marks.extend(comparable.iter().enumerate().filter_map(|(at, policy)| Some(Mark::Thesis(at, thesis::speedup(class, policy)?.0))));
    marks.extend(late::of_means(study, class, policies, "speedup"));
    Cluster {
        names: vec![name.to_owned()],
        note: String::new(),
        values: policies.iter().map(|policy| mean(policy)).collect(),
        marks,
        apart: true,
    }
}

/// The legend of a study's marks; an oracle there is only where configurations were run.
fn marks(legend: Legend, study: &StudyResult) -> Legend {
    let legend = legend.mark("null", "S_null: only the faster kernel runs");
    let oracle = study.groups.iter().any(|group| group.oracle.s.is_some());
    let legend = if oracle { legend.mark("oracle", "oracle: best configuration that holds all kernels") } else { legend };
    late::legend(legend.mark("thesis", "thesis"), &[study])
}

/// All of the thesis' figures.
pub(super) fn draw(page: &mut Page, study: &StudyResult) {
    figure_3_1(page, study);
    figure_3_4(page, study);
    figure_4_1(page, study);
    figures_4_2(page, study);
    figures_4_3(page, study);
    figure_4_4(page, study);
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
    let clusters = pairs.iter().map(|group| {
        let mut cluster = cluster(group, &shown);
        (cluster.names, cluster.note) = (vec![cluster.names.join(" ")], group.class.clone());
        cluster
    });
    let chart = Grouped {
        label: "Speedup S on four pairs",
        y_label: "speedup S",
        unit: Unit::Plain,
        series: series(&page.palette, &shown),
        clusters: clusters.collect(),
        one: true,
        numbers: true,
    };
    let missing = if all.contains(&baseline) { "" } else { " Warped-Slicer is not among the policies of this plan." };
    page.figure(
        "Figure 3.1",
        &format!("The thesis: Warped-Slicer gains on mm-bopt, 1.6 on fwt-dxtc, loses on bfs-bopt and on all pairs of memory-intensive kernels.{missing}"),
        &marks(legend(&page.palette, &shown), study),
        &chart.draw(),
    );
    tables::speedups(page, &pairs, &shown);
}

fn figure_3_4(page: &mut Page, study: &StudyResult) {
    let with_curve = study.kernels.iter().filter(|kernel| !kernel.curve.is_empty());
    let curves: Vec<Curve> = with_curve
        .enumerate()
        .map(|(number, kernel)| {
            let (colour, dash) = palette::curve(number);
            let points = kernel.curve.iter().map(|&(cycle, ipc)| (cycle as f64 / 1e3, ipc)).collect();
            Curve { name: plain(&kernel.name).to_owned(), colour, dash, points }
        })
        .collect();
    if curves.is_empty() {
        return;
    }
    page.heading("Figure 3.4: IPC as execution goes on");
    let (from, to) = thesis::SETTLED_CYCLES;
    let axes = ("thousand core cycles", "IPC");
    page.figure(
        "Figure 3.4",
        &format!("Instructions per cycle ({}) of each kernel alone, over stretches of {} cycles. The thesis sees most of them settle at 45,000 to 50,000 cycles (grey), which is why it profiles for 45,000.", study.ipc_unit, grouped(SAMPLING.every_cycles)),
        &Legend::default(),
        &points::curves("IPC of each kernel over time", axes, (from / 1e3, to / 1e3), &curves),
    );
    tables::curves(page, study);
}

/// Shares of issue slots lost, in the order of [`palette::STALLS`].
fn stalls(slots: &BTreeMap<&'static str, f64>) -> Vec<f64> {
    palette::STALLS.iter().map(|(class, _)| slots.get(class.name()).copied().unwrap_or_default()).collect()
}

fn stall_series() -> Vec<Series> {
    palette::STALLS.iter().map(|(class, colour)| Series { name: class.heading().to_owned(), colour }).collect()
}

fn stall_legend() -> Legend {
    palette::STALLS.iter().fold(Legend::default(), |legend, (class, colour)| legend.colour(colour, class.heading()))
}

fn figure_4_1(page: &mut Page, study: &StudyResult) {
    page.heading("Figure 4.1: where issue slots go");
    let stack = |kernel: &mias_lab::evaluate::results::AloneResult| Stack {
        names: vec![plain(&kernel.name).to_owned()],
        shares: stalls(&kernel.issue_slots),
    };
    let chart = Stacked {
        label: "Stalls of each kernel alone",
        y_label: "of issue slots",
        series: stall_series(),
        stacks: study.kernels.iter().map(stack).collect(),
        width: WIDTH,
    };
    page.figure(
        "Figure 4.1",
        "Scheduler-cycles in which nothing was issued, of each kernel alone, by cause; the rest was issued. The thesis has one class of RAW stalls, here parted by what is waited for. It prints no numbers.",
        &stall_legend(),
        &chart.draw(),
    );
    tables::slots(page, study.kernels.iter().map(|kernel| (kernel.name.clone(), &kernel.issue_slots)));
}

fn figures_4_2(page: &mut Page, study: &StudyResult) {
    let all = policies(study);
    page.heading("Figure 4.2: speedup of every pair");
    page.paragraph("Bars are the thesis' speedup S: the sum of both IPCs over the mean of the IPCs alone. The dotted line across a pair is what running only its faster kernel would score; a bar below it is no gain that S can show.");
    for (class, letter, words) in CLASSES {
        let members: Vec<&GroupResult> = study.groups.iter().filter(|group| group.class == class).collect();
        if members.is_empty() {
            continue;
        }
        let mut clusters: Vec<Cluster> = members.iter().map(|group| cluster(group, &all)).collect();
        clusters.push(mean_cluster(study, class, &all, "mean"));
        let label = format!("Speedup of pairs of {words}");
        let chart = Grouped {
            label: &label,
            y_label: "speedup S",
            unit: Unit::Plain,
            series: series(&page.palette, &all),
            clusters,
            one: true,
            numbers: false,
        };
        page.figure(
            &format!("Figure 4.2{letter}"),
            &format!("Pairs of {words}. Diamonds: what the thesis gives."),
            &marks(legend(&page.palette, &all), study),
            &chart.draw(),
        );
        tables::speedups(page, &members, &all);
    }
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
    let mut drawings = Vec::new();
    let mut rows: Vec<(String, BTreeMap<&'static str, f64>)> = Vec::new();
    for (letter, kernels, says) in thesis::FIGURE_4_3 {
        let group = kernels.map_or(best_memory, |kernels| thesis::pair(study, kernels));
        let Some((group, result)) = group.and_then(|group| Some((group, group.policies.iter().find(|r| r.policy == policy)?))) else {
            continue;
        };
        let alone = group.kernels.iter().filter_map(|name| study.kernels.iter().find(|kernel| kernel.name == *name));
        let mut bars: Vec<(Vec<String>, BTreeMap<&'static str, f64>)> =
            alone.map(|kernel| (vec![plain(&kernel.name).to_owned(), "alone".to_owned()], kernel.issue_slots.clone())).collect();
        let joint = group.kernels.iter().map(|kernel| plain(kernel)).collect::<Vec<_>>().join("+");
        let config = mias_lab::table::config(result.config.as_deref());
        bars.push((vec![joint.clone(), format!("together, {config}")], result.issue_slots.clone()));
        let label = format!("Stalls of {joint}, alone and together");
        let stacks = bars.iter().map(|(names, slots)| Stack { names: names.clone(), shares: stalls(slots) }).collect();
        let chart = Stacked { label: &label, y_label: "of issue slots", series: stall_series(), stacks, width: 0.56 * WIDTH };
        drawings.push((format!("({letter}) {joint}"), format!("Thesis: {says}."), chart.draw()));
        rows.extend(bars.into_iter().map(|(names, slots)| (format!("{letter}, {}", names.join(", ")), slots)));
    }
    if rows.is_empty() {
        return;
    }
    page.heading("Figure 4.3: stalls alone and together");
    page.figure(
        "Figure 4.3",
        &format!(
            "Stalls of both kernels alone and together under {policy}; (b) is the pair of memory-intensive kernels with its largest S."
        ),
        &stall_legend(),
        &panels(true, &drawings),
    );
    tables::slots(page, rows.iter().map(|(name, slots)| (name.clone(), slots)));
}

fn figure_4_4(page: &mut Page, study: &StudyResult) {
    let all = policies(study);
    page.heading("Figure 4.4: global mean speedup");
    let mut cluster = mean_cluster(study, summary::ALL, &all, "");
    (cluster.apart, cluster.names) = (false, Vec::new());
    page.figure(
        "Figure 4.4",
        "Mean S of each policy over all pairs; the marks are means over all pairs, too.",
        &marks(legend(&page.palette, &all), study),
        &Grouped {
            label: "Global mean speedup by policy",
            y_label: "mean speedup S",
            unit: Unit::Plain,
            series: series(&page.palette, &all),
            clusters: vec![cluster],
            one: true,
            numbers: true,
        }
        .draw(),
    );
    tables::beside_thesis(page, study);
}
