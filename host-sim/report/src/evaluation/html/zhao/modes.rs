//! Figures 10 to 15: what each mode of classification-driven search changes over the even split, with the energy that SMs draw whatever they do and
//! without; and whom it calls memory-intensive while it runs.

use super::super::means::{self, joined, of, policies};
use super::super::page::Page;
use super::super::palette;
use super::paper::{self, Change, Changes};
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Figure, Key, Mark, Panel, RATIO, Series, Style, Swatch};
use mias_lab::evaluate::energy::EnergyResult;
use mias_lab::evaluate::results::{GroupResult, PolicyResult, StudyResult};
use mias_lab::evaluate::statistics::arithmetic;
use mias_lab::evaluate::types::measured;
use mias_lab::table::{DASH, number, percent};

/// What is searched, and what for.
pub(super) const SEARCH: &str = "cd-search";

/// What it is compared with.
pub(super) const EVEN: &str = "spatial";

/// What a search goes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Some kernels are memory-intensive: their SMs are for the others.
    Performance,
    /// All are: their SMs go without power.
    Power,
    /// None is: the split stays even.
    Even,
}

impl Mode {
    /// That of a run; none where nothing was told by its end.
    pub(super) fn of(result: &PolicyResult) -> Option<Mode> {
        let told = &result.search.as_ref()?.memory_intensive;
        let memory = told.iter().filter(|memory| **memory).count();
        (!told.is_empty()).then_some(match memory {
            0 => Mode::Even,
            _ if memory == told.len() => Mode::Power,
            _ => Mode::Performance,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Performance => "performance",
            Mode::Power => "power",
            Mode::Even => "none",
        }
    }
}

/// What a search changes in a group: STP and power over those of the even split, and the even split's ANTT over its own.
#[derive(Clone, Copy, Debug)]
struct Changed {
    stp: Option<f64>,
    antt: Option<f64>,
    power: Option<f64>,
}

impl Changed {
    fn of(group: &GroupResult, policy: &str) -> Option<Changed> {
        let (even, new) = (of(group, EVEN)?, of(group, policy)?);
        let over = |new: Option<f64>, old: Option<f64>| Some(new? / old.filter(|old| *old > 0.0)?);
        Some(Changed {
            stp: over(new.metrics.stp, even.metrics.stp),
            antt: over(even.metrics.antt, new.metrics.antt),
            power: over(new.energy_joules, even.energy_joules),
        })
    }
}

/// One of its numbers, here and in the paper.
#[derive(Clone, Copy, Debug)]
struct Quantity {
    label: &'static str,
    here: fn(&Changed) -> Option<f64>,
    paper: fn(&Changes) -> Option<Change>,
}

const STP: Quantity = Quantity { label: "STP over the even split", here: |changed| changed.stp, paper: |said| said.stp };
const ANTT: Quantity = Quantity { label: "ANTT of the even split over it", here: |changed| changed.antt, paper: |said| said.antt };
const POWER: Quantity = Quantity { label: "power over the even split", here: |changed| changed.power, paper: |said| said.power };

/// What the paper says of a quantity of an experiment in a mode.
fn paper_says(experiment: &str, mode: Mode, quantity: Quantity) -> Option<Change> {
    let said = paper::said(experiment)?;
    match mode {
        Mode::Performance => (quantity.paper)(&said.performance),
        Mode::Power => (quantity.paper)(&said.power),
        Mode::Even => None,
    }
}

/// The groups that `SEARCH` takes for a mode, and what it changes there.
fn of_mode(study: &StudyResult, mode: Mode) -> Vec<(&GroupResult, Changed)> {
    let groups = study.groups.iter().filter(|group| of(group, SEARCH).and_then(Mode::of) == Some(mode));
    groups.filter_map(|group| Some((group, Changed::of(group, SEARCH)?))).collect()
}

fn values(changed: &[(&GroupResult, Changed)], quantity: Quantity) -> Vec<f64> {
    changed.iter().filter_map(|(_, changed)| (quantity.here)(changed)).collect()
}

/// As a ratio, as the paper's percentages are of it.
fn ratio(change: Option<Change>) -> Option<f64> {
    Some(1.0 + change?.mean / 100.0)
}

/// Of the one series.
const STYLE: Style = palette::ONE;

/// The mean over some groups, with the paper's diamond.
fn mean(names: Vec<String>, values: &[f64], paper: Option<f64>) -> Option<Cluster> {
    let bar = means::mean(values)?;
    let marks = paper.map(|value| Mark::Paper(0, value)).into_iter().collect();
    Some(Cluster { names, bars: vec![Some(bar)], marks, apart: true })
}

fn bars(Quantity { label, .. }: Quantity, clusters: Vec<Cluster>, numbers: bool) -> Bars {
    let series = vec![Series { name: SEARCH.to_owned(), style: STYLE }];
    Bars { label: label.to_owned(), y_label: label.to_owned(), unit: RATIO, series, clusters, one: true, numbers }
}

fn key() -> Key {
    Key::default().with(Swatch::Bar(STYLE), SEARCH).with(Swatch::Quartiles, "quartiles").with(Swatch::Thesis, "paper")
}

/// Every group of a mode in ascending order, and their mean.
fn figure(page: &mut Page, id: &str, study: &StudyResult, mode: Mode, quantities: &[Quantity], says: &str) {
    let changed = of_mode(study, mode);
    if changed.is_empty() {
        return;
    }
    let panel = |&quantity: &Quantity| {
        let mut sorted: Vec<(&GroupResult, f64)> =
            changed.iter().filter_map(|(group, changed)| Some((*group, (quantity.here)(changed)?))).collect();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        let cluster = |&(group, value): &(&GroupResult, f64)| Cluster {
            names: vec![joined(group)],
            bars: vec![Some(Bar::new(value))],
            marks: Vec::new(),
            apart: false,
        };
        let all = mean(
            vec!["mean".to_owned(), format!("n = {}", sorted.len())],
            &values(&changed, quantity),
            ratio(paper_says("pairs", mode, quantity)),
        );
        Panel::untitled(Chart::Bars(bars(quantity, sorted.iter().map(cluster).chain(all).collect(), false)))
    };
    let caption = format!("What {SEARCH} changes in the {} mode, group by group.{says}", mode.name());
    page.figure(Figure { id: id.to_owned(), caption, key: key(), panels: quantities.iter().map(panel).collect() });
}

/// Figures 10 to 12.
pub(super) fn figures(page: &mut Page, study: &StudyResult) {
    page.heading("Figure 10: the performance mode");
    let says = " The paper: STP by 10.4 % in the mean, from -2.1 to 62.9 %, ANTT by 22 %, at most 199 %.";
    figure(page, "10", study, Mode::Performance, &[STP, ANTT], says);
    page.heading("Figures 11 and 12: the power mode");
    let says = " The paper: STP by 2.2 % in the mean, from -10.3 to 28.3 %, ANTT by 2.8 %.";
    figure(page, "11", study, Mode::Power, &[STP, ANTT], says);
    let says = " The paper: power by -25 % in the mean, at most -41.2 %; half of the SMs are gated.";
    figure(page, "12", study, Mode::Power, &[POWER], says);
    rows_of_states(page, study);
}

/// How many SMs a search leaves with power.
fn rows_of_states(page: &mut Page, study: &StudyResult) {
    let row = |group: &GroupResult| {
        let result = of(group, SEARCH)?;
        let (states, search) = (result.sm_states?, result.search.as_ref()?);
        let all = (states.active + states.stalled + states.gated + states.waking) as f64;
        let share = |cycles: u64| percent((all > 0.0).then(|| cycles as f64 / all));
        Some(vec![
            joined(group),
            search.windows.to_string(),
            if search.done { "yes" } else { "no" }.to_owned(),
            share(states.active),
            share(states.stalled),
            share(states.gated),
        ])
    };
    let rows: Vec<Vec<String>> = study.groups.iter().filter_map(row).collect();
    page.table(&["group", "windows measured", "came to its end", "SM cycles active", "stalled", "gated"], &rows, false);
}

/// Whom each variant called memory-intensive while it ran, against the measured types.
pub(super) fn told(page: &mut Page, study: &StudyResult, alone: &[&StudyResult]) {
    let typed = measured(alone);
    let memory = |name: &str| typed.iter().find(|kernel| kernel.alone.name == name).map(mias_lab::evaluate::types::Typed::memory);
    let row = |policy: &'static str| {
        let mut confusion = [[0usize; 2]; 2];
        let (mut groups, mut wrong) = (0, 0);
        for group in &study.groups {
            let Some(search) = of(group, policy).and_then(|result| result.search.as_ref()) else { continue };
            let both: Vec<(bool, bool)> =
                group.kernels.iter().zip(&search.memory_intensive).filter_map(|(name, told)| Some((memory(name)?, *told))).collect();
            if both.len() == group.kernels.len() {
                groups += 1;
                wrong += usize::from(both.iter().any(|(measured, told)| measured != told));
                both.iter().for_each(|&(measured, told)| confusion[usize::from(measured)][usize::from(told)] += 1);
            }
        }
        let [[cc, cm], [mc, mm]] = confusion.map(|counts| counts.map(|count| count.to_string()));
        (groups > 0).then(|| vec![policy.to_owned(), cc, cm, mc, mm, format!("{wrong} of {groups}")])
    };
    let rows: Vec<Vec<String>> = policies(study).into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Whom they call memory-intensive");
    page.table(&["policy", "C told C", "C told M", "M told C", "M told M", "groups with a wrong kernel"], &rows, false);
    page.note("Kernels in groups, by their measured types: what the firmware said beside whoever ran with it. The paper: none wrong.");
}

/// Figures 13 to 15, and all numbers of both modes.
pub(super) fn changes(page: &mut Page, studies: &[&StudyResult]) {
    let of_name = |name: &str| {
        let mut all = studies.iter().copied().filter(|study| study.experiment == name);
        let first = all.clone().next();
        all.find(|study| study.latency == "off").or(first)
    };
    type Machines = [(&'static str, &'static str)];
    let figures: [(&str, &str, &Machines); 3] = [
        ("13", "bandwidth", &[("bandwidth-75", "75 %"), ("pairs", "100 %"), ("bandwidth-125", "125 %"), ("bandwidth-150", "150 %")]),
        ("14", "number of SMs", &[("pairs", "24 SMs"), ("sms-30", "30 SMs")]),
        ("15", "number of kernels", &[("pairs", "two"), ("four", "four")]),
    ];
    page.section("Other machines, and more kernels");
    for (number, what, machines) in figures {
        let known: Vec<(&StudyResult, &str)> = machines.iter().filter_map(|(name, label)| Some((of_name(name)?, *label))).collect();
        if known.len() < 2 {
            continue;
        }
        page.heading(&format!("Figure {number}: {what}"));
        for (letter, mode, quantities) in [('a', Mode::Performance, [STP, ANTT]), ('b', Mode::Power, [STP, POWER])] {
            let panels = quantities.into_iter().filter_map(|quantity| {
                let cluster = |(study, label): &(&StudyResult, &str)| {
                    let values = values(&of_mode(study, mode), quantity);
                    let said = ratio(paper_says(&study.experiment, mode, quantity));
                    mean(vec![(*label).to_owned(), format!("n = {}", values.len())], &values, said)
                };
                let clusters: Vec<Cluster> = known.iter().filter_map(cluster).collect();
                (!clusters.is_empty()).then(|| Panel::untitled(Chart::Bars(bars(quantity, clusters, true))))
            });
            let caption = format!("Means over the groups that {SEARCH} takes for the {} mode.", mode.name());
            let panels: Vec<Panel> = panels.collect();
            if panels.is_empty() {
                continue;
            }
            page.figure(Figure { id: format!("{number}{letter}"), caption, key: key(), panels });
        }
    }
    table(page, studies);
}

fn table(page: &mut Page, studies: &[&StudyResult]) {
    let mut rows = Vec::new();
    for study in studies.iter().filter(|study| study.groups.iter().any(|group| of(group, SEARCH).is_some() && of(group, EVEN).is_some())) {
        for mode in [Mode::Performance, Mode::Power, Mode::Even] {
            let changed = of_mode(study, mode);
            if changed.is_empty() {
                continue;
            }
            let mut row = vec![study.experiment.clone(), study.latency.to_owned(), mode.name().to_owned(), changed.len().to_string()];
            for quantity in [STP, ANTT, POWER] {
                row.push(said_as(paper_says(&study.experiment, mode, quantity)));
                row.push(here(&values(&changed, quantity)));
            }
            rows.push(row);
        }
    }
    page.heading("Both modes, all machines");
    let headings =
        ["experiment", "latency", "mode", "n", "STP, paper", "STP, here", "ANTT, paper", "ANTT, here", "power, paper", "power, here"];
    page.table(&headings, &rows, true);
    page.note("Over the even split: the mean over the groups for which the mode was chosen, with the least and the most in brackets. ANTT: the old over the new less 1; power: negative is less. Latency: whether decisions take their time.");
}

/// What of the energy SMs draw whatever they do, and what a mode changes with that and without.
pub(super) fn energy(page: &mut Page, study: &StudyResult) {
    let row = |mode: Mode| {
        let both: Vec<(EnergyResult, EnergyResult)> = of_mode(study, mode)
            .into_iter()
            .filter_map(|(group, _)| Some((of(group, EVEN)?.energy?, of(group, SEARCH)?.energy?)))
            .collect();
        let mean = |of: fn(&(EnergyResult, EnergyResult)) -> Option<f64>| arithmetic(&both.iter().filter_map(of).collect::<Vec<_>>());
        let cells = [
            percent(mean(|(even, _)| Some(even.leakage_share))),
            percent(mean(|(even, _)| Some(even.clock_share))),
            number(mean(|(even, new)| Some(new.average_watts / even.average_watts)), 3),
            number(mean(|(even, new)| Some(new.without_leakage_watts() / even.without_leakage_watts())), 3),
            number(mean(|(even, new)| Some(new.energy_delay_watts? / even.energy_delay_watts?)), 3),
            number(mean(|(even, new)| Some(new.energy_delay_without_leakage_watts? / even.energy_delay_without_leakage_watts?)), 3),
        ];
        (!both.is_empty()).then(|| [mode.name().to_owned(), both.len().to_string()].into_iter().chain(cells).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<String>> = [Mode::Performance, Mode::Power, Mode::Even].into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Energy, with leakage and without");
    let headings =
        ["mode", "n", "leakage, even split", "clocks", "power over even", "without leakage", "energy x delay over even", "without leakage"];
    page.table(&headings, &rows, true);
    page.note(&format!("Means over the groups for which {SEARCH} chose the mode. Leakage and clocks: shares of the energy on the even split that SMs draw whatever they do. Energy times delay for the same work: power over the square of STP."));
}

/// A change with its least and most, in percent.
fn said_as(change: Option<Change>) -> String {
    let Some(change) = change else { return DASH.to_owned() };
    let end = |end: Option<f64>| end.map_or_else(|| DASH.to_owned(), |end| format!("{end:+.1}"));
    format!("{:+.1} ({} to {})", change.mean, end(change.least), end(change.most))
}

fn here(values: &[f64]) -> String {
    let change = |ratio: f64| 100.0 * (ratio - 1.0);
    let mean = arithmetic(values).map(|mean| Change {
        mean: change(mean),
        least: values.iter().copied().map(change).reduce(f64::min),
        most: values.iter().copied().map(change).reduce(f64::max),
    });
    said_as(mean)
}
