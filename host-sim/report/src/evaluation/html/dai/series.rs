//! Figures 6 and 8: L1 accesses and warp instructions of bp and sv, alone and together, as execution goes on.

use super::super::means::{self, plain};
use super::super::page::Page;
use super::super::palette;
use super::paper::{self, BP_BESIDE_SV};
use super::schemes::present;
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Curve, Curves, Figure, Key, Mark, Panel, RATIO, Swatch};
use mias_lab::evaluate::memory::SeriesResult;
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::table::grouped;

/// A series of each kernel.
type Of = fn(&SeriesResult) -> &Vec<Vec<u64>>;

/// What a chart of series counts.
struct Counted {
    of: Of,
    y: &'static str,
    sms: f64,
}

/// SMs of the machine that a study's name says, by its file and what the plan changes.
fn sms(study: &StudyResult) -> f64 {
    let changed = study.gpu.split(' ').find_map(|part| part.strip_prefix("sm.count=")?.parse().ok());
    let of_file = || Some(f64::from(mias_lab::gpus::load(study.gpu.split(' ').next()?).ok()?.sm.count));
    changed.or_else(of_file).unwrap_or(1.0)
}

/// Curves of the kernels of a run, per SM and stretch.
fn chart(label: &str, names: &[String], series: &SeriesResult, counted: &Counted) -> Chart {
    let curve = |(number, (name, stretches)): (usize, (&String, &Vec<u64>))| {
        let (marker, dash) = palette::curve(number);
        let at = |place: usize| (place as u64 + 1) as f64 * series.every_cycles as f64 / 1e3;
        let points = stretches.iter().enumerate().map(|(place, count)| (at(place), *count as f64 / counted.sms)).collect();
        Curve { name: plain(name).into_owned(), dash, marker, points }
    };
    Chart::Curves(Curves {
        label: label.to_owned(),
        x: ("time".to_owned(), "thousand core cycles"),
        y: (counted.y.to_owned(), ""),
        band: None,
        curves: names.iter().zip((counted.of)(series)).enumerate().map(curve).collect(),
    })
}

/// The mean of a kernel's series, over the stretches in which it did something.
fn mean(series: &SeriesResult, of: Of, kernel: usize, sms: f64) -> Option<f64> {
    let busy: Vec<f64> = of(series).get(kernel)?.iter().filter(|count| **count > 0).map(|count| *count as f64 / sms).collect();
    mias_lab::evaluate::statistics::arithmetic(&busy)
}

fn pair(study: &StudyResult) -> Option<&GroupResult> {
    paper::group(study, &["bp", "sv"])
}

/// L1 accesses of bp and sv alone and together.
pub(super) fn figure_6(page: &mut Page, study: &StudyResult) {
    let counted = Counted { of: |series| &series.l1_accesses, y: "L1 accesses of an SM in a stretch", sms: sms(study) };
    let (mut panels, mut means_of) = (Vec::new(), Vec::new());
    let mut every = 0;
    for (letter, name) in [("a", "bp"), ("b", "sv")] {
        let Some(kernel) = study.kernels.iter().find(|kernel| plain(&kernel.name) == name) else { continue };
        let Some(series) = &kernel.series else { continue };
        every = series.every_cycles;
        means_of.extend(mean(series, counted.of, 0, counted.sms).map(|mean| format!("{name} alone {mean:.0}")));
        let title = format!("({letter}) {name} alone");
        let chart = chart(&title, std::slice::from_ref(&kernel.name), series, &counted);
        panels.push(Panel { title, words: String::new(), chart });
    }
    let together = pair(study).and_then(|group| Some((group, means::of(group, "warped-slicer")?.series.as_ref()?)));
    if let Some((group, series)) = together {
        for (at, name) in group.kernels.iter().enumerate() {
            let mean = mean(series, counted.of, at, counted.sms);
            means_of.extend(mean.map(|mean| format!("{} beside the other {mean:.0}", plain(name))));
        }
        let title = "(c) both, Warped-Slicer".to_owned();
        let chart = chart(&title, &group.kernels, series, &counted);
        panels.push(Panel { title, words: String::new(), chart });
    }
    if panels.is_empty() {
        return;
    }
    page.heading("Figure 6: L1 accesses over time");
    let caption = format!(
        "Accesses of an SM's L1 in stretches of {} cycles, in the mean over SMs. Means over stretches with any: {}. The paper: around 130 of either alone; beside sv, bp has around 70.",
        grouped(every),
        means_of.join(", ")
    );
    page.figure(Figure { id: "6".to_owned(), caption, key: Key::default(), panels });
}

/// Warp instructions of both under WS, RBMI and QBMI, and their normalised IPC.
pub(super) fn figure_8(page: &mut Page, study: &StudyResult) {
    let Some(group) = pair(study) else { return };
    let shown = present(study, &["warped-slicer", "warped-slicer+rbmi", "warped-slicer+qbmi", "warped-slicer+dmil"]);
    let counted = Counted { of: |series| &series.warp_insts, y: "warp instructions of an SM in a stretch", sms: sms(study) };
    let mut panels = Vec::new();
    for (policy, letter) in shown.iter().zip(["a", "b", "c", "also"]) {
        let Some(series) = means::of(group, policy).and_then(|result| result.series.as_ref()) else { continue };
        let title = format!("({letter}) {policy}");
        let chart = chart(&title, &group.kernels, series, &counted);
        panels.push(Panel { title, words: String::new(), chart });
    }
    if panels.is_empty() {
        return;
    }
    page.heading("Figure 8: warp instructions over time");
    let caption = "Warp instructions that an SM issues in a stretch, in the mean over SMs. The paper: bp issues more under RBMI than under WS, and more under QBMI.".to_owned();
    page.figure(Figure { id: "8".to_owned(), caption, key: Key::default(), panels });
    let cluster = |(at, name): (usize, &String)| {
        let bar = |policy: &&str| (*means::of(group, policy)?.normalized_ipc.get(at)?).map(Bar::new);
        let said = |(place, policy): (usize, &&str)| {
            let known = BP_BESIDE_SV.iter().find(|(known, _)| known == policy && plain(name) == "bp")?;
            Some(Mark::Paper(place, known.1))
        };
        Cluster {
            names: vec![plain(name).into_owned()],
            bars: shown.iter().map(bar).collect(),
            marks: shown.iter().enumerate().filter_map(said).collect(),
            apart: false,
        }
    };
    let chart = Bars {
        label: "Normalised IPC of bp and sv together".to_owned(),
        y_label: "IPC over alone".to_owned(),
        unit: RATIO,
        series: means::series(&page.palette, &shown),
        clusters: group.kernels.iter().enumerate().map(cluster).collect(),
        one: true,
        numbers: true,
    };
    let key = means::key(&page.palette, &shown).with(Swatch::Thesis, "paper");
    let caption = "IPC of either beside the other, over alone. Diamonds: what the paper gives for bp.".to_owned();
    page.figure(Figure { id: "8d".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}
