//! What the thesis did not show: S against S_null and STP, regret, rank correlation, overhead, fairness.

use super::bars::{Cluster, Grouped, WIDTH};
use super::figures::{CLASSES, legend, plain, policies, series};
use super::late;
use super::page::{Legend, Page, panels};
use super::palette::{INK, Palette};
use super::points::{self, Dot, Plane, Strip};
use super::svg::Unit;
use super::tables;
use maud::html;
use mias_lab::evaluate::results::{GroupResult, PolicyResult, StudyResult};
use mias_lab::evaluate::summary;

/// Figures and tables of a study of pairs in a window.
pub(super) fn draw(page: &mut Page, study: &StudyResult) {
    planes(page, study);
    regrets(page, study);
    correlations(page, study);
    fairness(page, study);
    overheads(page, study);
    page.heading("All means");
    tables::means(page, study);
}

/// Place of a class among the shapes of dots.
fn shape(group: &GroupResult) -> usize {
    CLASSES.iter().position(|(class, _, _)| *class == group.class).unwrap_or_default()
}

fn with_shapes(legend: Legend) -> Legend {
    CLASSES.iter().enumerate().fold(legend, |legend, (number, (class, _, _))| legend.drawing(&points::shape(number), class))
}

/// Where a policy's run of a group stands; none if it has no place.
type Place<'a> = &'a dyn Fn(&GroupResult, &PolicyResult) -> Option<(f64, f64)>;

/// A dot per group and policy of `of`. Policies of a group that came to the same place share a dot, in the colour of none.
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
        let kernels: Vec<&str> = group.kernels.iter().map(|kernel| plain(kernel)).collect();
        for ((x, y), names) in places {
            let title = format!("{}, {}: {x:.3}, {y:.3}", kernels.join("+"), names.join(", "));
            let colour = if let [one] = names[..] { palette.policy(one) } else { INK };
            dots.push(Dot { at: (x, y), colour, shape: shape(group), title });
        }
    }
    dots
}

/// Whether something holds for a policy's run of a group, over all that stand somewhere: how many, of how many.
fn count(study: &StudyResult, of: &[&'static str], at: Place<'_>, holds: fn((f64, f64)) -> bool) -> (usize, usize) {
    let runs = study.groups.iter().flat_map(|group| group.policies.iter().map(move |result| (group, result)));
    let places: Vec<(f64, f64)> =
        runs.filter(|(_, result)| of.contains(&result.policy)).filter_map(|(group, result)| at(group, result)).collect();
    (places.iter().filter(|place| holds(**place)).count(), places.len())
}

fn planes(page: &mut Page, study: &StudyResult) {
    // Left-over and null run one kernel: they are the lines themselves.
    let shown: Vec<&'static str> = policies(study).into_iter().filter(|policy| !["left-over", "null"].contains(policy)).collect();
    let s_null: Place<'_> = &|group, result| Some((group.s_null?, result.metrics.speedup?));
    let stp: Place<'_> = &|_, result| Some((result.metrics.stp?, result.metrics.speedup?));
    let (against_null, against_stp) = (dots(&page.palette, study, &shown, s_null), dots(&page.palette, study, &shown, stp));
    if against_null.is_empty() {
        return;
    }
    page.heading("Does S show what sharing gives?");
    page.paragraph("S weighs a kernel by its IPC, so that running only the faster kernel scores S_null without any sharing. STP is the speedup over running the same work one kernel after the other: above 1 sharing is worth it.");
    let width = 0.56 * WIDTH;
    let left = Plane { label: "S against S_null", x_label: "S_null", y_label: "S", diagonal: true, ones: false, width };
    let right = Plane { label: "S against STP", x_label: "STP", y_label: "S", diagonal: false, ones: true, width };
    let panel = |title: &str, words: &str, drawing| (title.to_owned(), words.to_owned(), drawing);
    let drawings = [
        panel("S against S_null", "Below the line: the faster kernel alone scores more.", points::plane(left, &against_null)),
        panel("S against STP", "Top left: a gain in S that is a loss in work done.", points::plane(right, &against_stp)),
    ];
    let (below, all) = count(study, &shown, s_null, |(s_null, s)| s < s_null);
    let (false_gains, _) = count(study, &shown, stp, |(stp, s)| s > 1.0 && stp < 1.0);
    page.figure(
        "Figure A",
        &format!("Every pair under every policy that shares. {below} of {all} runs score less S than their S_null; {false_gains} have S above 1 and STP below 1."),
        &with_shapes(legend(&page.palette, &shown).colour(INK, "the same for several")),
        &panels(true, &drawings),
    );
}

fn regrets(page: &mut Page, study: &StudyResult) {
    let all = policies(study);
    let strips = |of: fn(&PolicyResult) -> Option<f64>, quantity: &str| -> Vec<Strip> {
        let strip = |&policy: &&'static str| {
            let dots = dots(&page.palette, study, &[policy], &|_, result| Some((0.0, of(result)?)));
            let mean = summary::find(&study.summary, summary::ALL, policy)?.means.get(quantity)?.arithmetic;
            (!dots.is_empty()).then(|| Strip { name: policy.to_owned(), dots, mean })
        };
        all.iter().filter_map(strip).collect()
    };
    let decision = [
        ("S", strips(|r| r.regret.s.filter(|_| !r.too_late), "regret_s")),
        ("STP", strips(|r| r.regret.stp.filter(|_| !r.too_late), "regret_stp")),
    ];
    let end_to_end = [
        ("S", strips(|r| r.end_to_end_regret.s, "end_to_end_regret_s")),
        ("STP", strips(|r| r.end_to_end_regret.stp, "end_to_end_regret_stp")),
    ];
    if decision.iter().all(|(_, strips)| strips.is_empty()) {
        return;
    }
    page.heading("What a decision loses");
    // Side by side if names have room then.
    let half = 0.56 * WIDTH;
    let halves = decision.iter().all(|(_, strips)| points::names(strips, half).fit());
    let width = if halves { half } else { WIDTH };
    let panel = |(objective, strips): &(&str, Vec<Strip>)| {
        let drawing = points::strips(&format!("Regret in {objective}"), &format!("regret in {objective}"), Unit::Percent, width, strips);
        ((*objective).to_owned(), String::new(), drawing)
    };
    page.figure(
        "Figure B",
        "Decision regret: how much less a static run of the chosen configuration gives than the best of all configurations. A dot per pair, the line is the mean. Only policies that choose one configuration for all SMs, in time, and only pairs in which it is one of those that were run.",
        &with_shapes(Legend::default()),
        &panels(halves, &decision.iter().map(panel).collect::<Vec<_>>()),
    );
    if end_to_end.iter().any(|(_, strips)| !strips.is_empty()) {
        // Left-over and spatial have an end-to-end regret too.
        let drawing = |(objective, strips): &(&str, Vec<Strip>)| {
            let label = format!("End-to-end regret in {objective}");
            points::strips(&label, &format!("regret in {objective}"), Unit::Percent, WIDTH, strips)
        };
        page.figure(
            "Figure C",
            "End-to-end regret: the policy's own run, which pays for profiling, decision and transition, against the best configuration run throughout. Negative where a policy does what no configuration of the sweep does. Above: S, below: STP.",
            &with_shapes(Legend::default()),
            &html! { @for strips in &end_to_end { (drawing(strips)) } },
        );
    }
}

fn correlations(page: &mut Page, study: &StudyResult) {
    let all: Vec<&'static str> = policies(study)
        .into_iter()
        .filter(|policy| summary::find(&study.summary, summary::ALL, policy).is_some_and(|row| row.gamma.s.is_some()))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("Do the metrics rank configurations as they turn out?");
    let cluster = |class: &str, name: &str, of_stp: bool| {
        let gamma = |policy: &&'static str| {
            let gamma = summary::find(&study.summary, class, policy)?.gamma;
            if of_stp { gamma.stp } else { gamma.s }
        };
        let values = all.iter().map(gamma).collect();
        Cluster { names: vec![name.to_owned()], note: String::new(), values, marks: Vec::new(), apart: class == summary::ALL }
    };
    let classes = || {
        CLASSES
            .iter()
            .map(|(class, _, _)| *class)
            .filter(|class| study.groups.iter().any(|group| group.class == *class))
            .chain([summary::ALL])
    };
    let mut clusters: Vec<Cluster> = classes().map(|class| cluster(class, &format!("{class}, S"), false)).collect();
    let by_stp = clusters.len();
    clusters.extend(classes().map(|class| cluster(class, &format!("{class}, STP"), true)));
    clusters[by_stp].apart = true;
    let chart = Grouped {
        label: "Rank correlation of scores and outcomes",
        y_label: "gamma",
        unit: Unit::Plain,
        series: series(&page.palette, &all),
        clusters,
        one: false,
        numbers: false,
    };
    page.figure(
        "Figure D",
        "Of all pairs of configurations of the same kernels: those that a policy's scores order as static runs of them turn out, less those ordered the other way, over both (Goodman and Kruskal's gamma; 1 is the same order, 0 is chance). Left: by S, right: by STP.",
        &legend(&page.palette, &all),
        &chart.draw(),
    );
    tables::correlations(page, study);
}

/// Means of a quantity by class, as bars.
fn by_class(study: &StudyResult, names: &[&'static str], quantity: &'static str) -> Vec<Cluster> {
    let classes = CLASSES.iter().map(|(class, _, _)| *class).filter(|class| study.groups.iter().any(|group| group.class == *class));
    let value = |class: &str, policy: &str| summary::find(&study.summary, class, policy)?.means.get(quantity)?.arithmetic;
    classes
        .chain([summary::ALL])
        .map(|class| Cluster {
            names: vec![class.to_owned()],
            note: String::new(),
            values: names.iter().map(|policy| value(class, policy)).collect(),
            marks: late::of_means(study, class, names, quantity),
            apart: class == summary::ALL,
        })
        .collect()
}

fn fairness(page: &mut Page, study: &StudyResult) {
    let all = policies(study);
    page.heading("Throughput and fairness");
    let chart = |label: &str, y_label: &str, quantity: &'static str, one: bool| {
        Grouped {
            label,
            y_label,
            unit: Unit::Plain,
            series: series(&page.palette, &all),
            clusters: by_class(study, &all, quantity),
            one,
            numbers: false,
        }
        .draw()
    };
    let throughput = chart("Mean STP by class", "mean STP", "stp", true);
    let fairness = chart("Mean fairness by class", "mean fairness", "fairness", false);
    page.figure(
        "Figure E",
        "Above: mean STP; 1 is what running one kernel after the other gives. Below: mean fairness, the smaller over the larger normalised IPC; 0 where a kernel made no progress.",
        &late::legend(legend(&page.palette, &all), &[study]),
        &html! { (throughput) (fairness) },
    );
}

fn overheads(page: &mut Page, study: &StudyResult) {
    let all: Vec<&'static str> = policies(study)
        .into_iter()
        .filter(|policy| {
            let row = summary::find(&study.summary, summary::ALL, policy);
            row.and_then(|row| row.means.get("profile_cycles")?.arithmetic).is_some_and(|cycles| cycles > 0.0)
        })
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("What profiling, decisions and transition take");
    let chart = Grouped {
        label: "Share of the window in transition, profiling or deciding",
        y_label: "of the window",
        unit: Unit::Percent,
        series: series(&page.palette, &all),
        clusters: by_class(study, &all, "overhead"),
        one: false,
        numbers: true,
    };
    page.figure(
        "Figure F",
        "Cycles in which SMs were on their way to new quotas, cycles of profiling and cycles of deciding, over the window. TBs run meanwhile, but not in the configuration chosen.",
        &late::legend(legend(&page.palette, &all), &[study]),
        &chart.draw(),
    );
}
