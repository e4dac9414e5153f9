//! Requests for room: deadlines missed, instructions lost, draining and techniques, as Shieh 2016 shows them in its figures 4.1 to 4.5, with its
//! numbers where its text gives them.

mod paper;
mod storage;
mod table;

use super::conditions;
use super::means::plain;
use super::page::Page;
use super::palette;
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Figure, Key, Mark, Panel, Series, Stack, Stacks, Swatch, Unit};
use mias_lab::evaluate::blocks::Published;
use mias_lab::evaluate::requests::{ALL, RequestsResult};
use mias_lab::evaluate::results::StudyResult;
use mias_lab::table::{DASH, grouped};

/// A quantity of a row.
type Quantity = fn(&RequestsResult) -> Option<f64>;

/// In the order of [`RequestsResult::victims`].
const TECHNIQUES: [&str; 3] = ["drained", "flushed", "switched"];

/// Name of what was before a request.
const BEFORE: &str = "before";

/// All figures and tables of the experiments with requests. Figures have the paper's numbers, those of the second experiment and of its
/// second setting with its name and number before them.
pub(super) fn draw(page: &mut Page, studies: &[StudyResult], published: &Published) {
    let mut asked: Vec<&str> = Vec::new();
    for study in studies.iter().filter(|study| !study.requests.is_empty()) {
        if asked.contains(&study.experiment.as_str()) {
            continue;
        }
        let settings: Vec<&StudyResult> = studies.iter().filter(|other| other.experiment == study.experiment).collect();
        let name = if asked.is_empty() { String::new() } else { format!("{}, ", study.experiment) };
        experiment(page, &settings, &name, published);
        asked.push(&study.experiment);
    }
    if !asked.is_empty() {
        page.section("What preemption stores");
        storage::table(page);
    }
}

fn experiment(page: &mut Page, settings: &[&StudyResult], name: &str, published: &Published) {
    for (number, study) in settings.iter().enumerate() {
        page.section(&titled(study));
        page.note(&ran(study));
        page.paragraph("A request: an urgent kernel arrives while another runs, and others have to leave. It misses its deadline if it ends later than the limit and its time alone after the moment at which its TBs might issue. All schemes and limits see the same requests, each on a copy of the same run.");
        let strictest = study.requests.iter().map(|row| row.limit_cycles).min().unwrap_or_default();
        let setting = if number == 0 { String::new() } else { format!("setting {number}, ") };
        let id = |figure: &str| format!("{name}{setting}4.{figure}");
        let figures: [(&str, Shown); 5] = [
            ("1", Shown { violations: true, ..Shown::of("Deadlines missed", "requests that missed", |row| Some(row.violations)) }),
            ("1 (room)", Shown::of("PlacementTimes later than the limit", "room late", |row| Some(row.late))),
            ("2", Shown::of("Error of draining estimates", "error of the estimate", |row| row.drain_error)),
            ("3", Shown::of("Instructions lost, over flushing all victims", "lost over flushing", |row| row.overhead)),
            (
                "4",
                Shown {
                    before: Some(|row| Some(row.registers_before)),
                    ..Shown::of("Registers held until all TBs are there", "registers held", |row| row.registers)
                },
            ),
        ];
        for (figure, shown) in figures {
            by_kernel(page, (study, published), strictest, &id(figure), &shown);
        }
        by_limit(page, (study, published), &id("5"));
        techniques(page, study, &id("5 (c)"));
        table::means(page, study, published);
    }
}

/// What ran where, and how.
fn ran(study: &StudyResult) -> String {
    let kernels: Vec<&str> = study.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let count = study.requests.iter().find(|row| row.kernel != ALL).map_or(0, |row| row.requests);
    let setting = conditions::setting(study);
    let setting = if setting.is_empty() { setting } else { format!(" One of several settings: {setting}.") };
    let time = match study.latency {
        "off" => "choosing victims takes no time".to_owned(),
        latency => format!("choosing victims takes its time (latency {latency})"),
    };
    let cycles = study.cycles.map_or_else(|| DASH.to_owned(), grouped);
    format!(
        "Kernels {} on {}; windows of {cycles} core cycles, {count} requests of the last kernel of each group in each; {time}.{setting}",
        kernels.join(", "),
        study.gpu
    )
}

fn titled(study: &StudyResult) -> String {
    let setting = conditions::setting(study);
    if setting.is_empty() { study.title.clone() } else { format!("{}: {setting}", study.title) }
}

/// Schemes in the order of the rows.
fn schemes(study: &StudyResult) -> Vec<&str> {
    let mut schemes: Vec<&str> = Vec::new();
    for row in &study.requests {
        if !schemes.contains(&row.scheme.as_str()) {
            schemes.push(&row.scheme);
        }
    }
    schemes
}

fn find<'s>(study: &'s StudyResult, kernel: &str, scheme: &str, limit_cycles: u64) -> Option<&'s RequestsResult> {
    study.requests.iter().find(|row| row.kernel == kernel && row.scheme == scheme && row.limit_cycles == limit_cycles)
}

fn series(study: &StudyResult) -> Vec<Series> {
    let style = |number| palette::curve(number).0.style;
    schemes(study).into_iter().enumerate().map(|(number, scheme)| Series { name: scheme.to_owned(), style: style(number) }).collect()
}

fn key(study: &StudyResult) -> Key {
    series(study).into_iter().fold(Key::default(), |key, series| key.with(Swatch::Bar(series.style), &series.name))
}

fn bar(row: &RequestsResult, value: f64, interval: bool) -> Bar {
    Bar { interval: row.violations_interval.filter(|_| interval).map(|[low, high]| (low, high)), ..Bar::new(value) }
}

/// A quantity of each kernel.
struct Shown {
    label: &'static str,
    y_label: &'static str,
    value: Quantity,
    /// It is the share of deadlines that were missed: with its interval, and the paper's.
    violations: bool,
    /// What it was before anybody had to leave, whatever the scheme.
    before: Option<Quantity>,
}

impl Shown {
    fn of(label: &'static str, y_label: &'static str, value: Quantity) -> Self {
        Shown { label, y_label, value, violations: false, before: None }
    }
}

fn by_kernel(page: &mut Page, (study, published): (&StudyResult, &Published), limit: u64, id: &str, shown: &Shown) {
    let Shown { label, y_label, value, violations, before } = *shown;
    let mut kernels: Vec<&str> = Vec::new();
    for row in &study.requests {
        if !kernels.contains(&row.kernel.as_str()) {
            kernels.push(&row.kernel);
        }
    }
    let (schemes, of_paper) = (schemes(study), !published.is_empty());
    let cluster = |kernel: &&str| {
        let of = |scheme: &&str| {
            let row = find(study, kernel, scheme, limit)?;
            Some(bar(row, value(row)?, violations))
        };
        let said = schemes.iter().enumerate().filter(|_| *kernel == ALL && violations && of_paper);
        let marks = said.filter_map(|(at, scheme)| Some(Mark::Paper(at, paper::violations(published, scheme, limit)?)));
        let before = before.map(|before| {
            let row = study.requests.iter().find(|row| row.kernel == *kernel)?;
            Some(bar(row, before(row)?, false))
        });
        Cluster {
            names: vec![plain(kernel).into_owned()],
            bars: schemes.iter().map(of).chain(before).collect(),
            marks: marks.collect(),
            apart: *kernel == ALL,
        }
    };
    let clusters: Vec<Cluster> = kernels.iter().map(cluster).collect();
    if clusters.iter().all(|cluster| cluster.bars.iter().all(Option::is_none)) {
        return;
    }
    let whiskers = match (violations, of_paper) {
        (true, true) => "; whiskers are intervals of 95 %, diamonds Shieh 2016",
        (true, false) => "; whiskers are intervals of 95 %",
        (false, _) => "",
    };
    let says = if before.is_some() { ". Before: the most that was held when a request came" } else { "" };
    let caption = format!("{label}, limit {} cycles: each kernel, and the mean over all{whiskers}{says}.", grouped(limit));
    let (mut series, mut key) = (series(study), key(study));
    if clusters.iter().any(|cluster| !cluster.marks.is_empty()) {
        key = key.with(Swatch::Thesis, "Shieh 2016");
    }
    if before.is_some() {
        let style = palette::curve(series.len()).0.style;
        key = key.with(Swatch::Bar(style), BEFORE);
        series.push(Series { name: BEFORE.to_owned(), style });
    }
    let (label, y_label) = (label.to_owned(), y_label.to_owned());
    let chart = Bars { label: label.clone(), y_label, unit: Unit::Percent, series, clusters, one: false, numbers: false };
    page.heading(&label);
    page.figure(Figure { id: id.to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}

/// Shares of those that left, by technique, by scheme and limit: the paper's figure 4.5 (c).
fn techniques(page: &mut Page, study: &StudyResult, id: &str) {
    let series =
        || TECHNIQUES.iter().enumerate().map(|(number, name)| Series { name: (*name).to_owned(), style: palette::curve(number).0.style });
    let stack = |row: &RequestsResult| {
        let all: u64 = row.victims.iter().sum();
        let shares = row.victims.map(|victims| victims as f64 / all as f64).to_vec();
        (all > 0).then(|| Stack { names: vec![row.scheme.clone(), grouped(row.limit_cycles)], shares })
    };
    let stacks: Vec<Stack> = study.requests.iter().filter(|row| row.kernel == ALL).filter_map(stack).collect();
    if stacks.is_empty() {
        return;
    }
    let label = "Techniques";
    let chart = Stacks { label: label.to_owned(), y_label: "share of victims".to_owned(), series: series().collect(), stacks };
    let key = series().fold(Key::default(), |key, series| key.with(Swatch::Bar(series.style), &series.name));
    let caption = "Who left by which technique, of all victims of all kernels, by scheme and limit in cycles.".to_owned();
    page.heading(label);
    page.figure(Figure { id: id.to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Stacks(chart))] });
}

/// Violations and overhead over limits.
fn by_limit(page: &mut Page, (study, published): (&StudyResult, &Published), id: &str) {
    let mut limits: Vec<u64> = study.requests.iter().map(|row| row.limit_cycles).collect();
    limits.sort_unstable();
    limits.dedup();
    let (schemes, of_paper) = (schemes(study), !published.is_empty());
    let chart = |label: &str, value: Quantity, said: fn(&Published, &str, u64) -> Option<f64>, violations: bool| {
        let cluster = |limit: &u64| {
            let of = |scheme: &&str| {
                let row = find(study, ALL, scheme, *limit)?;
                Some(bar(row, value(row)?, violations))
            };
            let said = |(at, scheme): (usize, &&str)| Some(Mark::Paper(at, said(published, scheme, *limit)?));
            let marks = schemes.iter().enumerate().filter_map(said);
            Cluster {
                names: vec![format!("{} cycles", grouped(*limit))],
                bars: schemes.iter().map(of).collect(),
                marks: marks.collect(),
                apart: false,
            }
        };
        let (label, y_label) = (label.to_owned(), label.to_owned());
        let clusters = limits.iter().map(cluster).collect();
        Panel::untitled(Chart::Bars(Bars {
            label,
            y_label,
            unit: Unit::Percent,
            series: series(study),
            clusters,
            one: false,
            numbers: false,
        }))
    };
    let panels = vec![
        chart("requests that missed", |row| Some(row.violations), paper::violations, true),
        chart("lost over flushing", |row| row.overhead, paper::overhead, false),
    ];
    page.heading("Limits");
    let (key, diamonds) = match of_paper {
        true => (key(study).with(Swatch::Thesis, "Shieh 2016"), "; diamonds are Shieh 2016"),
        false => (key(study), ""),
    };
    let caption = format!("Means over all kernels by the limit; whiskers are intervals of 95 %{diamonds}.");
    page.figure(Figure { id: id.to_owned(), caption, key, panels });
}
