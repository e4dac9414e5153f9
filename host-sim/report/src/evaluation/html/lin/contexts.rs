//! Figures 6 and 13 to 15: what twice the contexts bring, virtual thread blocks and two-level context switching, how many TBs they hold, and what ports do.

use super::super::means::{self, plain};
use super::super::page::Page;
use super::super::palette::{self, GREY, SKY, VERMILLION};
use super::paper::{self, BY_PORT, DUET, TLP};
use super::used::named;
use super::{result, setting};
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Figure, Mark, Panel, RATIO, Swatch};
use mias_lab::evaluate::results::{AloneResult, StudyResult};
use mias_lab::evaluate::statistics::geometric;

const MECHANISM: &str = "sm.contexts.mechanism";
const PORT: &str = "sm.contexts.bytes_per_cycle";

const COLOURS: [&str; 3] = [GREY, SKY, VERMILLION];

/// What is compared with the machine as it is: its name, and the runs under it.
struct Compared<'s> {
    name: String,
    study: &'s StudyResult,
}

/// Not saturated, here: the ten of the paper's means are those of its own levels.
fn is_unsaturated(kernel: &AloneResult) -> bool {
    paper::find(&plain(&kernel.name)).is_some_and(|known| known.level.is_some_and(|level| level != "saturated"))
}

/// A figure of a number over the baseline's: every kernel, the mean over the ten of the paper's means, and over all.
fn figure(
    page: &mut Page,
    (id, heading, label): (&str, &str, &str),
    alone: &StudyResult,
    compared: &[Compared<'_>],
    of: &dyn Fn(&AloneResult, &AloneResult) -> Option<f64>,
    paper: &dyn Fn(&str) -> Option<f64>,
    caption: String,
) {
    let over = |kernel: &AloneResult, compared: &Compared<'_>| of(kernel, result(compared.study, &kernel.name)?);
    let kernels: Vec<&AloneResult> =
        alone.kernels.iter().filter(|kernel| compared.iter().any(|compared| over(kernel, compared).is_some())).collect();
    if kernels.is_empty() {
        return;
    }
    let mut clusters: Vec<Cluster> = Vec::new();
    for kernel in &kernels {
        let bars = compared.iter().map(|compared| over(kernel, compared).map(Bar::new)).collect();
        clusters.push(Cluster { names: vec![named(kernel)], bars, marks: Vec::new(), apart: false });
    }
    let mut mean = |name: &str, members: &[&AloneResult], said: bool| {
        let bar = |compared: &Compared<'_>| {
            let values: Vec<f64> = members.iter().filter_map(|kernel| over(kernel, compared)).collect();
            means::of_mean(geometric(&values), &values)
        };
        let marks = compared.iter().enumerate().filter(|_| said);
        let marks = marks.filter_map(|(at, compared)| Some(Mark::Paper(at, paper(&compared.name)?))).collect();
        let names = vec![name.to_owned(), format!("n = {}", members.len())];
        clusters.push(Cluster { names, bars: compared.iter().map(bar).collect(), marks, apart: true });
    };
    let ten: Vec<&AloneResult> = kernels.iter().copied().filter(|kernel| is_unsaturated(kernel)).collect();
    if !ten.is_empty() {
        mean("unsaturated there", &ten, true);
    }
    mean("all", &kernels, false);
    let (series, key) = means::named(compared.iter().map(|compared| compared.name.as_str()), |at| palette::of(&COLOURS, at));
    let marked = clusters.iter().any(|cluster| !cluster.marks.is_empty());
    let key = if marked { key.with(Swatch::Thesis, "paper") } else { key };
    let chart = Bars { label: label.to_owned(), y_label: label.to_owned(), unit: RATIO, series, clusters, one: true, numbers: false };
    page.heading(heading);
    page.figure(Figure { id: id.to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}

fn speedup(base: &AloneResult, with: &AloneResult) -> Option<f64> {
    (base.ipc > 0.0).then(|| with.ipc / base.ipc)
}

/// Most TBs of an SM over those that fit.
fn tlp(base: &AloneResult, with: &AloneResult) -> Option<f64> {
    let most = with.contexts.as_ref()?.counts.most_tbs;
    (base.max_tbs > 0).then(|| f64::from(most) / f64::from(base.max_tbs))
}

fn by<'s>(studies: &[&'s StudyResult], key: &str) -> Vec<Compared<'s>> {
    studies.iter().filter_map(|study| Some(Compared { name: setting(study, key)?.to_owned(), study })).collect()
}

/// Twice the registers, shared memory, warp slots and TB slots.
pub(super) fn figure_6(page: &mut Page, alone: &StudyResult, doubled: &[&StudyResult]) {
    let compared: Vec<Compared<'_>> = doubled.iter().map(|study| Compared { name: "twice the contexts".to_owned(), study }).collect();
    let caption = "IPC with twice the registers, shared memory, warp and TB slots over that of the machine; means are geometric. The paper: the underutilised gain most, SAD_1 little, KM loses.".to_owned();
    figure(page, ("6", "Figure 6: twice the contexts", "speed-up"), alone, &compared, &speedup, &|_| None, caption);
}

/// IPC under each technique.
pub(super) fn figure_13(page: &mut Page, alone: &StudyResult, techniques: &[&StudyResult]) {
    let caption = "IPC over that of the machine; means are geometric. Diamond: what the paper gives for its ten unsaturated kernels. The paper: GPUDuet gains 23 to 47 % with the underutilised, 7 to 25 % with MMS, CONV, MM and ST, and is 12 % ahead of Virtual Thread on fifteen kernels, 16 % on ten.".to_owned();
    let said = |name: &str| (name == "duet").then_some(DUET);
    let compared = by(techniques, MECHANISM);
    figure(page, ("13", "Figure 13: virtual thread blocks and context switching", "speed-up"), alone, &compared, &speedup, &said, caption);
}

/// The TBs that an SM holds at most.
pub(super) fn figure_14(page: &mut Page, alone: &StudyResult, techniques: &[&StudyResult]) {
    let caption =
        "Most TBs at a time on any SM over those that fit; means are geometric. Diamonds: the paper, 18 % with Virtual Thread and 70 % with GPUDuet over its ten.".to_owned();
    let said = |name: &str| TLP.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let compared = by(techniques, MECHANISM);
    figure(page, ("14", "Figure 14: thread blocks on an SM", "TBs over those that fit"), alone, &compared, &tlp, &said, caption);
}

/// Bytes of a context that move per cycle.
pub(super) fn figure_15(page: &mut Page, alone: &StudyResult, techniques: &[&StudyResult], ports: &[&StudyResult]) {
    let duet = techniques.iter().find(|study| setting(study, MECHANISM) == Some("duet"));
    let mut compared = by(ports, PORT);
    // In another window than `alone` a port's runs could not be compared with it.
    compared.retain(|compared| compared.study.cycles == alone.cycles);
    compared.extend(duet.map(|study| Compared { name: "128".to_owned(), study }));
    compared.sort_by_key(|compared| compared.name.parse::<u32>().unwrap_or_default());
    if compared.len() < 2 {
        return;
    }
    let said = |name: &str| {
        let bytes: u32 = name.parse().ok()?;
        BY_PORT.iter().find(|(known, _)| *known == bytes).map(|(_, value)| *value)
    };
    let caption = "IPC of GPUDuet over that of the machine by bytes of a context that move per cycle; means are geometric. Diamonds: the paper, for its ten.".to_owned();
    figure(page, ("15", "Figure 15: ports", "speed-up"), alone, &compared, &speedup, &said, caption);
}
