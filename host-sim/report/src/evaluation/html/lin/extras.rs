//! Figure 12: speed-up by so many extra TBs throughout.

use super::super::page::Page;
use super::super::palette;
use super::used::named;
use super::{paper, result, setting};
use crate::evaluation::figure::{Chart, Curve, Curves, Figure, Key, Panel};
use mias_lab::evaluate::results::{AloneResult, StudyResult};

const EXTRA: &str = "sm.contexts.extra";

/// A panel for each of the paper's levels.
pub(super) fn figure_12(page: &mut Page, alone: &StudyResult, extras: &[&StudyResult]) {
    // In another window the baseline would be another.
    let comparable: Vec<(f64, &StudyResult)> = extras
        .iter()
        .filter(|study| study.cycles == alone.cycles)
        .filter_map(|study| Some((setting(study, EXTRA)?.parse().ok()?, *study)))
        .collect();
    let level = |kernel: &AloneResult| paper::find(&super::super::means::plain(&kernel.name)).and_then(|known| known.level);
    let curve = |(at, kernel): (usize, &AloneResult)| {
        let point = |(extra, study): &(f64, &StudyResult)| {
            let with = result(study, &kernel.name)?;
            // More than there is room for changes nothing.
            let bound = f64::from(with.contexts.as_ref()?.bound);
            (kernel.ipc > 0.0 && *extra <= bound).then(|| (*extra, with.ipc / kernel.ipc))
        };
        let mut points: Vec<(f64, f64)> = std::iter::once((0.0, 1.0)).chain(comparable.iter().filter_map(point)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (marker, dash) = palette::curve(at);
        Curve { name: named(kernel), dash, marker, points }
    };
    let panel = |wanted: &str| {
        let kernels = alone.kernels.iter().filter(|kernel| level(kernel) == Some(wanted));
        let curves: Vec<Curve> = kernels.enumerate().map(curve).filter(|curve| curve.points.len() > 1).collect();
        let chart = Curves {
            label: format!("Speed-up by extra TBs, kernels that the paper calls {wanted}"),
            x: ("extra TBs of an SM at most".to_owned(), ""),
            y: ("speed-up".to_owned(), ""),
            band: None,
            curves,
        };
        (!chart.curves.is_empty()).then(|| Panel {
            title: format!("{wanted} in the paper"),
            words: String::new(),
            chart: Chart::Curves(chart),
        })
    };
    let panels: Vec<Panel> = ["underutilised", "moderate", "saturated"].into_iter().filter_map(panel).collect();
    if panels.is_empty() {
        return;
    }
    page.heading("Figure 12: given numbers of extra thread blocks");
    let caption = "IPC with so many extra TBs at most over that with none, as far as there is room. The paper: the underutilised gain with every TB, MM is best at 3, SPMV only loses, KM loses 26 %.".to_owned();
    page.figure(Figure { id: "12".to_owned(), caption, key: Key::default(), panels });
}
