//! Static check of all figures of random evaluations, at the widths of a page and of a paper's columns: every text is within its drawing, and
//! no text is over another, in whichever font of those that drawings ask for. Marks, bars and lines are within their drawing, too.

mod dai;
pub(in crate::evaluation) mod decisions;
pub(in crate::evaluation) mod field;
mod lin;
pub(in crate::evaluation) mod stack;
mod zhao;

use super::drawing::{Drawing, Point, Text};
use super::{Figure, HALF_PAGE, PAGE, Size};
use crate::evaluation::html;
use mias_lab::evaluate::blocks::Report;
use mias_lab::evaluate::results::{
    AloneResult, ConfigurationResult, Evaluation, GroupResult, MetricValues, Objectives, OracleResult, PlanNote, PolicyResult, Ranking,
    SCHEMA_VERSION, StudyResult,
};
use mias_lab::evaluate::summary;
use mias_lab::experiment::policies::Policies;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a corner may be beyond an edge: numbers are written with two decimals.
const TOLERANCE: f64 = 0.01;

/// Whether two convex quadrilaterals overlap: no side of either parts them (separating axis theorem).
fn overlap(a: &[Point; 4], b: &[Point; 4]) -> bool {
    let parts = |one: &[Point; 4], other: &[Point; 4]| {
        (0..4).any(|at| {
            let ((x1, y1), (x2, y2)) = (one[at], one[(at + 1) % 4]);
            let (nx, ny) = (y2 - y1, x1 - x2);
            let length = nx.hypot(ny).max(1e-9);
            let along = |corners: &[Point; 4]| {
                let places = corners.map(|(x, y)| (x * nx + y * ny) / length);
                places.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| (low.min(place), high.max(place)))
            };
            let ((low, high), (other_low, other_high)) = (along(one), along(other));
            high <= other_low + TOLERANCE || other_high <= low + TOLERANCE
        })
    };
    !parts(a, b) && !parts(b, a)
}

/// What is wrong with a drawing; nothing, if nothing is.
fn faults(drawing: &Drawing) -> Vec<String> {
    let inside =
        |(x, y): Point| (-TOLERANCE..=drawing.width + TOLERANCE).contains(&x) && (-TOLERANCE..=drawing.height + TOLERANCE).contains(&y);
    let mut faults = Vec::new();
    let texts: Vec<(&Text, [Point; 4])> = drawing.texts().map(|text| (text, text.corners())).collect();
    let size = format!("{:.0} x {:.0}", drawing.width, drawing.height);
    for (at, (text, box_)) in texts.iter().enumerate() {
        if !box_.iter().all(|corner| inside(*corner)) {
            faults.push(format!("`{}` is not within {size}: {box_:.1?}", text.text));
        }
        for (other, other_box) in &texts[at + 1..] {
            if overlap(box_, other_box) {
                faults.push(format!("`{}` at {:.1?} and `{}` at {:.1?} overlap", text.text, text.at, other.text, other.at));
            }
        }
    }
    if let Some(corner) = drawing.corners().into_iter().find(|corner| !inside(*corner)) {
        faults.push(format!("{corner:.1?} is not within {size}"));
    }
    faults
}

/// The figure at every width that is in use.
fn drawn(figure: &Figure) -> Vec<Drawing> {
    let files =
        [(84.0, 8.0), (174.0, 8.0), (60.0, 8.0), (84.0, 6.0)].map(|(width_mm, text_pt)| figure.whole(Size { width_mm, text_pt }.units()));
    let page = figure.panels.iter().flat_map(|panel| [PAGE, HALF_PAGE].map(|width| panel.chart.draw(width)));
    files.into_iter().chain(page).collect()
}

/// All figures of an evaluation have names of their own and tables, and nothing in them is over an edge or over another; those `wanted` are among
/// them, and the page has these headings.
fn within_and_apart(evaluation: &Evaluation, wanted: &[&str], headings: &[&str]) -> Result<(), TestCaseError> {
    let figures = html::figures(evaluation);
    let ids: std::collections::BTreeSet<String> = figures.iter().map(Figure::anchor).collect();
    prop_assert_eq!(ids.len(), figures.len());
    for id in wanted {
        prop_assert!(ids.contains(&format!("figure-{id}")), "{id} of {ids:?}");
    }
    for figure in &figures {
        for drawing in drawn(figure) {
            let faults = faults(&drawing);
            prop_assert!(faults.is_empty(), "figure {}: {}", figure.id, faults.join("\n"));
        }
        prop_assert!(figure.csv().unwrap().lines().count() > 1, "{}", figure.id);
    }
    let page = html::render(evaluation);
    for heading in headings {
        prop_assert!(page.contains(heading), "{heading}");
    }
    Ok(())
}

/// What the report of a plan shows.
fn report(plan: &str) -> Report {
    mias_lab::evaluate::plan::load(plan, &Policies::default()).expect("a plan").report
}

/// A report of one block that needs nothing but its kind.
fn of_kind(kind: &str) -> Report {
    let block = toml::from_str(&format!("kind = {kind:?}")).expect("a block");
    Report { blocks: vec![block], ..Report::default() }
}

/// Names of policies, built in and a program's own.
const POLICIES: [&str; 14] = [
    "left-over",
    "spatial",
    "warped-slicer",
    "mias-ipc",
    "mias-ipm-ipc",
    "mias-factor",
    "mias-linear",
    "mias-stp",
    "mias-roofline",
    "mias-roofline+stp",
    "warped-slicer+sum",
    "smk",
    "coordinated",
    "a-policy-of-ones-own-with-a-long-name",
];

const KERNELS: [&str; 9] =
    ["bfs", "fwt", "blk", "mm:256", "nbdy:8192,systems=16", "bopt", "dxtc", "my-own/kernel_of_a_long_name.toml", "x#2"];

const CLASSES: [&str; 6] = ["CC", "MM", "MC", "MMC", "other", "CCC"];

/// The thesis' kernels, the memory-intensive ones first, and its pairs with their classes (sources.md D9).
const THESIS: [&str; 7] = ["bfs", "fwt", "blk", "mm", "nbdy", "bopt", "dxtc"];

fn thesis_pairs() -> Vec<([&'static str; 2], &'static str)> {
    let class = |a: usize, b: usize| {
        if b < 3 {
            "MM"
        } else if a < 3 {
            "MC"
        } else {
            "CC"
        }
    };
    (0..7).flat_map(|a| (a + 1..7).map(move |b| ([THESIS[a], THESIS[b]], class(a, b)))).collect()
}

/// A stream of numbers in [0, 1) from a seed: SplitMix64 (Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        ((self.next() * end as f64) as usize).min(end - 1)
    }

    /// None in one case of eight.
    fn maybe(&mut self, value: f64) -> Option<f64> {
        (self.below(8) > 0).then_some(value)
    }
}

fn slots(numbers: &mut Numbers) -> BTreeMap<&'static str, f64> {
    const NAMES: [&str; 9] = [
        "issued",
        "idle_or_control",
        "memory_raw",
        "shared_raw",
        "constant_raw",
        "compute_raw",
        "memory_pipeline",
        "both_pipelines",
        "compute_pipeline",
    ];
    let parts = NAMES.map(|name| (name, numbers.next().powi(3)));
    let sum: f64 = parts.iter().map(|(_, part)| part).sum();
    parts.into_iter().map(|(name, part)| (name, part / sum)).collect()
}

fn metrics(numbers: &mut Numbers, scale: f64) -> MetricValues {
    let (speedup, stp, antt, fairness) = (scale * numbers.next(), scale * numbers.next(), 10.0 * numbers.next(), numbers.next());
    MetricValues { speedup: numbers.maybe(speedup), stp: numbers.maybe(stp), antt: numbers.maybe(antt), fairness: numbers.maybe(fairness) }
}

fn policy(numbers: &mut Numbers, policy: &'static str, kernels: usize, scale: f64, in_window: bool) -> PolicyResult {
    let objectives = |numbers: &mut Numbers| {
        let (s, stp) = (1.2 * numbers.next() - 0.2, numbers.next());
        Objectives { s: numbers.maybe(s), stp: numbers.maybe(stp) }
    };
    let correlation = |numbers: &mut Numbers| 2.0 * numbers.next() - 1.0;
    let (kendall, spearman) = (correlation(numbers), correlation(numbers));
    let ranking = Ranking {
        scores: Vec::new(),
        kendall: Objectives { s: Some(kendall), stp: None },
        spearman: Objectives { s: Some(spearman), stp: None },
        concordant: Objectives { s: numbers.below(9) as u64, stp: numbers.below(9) as u64 },
        discordant: Objectives { s: numbers.below(9) as u64, stp: numbers.below(9) as u64 },
    };
    let done = |numbers: &mut Numbers| (!in_window).then(|| 0.5 + numbers.next());
    PolicyResult {
        policy,
        run: "0".into(),
        derived: policy == "left-over",
        config: Some(vec![1; kernels]),
        placement: Vec::new(),
        metrics: metrics(numbers, scale),
        latency: Vec::new(),
        half_widths: None,
        simulated_cycles: None,
        ipc: vec![1.0; kernels],
        normalized_ipc: vec![Some(numbers.next()); kernels],
        too_late: numbers.below(9) == 0,
        too_late_config: None,
        regret: objectives(numbers),
        end_to_end_regret: objectives(numbers),
        transition_cycles: 0,
        in_place: Some(1.0),
        sms_short_of_it: Some(0),
        profile_cycles: 20_000,
        overhead: Some(numbers.next()),
        thrown_away: None,
        placement_cycles: None,
        decision_cycles: None,
        decision_cycles_in_run: None,
        decision_cycle: None,
        ranking: (numbers.below(3) > 0).then_some(ranking),
        issue_slots: slots(numbers),
        energy_joules: None,
        energy: None,
        makespan_cycles: None,
        makespan_speedup_sequential: done(numbers),
        makespan_speedup_left_over: done(numbers),
        makespan_speedup_left_over_reversed: None,
        search: None,
        sm_states: None,
        memory: None,
        series: None,
    }
}

fn study(numbers: &mut Numbers, number: usize, in_window: bool, setting: usize) -> StudyResult {
    // One in three has the thesis' pairs, and so its figures.
    let pairs = if numbers.below(3) == 0 { thesis_pairs() } else { Vec::new() };
    let kernels = if pairs.is_empty() { KERNELS[..2 + numbers.below(KERNELS.len() - 1)].to_vec() } else { THESIS.to_vec() };
    let policies = &POLICIES[..1 + numbers.below(POLICIES.len())];
    let (in_group, classes) = (if pairs.is_empty() { 2 + numbers.below(2) } else { 2 }, 1 + numbers.below(CLASSES.len()));
    let count = if pairs.is_empty() { 1 + numbers.below(22) } else { pairs.len() };
    let scale = 10f64.powi(numbers.below(4) as i32 - 1);
    let groups: Vec<GroupResult> = (0..count)
        .map(|at| {
            let s_null = 1.0 + numbers.next();
            let oracle = |numbers: &mut Numbers| {
                Some(OracleResult { config: vec![1; in_group], value: scale * numbers.next(), half_width: None, rivals: 0 })
            };
            let oracle = Objectives { s: oracle(numbers), stp: oracle(numbers) };
            let configuration = ConfigurationResult {
                config: vec![1; in_group],
                run: "0".into(),
                metrics: metrics(numbers, scale),
                half_widths: None,
                simulated_cycles: None,
                ipc: vec![1.0; in_group],
                issue_slots: slots(numbers),
                energy_joules: None,
            };
            GroupResult {
                kernels: match pairs.get(at) {
                    Some((pair, _)) => pair.map(str::to_owned).to_vec(),
                    None => (0..in_group).map(|_| kernels[numbers.below(kernels.len())].to_owned()).collect(),
                },
                class: pairs.get(at).map_or_else(|| CLASSES[numbers.below(classes)], |(_, class)| class).into(),
                isolated_ipc: vec![1.0; in_group],
                s_null: numbers.maybe(s_null),
                sequential_cycles: None,
                oracle,
                configurations: vec![configuration],
                policies: policies.iter().map(|name| policy(numbers, name, in_group, scale, in_window)).collect(),
            }
        })
        .collect();
    let alone = |name: &&str| AloneResult {
        name: (*name).into(),
        trace_hash: String::new(),
        arrival_cycle: 0,
        run: "0".into(),
        max_tbs: 8,
        ipc: 1.0,
        ipc_half_width: None,
        simulated_cycles: None,
        cycles: 1,
        issue_slots: slots(numbers),
        energy_joules: None,
        energy: None,
        curve: (1..60).map(|at| (2_500 * at, 4000.0 * numbers.next())).collect(),
        scalability: Vec::new(),
        memory: None,
        asks: None,
        off_sm: None,
        used: None,
        contexts: None,
        series: None,
    };
    let kernels = kernels.iter().map(alone).collect();
    let summary = summary::rows(&groups, false);
    StudyResult {
        experiment: format!("e{number}"),
        title: "An experiment".into(),
        setting: if setting > 0 {
            vec![("profile-cycles".into(), (1000 * setting).to_string()), ("order".into(), "reversed".into())]
        } else {
            Vec::new()
        },
        gpu: "rtx2060 sm.count=10".into(),
        gpu_hash: String::new(),
        cycles: in_window.then_some(600_000),
        profile_cycles: 20_000,
        transition: "ideal",
        latency: "off",
        ipc_unit: "thread",
        relaunch: true,
        counted: None,
        arrive: 0,
        share_memory: false,
        warm_l2: false,
        precision: None,
        requests: Vec::new(),
        queue: Vec::new(),
        levels: None,
        kernels,
        groups,
        summary,
    }
}

/// Up to three experiments, one of them until done, one in several settings.
pub(in crate::evaluation) fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let mut studies = vec![study(&mut numbers, 0, true, 0)];
    if numbers.below(2) == 0 {
        studies.push(study(&mut numbers, 1, false, 0));
    }
    for setting in 1..=numbers.below(8) {
        studies.push(study(&mut numbers, 2, true, setting));
    }
    let plan = PlanNote { name: "p".into(), description: "a plan".into(), hash: "h".into(), report: Default::default() };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_is_over_another_and_all_is_within(seed: u64) {
        let figures = html::figures(&evaluation(seed));
        prop_assert!(figures.len() > 5);
        for figure in &figures {
            for drawing in drawn(figure) {
                let faults = faults(&drawing);
                prop_assert!(faults.is_empty(), "figure {}: {}", figure.id, faults.join("\n"));
            }
        }
    }

    /// Ids are ids: no two figures have one, on the page or in a list; and every figure has numbers.
    #[test]
    fn figures_have_numbers_of_their_own(seed: u64) {
        let figures = html::figures(&evaluation(seed));
        let ids: std::collections::BTreeSet<String> = figures.iter().map(Figure::anchor).collect();
        prop_assert_eq!(ids.len(), figures.len());
        for figure in &figures {
            let table = figure.csv().unwrap();
            let mut reader = csv::Reader::from_reader(table.as_bytes());
            prop_assert!(reader.headers().unwrap().iter().any(|heading| heading.ends_with(')')), "{}: {table}", figure.id);
            prop_assert!(reader.records().all(|record| record.is_ok()));
        }
    }
}

/// The check sees what it is to see.
#[test]
fn faults_are_found() {
    use super::drawing::Anchor;
    let mut drawing = Drawing::new(100.0, 40.0);
    drawing.text((50.0, 20.0), Anchor::Middle, "name", "one");
    assert_eq!(faults(&drawing).len(), 0);
    drawing.text((55.0, 24.0), Anchor::Middle, "name", "two");
    drawing.rising((60.0, 22.0), Anchor::Start, 60.0, "name", "three is long");
    drawing.text((2.0, 12.0), Anchor::Middle, "name", "edge");
    drawing.line((0.0, 0.0), (0.0, 41.0), "axis", "");
    let faults = faults(&drawing);
    for part in ["`one`", "`edge` ", "`three is long` ", "41.0) is not within"] {
        assert!(faults.iter().any(|fault| fault.contains(part)), "{part}: {faults:?}");
    }
}
