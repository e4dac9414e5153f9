//! Figures of an experiment in one setting, in a window: S of every group, S against S_null and
//! STP, regret, rank correlation, throughput, fairness, overhead.

use super::conditions::{ORACLE, briefly};
use super::figures;
use super::means::{self, QUARTILES, classes, classes_and_all, joined, policies, series};
use super::numbering::{Numbering, part};
use super::page::Page;
use super::palette::Palette;
use super::tables;
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Dot, Figure, Key, Panel, Plane, RATIO, Strip, Strips, Swatch, Unit};
use mias_lab::evaluate::results::{GroupResult, PolicyResult, StudyResult};
use mias_lab::evaluate::statistics::{arithmetic, quartiles};
use mias_lab::evaluate::summary;

/// Draws the figures that correspond to the thesis': every kernel alone, every group.
pub(super) fn basics(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    page.heading("Speedup of every group");
    page.paragraph("Bars are the speedup S: the sum of the IPCs over the mean of the IPCs alone. The dotted line across a group is the score of running only its fastest kernel; a bar below it shows no gain in S.");
    let figure = numbering.next();
    for (number, class) in classes(study).into_iter().enumerate() {
        figures::by_group(page, study, class, &part(&figure, number), &briefly(study));
    }
    page.heading("Breakdown of issue slots");
    figures::stalls_alone(page, study, &numbering.next(), &briefly(study));
    if study.kernels.iter().any(|kernel| !kernel.curve.is_empty()) {
        page.heading("IPC over time");
        figures::over_time(page, study, &numbering.next(), &briefly(study), None);
    }
}

/// Draws figures and tables that the thesis does not have.
pub(super) fn beyond(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    planes(page, numbering, study);
    regrets(page, numbering, study);
    correlations(page, numbering, study);
    fairness(page, numbering, study);
    overheads(page, numbering, study);
    page.heading("Means by class and policy");
    tables::means(page, study);
}

/// Returns the index of a group's class in the study, which selects the filling of its dots.
fn class_of(study: &StudyResult, group: &GroupResult) -> usize {
    classes(study).iter().position(|class| *class == group.class).unwrap_or_default()
}

fn with_classes(key: Key, study: &StudyResult) -> Key {
    let of = |key: Key, (number, class): (usize, &str)| key.with(Swatch::Dot(Palette::class(number)), class);
    classes(study).into_iter().enumerate().fold(key, of)
}

/// Function that returns the coordinates of a policy's run of a group, if defined.
type Place<'a> = &'a dyn Fn(&GroupResult, &PolicyResult) -> Option<(f64, f64)>;

/// Returns a dot per group and policy of `of`. Policies of a group at the same coordinates share a
/// dot, without any policy's color and shape.
fn dots(palette: &Palette, study: &StudyResult, of: &[&'static str], at: Place<'_>) -> Vec<Dot> {
    let mut dots = Vec::new();
    for group in &study.groups {
        let mut places: Vec<((f64, f64), Vec<&'static str>)> = Vec::new();
        for result in group.policies.iter().filter(|result| of.contains(&result.policy)) {
            let Some(place) = at(group, result) else { continue };
            match places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, names)) => names.push(result.policy),
                None => places.push((place, vec![result.policy])),
            }
        }
        for (at, names) in places {
            let class = class_of(study, group);
            let marker = if let [one] = names[..] { palette.marker(one, class) } else { Palette::shared(class) };
            dots.push(Dot { at, marker, group: joined(group), series: names.join(", ") });
        }
    }
    dots
}

/// Counts the policy runs of groups for which a predicate holds, among all with coordinates.
fn count(study: &StudyResult, of: &[&'static str], at: Place<'_>, holds: fn((f64, f64)) -> bool) -> (usize, usize) {
    let runs = study.groups.iter().flat_map(|group| group.policies.iter().map(move |result| (group, result)));
    let places: Vec<(f64, f64)> =
        runs.filter(|(_, result)| of.contains(&result.policy)).filter_map(|(group, result)| at(group, result)).collect();
    (places.iter().filter(|place| holds(**place)).count(), places.len())
}

fn planes(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    // Left-over and null run one kernel: they are the lines themselves.
    let shown: Vec<&'static str> = policies(study).into_iter().filter(|policy| !["left-over", "null"].contains(policy)).collect();
    let s_null: Place<'_> = &|group, result| Some((group.s_null?, result.metrics.speedup?));
    let stp: Place<'_> = &|_, result| Some((result.metrics.stp?, result.metrics.speedup?));
    let (against_null, against_stp) = (dots(&page.palette, study, &shown, s_null), dots(&page.palette, study, &shown, stp));
    if against_null.is_empty() {
        return;
    }
    page.heading("Agreement of S with system throughput (STP)");
    page.paragraph("S weighs a kernel by its IPC, so that running only the fastest kernel scores S_null without any sharing. STP is the speedup over running the same work one kernel after the other: above 1, sharing increases throughput.");
    let (below, all) = count(study, &shown, s_null, |(s_null, s)| s < s_null);
    let (false_gains, _) = count(study, &shown, stp, |(stp, s)| s > 1.0 && stp < 1.0);
    let caption = format!(
        "Every group under every sharing policy, n = {all}; shape: policy, fill: class. S is below S_null in {below} runs; in {false_gains}, S is above 1 and STP below 1.{}",
        briefly(study)
    );
    let shared = against_null.iter().chain(&against_stp).any(|dot| dot.series.contains(", "));
    let palette = &page.palette;
    let key = shown.iter().fold(Key::default(), |key, name| key.with(Swatch::Dot(palette.marker(name, 0)), name));
    let key = if shared { key.with(Swatch::Dot(Palette::shared(0)), "several policies") } else { key };
    let plane = |label: &str, x_label: &str, diagonal: bool, dots| {
        let (label, x_label, y_label) = (label.to_owned(), x_label.to_owned(), "S".to_owned());
        Chart::Plane(Plane { label, x_label, y_label, diagonal, ones: !diagonal, dots })
    };
    let panel = |title: &str, words: &str, chart| Panel { title: title.to_owned(), words: words.to_owned(), chart };
    let key = with_classes(key, study);
    let panels = vec![
        panel(
            "S against S_null",
            "Below the line: the fastest kernel alone has a higher score.",
            plane("S against S_null", "S_null", true, against_null),
        ),
        panel("S against STP", "Top left: a gain in S with a loss in throughput.", plane("S against STP", "STP", false, against_stp)),
    ];
    page.figure(Figure { id: numbering.next(), caption, key, panels });
}

/// Accessor of a regret of a run.
type Regret = fn(&PolicyResult) -> Option<f64>;

/// Returns the dots of a regret by policy; policies without any are left out.
fn strips(page: &Page, study: &StudyResult, of: Regret) -> Vec<Strip> {
    let strip = |policy: &'static str| {
        let mut dots = dots(&page.palette, study, &[policy], &|_, result| Some((of(result)?, 0.0)));
        dots.iter_mut().for_each(|dot| dot.marker = Palette::class(dot.marker.filling));
        let values: Vec<f64> = dots.iter().map(|dot| dot.at.0).collect();
        let mean = arithmetic(&values).zip(quartiles(&values));
        (!dots.is_empty()).then(|| Strip { name: policy.to_owned(), dots, mean })
    };
    policies(study).into_iter().filter_map(strip).collect()
}

fn regrets(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    let decision: [(&str, Regret); 2] = [("S", |r| r.regret.s.filter(|_| !r.too_late)), ("STP", |r| r.regret.stp.filter(|_| !r.too_late))];
    let end_to_end: [(&str, Regret); 2] = [("S", |r| r.end_to_end_regret.s), ("STP", |r| r.end_to_end_regret.stp)];
    let panels = |page: &Page, kind: &str, of: [(&'static str, Regret); 2]| -> Vec<Panel> {
        let all = of.into_iter().map(|(objective, regret)| (objective, strips(page, study, regret)));
        let panel = |(objective, strips): (&str, Vec<Strip>)| Panel {
            title: format!("Regret in {objective}"),
            words: String::new(),
            chart: Chart::Strips(Strips {
                label: format!("{kind} in {objective}"),
                x_label: format!("regret in {objective}"),
                unit: Unit::Percent,
                strips,
            }),
        };
        all.filter(|(_, strips)| !strips.is_empty()).map(panel).collect()
    };
    let decision = panels(page, "Decision regret", decision);
    if decision.is_empty() {
        return;
    }
    page.heading("Regret of the decisions");
    const SHOWN: &str = "A dot per group, fill: class; below the dots, their mean and quartiles.";
    let caption = format!(
        "Decision regret: relative shortfall of a static run of the chosen configuration from the oracle, {ORACLE}. {SHOWN} Only policies that choose one configuration for all SMs within the run, and only groups in which the sweep includes it.{}",
        briefly(study)
    );
    let key = || with_classes(Key::default(), study);
    page.figure(Figure { id: numbering.next(), caption, key: key(), panels: decision });
    let end_to_end = panels(page, "End-to-end regret", end_to_end);
    if !end_to_end.is_empty() {
        // Left-over and spatial have an end-to-end regret too.
        let caption = format!(
            "End-to-end regret: the policy's own run, which pays for profiling, decision and transition, against the oracle run throughout. Negative if a policy exceeds every configuration of the sweep. {SHOWN}{}",
            briefly(study)
        );
        page.figure(Figure { id: numbering.next(), caption, key: key(), panels: end_to_end });
    }
}

fn correlations(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    let all: Vec<&'static str> = policies(study)
        .into_iter()
        .filter(|policy| summary::find(&study.summary, summary::ALL, policy).is_some_and(|row| row.gamma.s.is_some()))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("Rank correlation of metrics with measured results");
    let cluster = |class: &str, of_stp: bool| {
        let gamma = |policy: &&'static str| {
            let gamma = summary::find(&study.summary, class, policy)?.gamma;
            if of_stp { gamma.stp } else { gamma.s }.map(Bar::new)
        };
        let names = vec![class.to_owned(), means::count(study, class)];
        Cluster { names, bars: all.iter().map(gamma).collect(), marks: Vec::new(), apart: class == summary::ALL }
    };
    let panel = |objective: &str, of_stp: bool| {
        let chart = Bars {
            label: format!("Rank correlation of scores and {objective}"),
            y_label: format!("gamma, by {objective}"),
            unit: RATIO,
            series: series(&page.palette, &all),
            clusters: classes_and_all(study).into_iter().map(|class| cluster(class, of_stp)).collect(),
            one: false,
            numbers: false,
        };
        Panel { title: format!("By {objective}"), words: String::new(), chart: Chart::Bars(chart) }
    };
    let panels = vec![panel("S", false), panel("STP", true)];
    let caption = format!(
        "Over all pairs of configurations of the same kernels: pairs that a policy's scores order as their static runs do, minus pairs in reverse order, over the sum of both (Goodman and Kruskal's gamma; 1: same order, 0: chance). One number for the n groups of a class, so without a spread.{}",
        briefly(study)
    );
    let key = means::key(&page.palette, &all);
    page.figure(Figure { id: numbering.next(), caption, key, panels });
    tables::correlations(page, study);
}

fn fairness(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    let all = policies(study);
    page.heading("Throughput and fairness");
    let chart = |label: &str, y_label: &str, quantity: &'static str, one: bool| {
        let (label, y_label) = (label.to_owned(), y_label.to_owned());
        let clusters = means::by_class(study, &all, quantity);
        Bars { label, y_label, unit: RATIO, series: series(&page.palette, &all), clusters, one, numbers: false }
    };
    let throughput = chart("Mean STP by class", "mean STP", "stp", true);
    let fairness = chart("Mean fairness by class", "mean fairness", "fairness", false);
    let clusters: Vec<Cluster> = throughput.clusters.iter().chain(&fairness.clusters).cloned().collect();
    let caption = format!(
        "Means over the n groups of a class, {QUARTILES}. Above: STP; 1 equals running one kernel after the other. Below: fairness, the smallest over the largest normalized IPC; 0 if a kernel made no progress.{}{}",
        means::explained(&clusters),
        briefly(study)
    );
    let key = means::marks(means::key(&page.palette, &all), &clusters);
    let panels = [throughput, fairness].into_iter().map(|chart| Panel::untitled(Chart::Bars(chart))).collect();
    page.figure(Figure { id: numbering.next(), caption, key, panels });
}

fn overheads(page: &mut Page, numbering: &mut Numbering, study: &StudyResult) {
    let all: Vec<&'static str> = policies(study)
        .into_iter()
        .filter(|policy| {
            let row = summary::find(&study.summary, summary::ALL, policy);
            let mean = |quantity: &str| row.and_then(|row| row.means.get(quantity)?.arithmetic);
            mean("profile_cycles").is_some_and(|cycles| cycles > 0.0) && mean("overhead").is_some()
        })
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("Overhead of placing, profiling, decisions and transition");
    let chart = Bars {
        label: "Share of the window in placing, transition, profiling or deciding".to_owned(),
        y_label: "share of the window".to_owned(),
        unit: Unit::Percent,
        series: series(&page.palette, &all),
        clusters: means::by_class(study, &all, "overhead"),
        one: false,
        numbers: true,
    };
    let caption = format!(
        "Cycles until the first quotas took effect, of transitions between quotas, of profiling and of deciding, over the window: means over the n groups of a class, {QUARTILES}. After the first quotas take effect, TBs run during these cycles, but not in the chosen configuration.{}{}",
        means::explained(&chart.clusters),
        briefly(study)
    );
    let key = means::marks(means::key(&page.palette, &all), &chart.clusters);
    page.figure(Figure { id: numbering.next(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}
