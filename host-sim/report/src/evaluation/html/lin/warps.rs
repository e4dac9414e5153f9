//! Figures 1 and 5: SPMV by how many of its warps are active, on narrow and wide wires.

use super::super::page::Page;
use super::super::palette;
use super::setting;
use crate::evaluation::figure::{Chart, Curve, Curves, Figure, Key, Panel};
use mias_lab::evaluate::results::{AloneResult, StudyResult};

/// Warp schedulers of an SM, each of which has the limit.
const SCHEDULERS: f64 = 4.0;

const WARPS: &str = "sm.active_warps.0";
const WIRES: &str = "interconnect.flit_bytes";

/// A quantity of a kernel alone.
type Quantity = (&'static str, fn(&AloneResult) -> Option<f64>);

const QUANTITIES: [Quantity; 4] = [
    ("IPC over the most", |kernel| Some(kernel.ipc)),
    ("L1 hit rate", |kernel| kernel.memory.as_ref()?.l1_miss_rate.map(|rate| 1.0 - rate)),
    ("L2 to SM, of what it sustains", |kernel| kernel.used.as_ref()?.replies),
    ("DRAM", |kernel| kernel.used.as_ref()?.dram),
];

/// Figure 1 is the narrowest wires of figure 5.
pub(super) fn figures(page: &mut Page, studies: &[&StudyResult]) {
    let mut widths: Vec<u32> = studies.iter().filter_map(|study| setting(study, WIRES)?.parse().ok()).collect();
    widths.sort_unstable();
    widths.dedup();
    let panels: Vec<Panel> = widths.iter().filter_map(|width| panel(studies, *width)).collect();
    let Some(first) = panels.first() else { return };
    let (key, first) = (Key::default(), first.clone());
    page.heading("Figures 1 and 5: SPMV by active warps");
    let caption = "IPC, L1 hit rate, use of the crossbar's replies and of DRAM by active warps of an SM, on the narrowest wires. The paper: IPC is best at 16 warps, and falls when the crossbar is full and hits are lost.".to_owned();
    page.figure(Figure { id: "1".to_owned(), caption, key: key.clone(), panels: vec![first] });
    let caption = "The same on all widths. The paper: 16, 32 and 64 bytes, of which the widest lose nothing by more warps.".to_owned();
    page.figure(Figure { id: "5".to_owned(), caption, key, panels });
}

fn panel(studies: &[&StudyResult], width: u32) -> Option<Panel> {
    let on = studies.iter().filter(|study| setting(study, WIRES).and_then(|value| value.parse().ok()) == Some(width));
    let mut points: Vec<(f64, &AloneResult)> =
        on.filter_map(|study| Some((SCHEDULERS * setting(study, WARPS)?.parse::<f64>().ok()?, study.kernels.first()?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let most = points.iter().map(|(_, kernel)| kernel.ipc).fold(0.0, f64::max);
    if points.len() < 2 || most <= 0.0 {
        return None;
    }
    let curve = |(at, (name, of)): (usize, &Quantity)| {
        let scale = if at == 0 { most } else { 1.0 };
        let (marker, dash) = palette::curve(at);
        let points = points.iter().filter_map(|(warps, kernel)| Some((*warps, of(kernel)? / scale))).collect();
        Curve { name: (*name).to_owned(), dash, marker, points }
    };
    let chart = Curves {
        label: format!("SPMV by active warps on wires of {width} bytes"),
        x: ("active warps of an SM".to_owned(), ""),
        y: ("share".to_owned(), ""),
        band: None,
        curves: QUANTITIES.iter().enumerate().map(curve).collect(),
    };
    let title = format!("{width} bytes, {most:.1} IPC at most");
    Some(Panel { title, words: String::new(), chart: Chart::Curves(chart) })
}
