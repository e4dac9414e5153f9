//! Table 1 and figures 6, 7 and 9: the kernels alone; and who tells their types.

use super::super::means::plain;
use super::super::page::Page;
use super::super::palette;
use super::paper::{KERNELS, WRONG_BY_UTILISATION};
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Curve, Curves, Figure, Key, Panel, RATIO, Series, Unit};
use mias_lab::evaluate::off_sm::OffSm;
use mias_lab::evaluate::results::{AloneResult, StudyResult};
use mias_lab::evaluate::types::{SATURATED_BELOW, judge, measured, sms};
use mias_lab::table::{DASH, number, percent};

/// The paper's type of a kernel.
pub(super) fn paper_type(name: &str) -> Option<char> {
    KERNELS.iter().find(|known| known.0 == plain(name)).map(|known| known.2)
}

/// The kernels, their types there and here, and what they ask of the chip.
pub(super) fn table_1(page: &mut Page, studies: &[&StudyResult]) {
    let typed = measured(studies);
    let row = |kernel: &mias_lab::evaluate::types::Typed<'_>| {
        let name = plain(&kernel.alone.name).into_owned();
        let known = KERNELS.iter().find(|known| known.0 == name);
        let off_sm = kernel.alone.off_sm.unwrap_or_default();
        vec![
            name,
            known.map_or_else(|| DASH.to_owned(), |known| known.1.to_owned()),
            known.map_or_else(|| DASH.to_owned(), |known| known.2.to_string()),
            if kernel.memory() { "M" } else { "C" }.to_owned(),
            number(Some(kernel.ratio), 2),
            number(off_sm.demand_over_supply, 2),
            percent(off_sm.dram_utilization),
        ]
    };
    let rows: Vec<Vec<String>> = typed.iter().map(row).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Table 1: the kernels");
    let headings =
        ["kernel", "grid, paper", "type, paper", "type, here", "IPC on all SMs over half", "demand over supply", "DRAM utilisation"];
    page.table(&headings, &rows, false);
    page.note(&format!(
        "Type here: M where all SMs make less than {SATURATED_BELOW} times what half of them make, the memory system as it is; a rule that was stated before anything was measured. Demand over supply: equation 1 over equation 2, all SMs counted; above 1 the model says M."
    ));
}

/// Bandwidth utilisation, L2 miss rate and APKI of each kernel.
pub(super) fn figure_6(page: &mut Page, studies: &[&StudyResult]) {
    let Some(study) = studies.iter().max_by_key(|study| sms(study)) else { return };
    let known: Vec<(&AloneResult, OffSm)> = study.kernels.iter().filter_map(|kernel| Some((kernel, kernel.off_sm?))).collect();
    if known.is_empty() {
        return;
    }
    type Of = fn(&OffSm) -> Option<f64>;
    let parts: [(&str, &str, Unit, Of); 3] = [
        ("(a) DRAM bandwidth used", "share of what DRAM moves at most", Unit::Percent, |off| off.dram_utilization),
        ("(b) misses of the L2", "misses over accesses", Unit::Percent, |off| off.l2_miss_rate),
        ("(c) APKI of the L2", "accesses in a thousand warp instructions", RATIO, |off| off.l2_accesses_per_kiloinst),
    ];
    let panel = |(title, y_label, unit, of): (&str, &str, Unit, Of)| {
        let cluster = |(kernel, off): &(&AloneResult, OffSm)| Cluster {
            names: vec![plain(&kernel.name).into_owned(), paper_type(&kernel.name).map_or_else(String::new, String::from)],
            bars: vec![of(off).map(Bar::new)],
            marks: Vec::new(),
            apart: false,
        };
        let chart = Bars {
            label: format!("{title} by each kernel alone"),
            y_label: y_label.to_owned(),
            unit,
            series: vec![Series { name: y_label.to_owned(), style: palette::ONE }],
            clusters: known.iter().map(cluster).collect(),
            one: false,
            numbers: false,
        };
        Panel { title: title.to_owned(), words: String::new(), chart: Chart::Bars(chart) }
    };
    page.heading("Figure 6: what the kernels do to memory");
    let caption = "Each kernel alone on all SMs, with the paper's type under its name. The paper: utilisation does not tell the types apart; MERGE, which computes, uses 13.3 % of the bandwidth, LAVAMD, which is limited by memory, next to nothing.".to_owned();
    page.figure(Figure { id: "6".to_owned(), caption, key: Key::default(), panels: parts.map(panel).into() });
}

/// IPC over SMs, of those that compute and of those that memory limits by the paper.
pub(super) fn figure_7(page: &mut Page, studies: &[&StudyResult], id: &str, heading: &str) {
    let mut by_sms: Vec<(u32, &StudyResult)> = studies.iter().filter_map(|study| Some((sms(study)?, *study))).collect();
    by_sms.sort_by_key(|(count, _)| *count);
    let Some((_, most)) = by_sms.last() else { return };
    if by_sms.len() < 2 {
        return;
    }
    let curve = |(at, kernel): (usize, &AloneResult)| {
        let ipc = |study: &StudyResult| study.kernels.iter().find(|other| other.name == kernel.name).map(|other| other.ipc);
        let points = by_sms.iter().filter_map(|(count, study)| Some((f64::from(*count), ipc(study)? / kernel.ipc))).collect();
        let (marker, dash) = palette::curve(at);
        Curve { name: plain(&kernel.name).into_owned(), dash, marker, points }
    };
    let panel = |title: &str, class: char| {
        let kernels = most.kernels.iter().filter(|kernel| kernel.ipc > 0.0 && paper_type(&kernel.name) == Some(class));
        let chart = Curves {
            label: format!("IPC over SMs, {title}"),
            x: ("SMs".to_owned(), ""),
            y: ("IPC over that on all SMs".to_owned(), ""),
            band: None,
            curves: kernels.enumerate().map(curve).collect(),
        };
        Panel { title: title.to_owned(), words: String::new(), chart: Chart::Curves(chart) }
    };
    let panels = vec![panel("(a) compute-intensive in the paper", 'C'), panel("(b) memory-intensive in the paper", 'M')];
    page.heading(&format!("Figure {heading}"));
    let caption =
        "IPC of each kernel alone over the SMs that it has, the memory system as it is. The paper: linear in (a), saturating in (b)."
            .to_owned();
    page.figure(Figure { id: id.to_owned(), caption, key: Key::default(), panels });
}

/// Who tells the measured types.
pub(super) fn classifiers(page: &mut Page, studies: &[&StudyResult]) {
    let judged = judge(&measured(studies));
    let rows: Vec<Vec<String>> = judged
        .iter()
        .map(|judged| {
            let [[cc, cm], [mc, mm]] = judged.confusion;
            let (pairs, wrong) = judged.pairs();
            let threshold = percent(judged.threshold);
            let counts = [cc, cm, mc, mm].map(|count| count.to_string());
            [judged.classifier.to_owned(), threshold]
                .into_iter()
                .chain(counts)
                .chain([format!("{} of {}", judged.right(), judged.kernels()), format!("{wrong} of {pairs}")])
                .collect()
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Who tells the types");
    let headings = ["classifier", "threshold", "C told C", "C told M", "M told C", "M told M", "right", "pairs with a wrong kernel"];
    page.table(&headings, &rows, false);
    page.note(&format!(
        "Against the measured types, from counters of the kernels alone. Half of the SMs: half of the demand. The paper: the model has no pair wrong, utilisation with the best threshold {} of {}.",
        WRONG_BY_UTILISATION.0, WRONG_BY_UTILISATION.1
    ));
}
