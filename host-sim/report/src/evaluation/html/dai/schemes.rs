//! Figures 5 and 11 to 14: what each scheme gives, by class, in the pairs of figure 5, and kernel by kernel.

use super::super::means;
use super::super::page::Page;
use super::bars::{self, ALU, ANTT, FAILS, FAIRNESS, MEANS, MISSES, Quantity, SHARES, SPEEDUP, STALLS};
use super::paper;
use crate::evaluation::figure::{Bars, Chart, Cluster, Figure, Key, Panel, RATIO, Swatch, Unit};
use mias_lab::evaluate::memory::KernelMemory;
use mias_lab::evaluate::results::{GroupResult, StudyResult};

/// No number of the paper's.
const NONE: &dyn Fn(&str) -> Option<f64> = &|_| None;

/// Those of `wanted` that the study has.
pub(super) fn present(study: &StudyResult, wanted: &[&'static str]) -> Vec<&'static str> {
    wanted.iter().copied().filter(|policy| means::policies(study).contains(policy)).collect()
}

fn key(page: &Page, policies: &[&'static str], clusters: &[Cluster]) -> Key {
    let key = means::marks(means::key(&page.palette, policies), clusters);
    let paper = clusters.iter().any(|cluster| !cluster.marks.is_empty());
    if paper { key.with(Swatch::Thesis, "paper") } else { key }
}

/// A figure of bars, with a note on whose the diamonds are.
fn figure(page: &mut Page, id: &str, caption: &str, policies: &[&'static str], (label, unit): (&str, Unit), clusters: Vec<Cluster>) {
    if clusters.iter().all(|cluster| cluster.bars.iter().all(Option::is_none)) {
        return;
    }
    let diamonds =
        if clusters.iter().any(|cluster| !cluster.marks.is_empty()) { " Diamonds: what the paper gives for all pairs." } else { "" };
    let key = key(page, policies, &clusters);
    let chart = Bars {
        label: label.to_owned(),
        y_label: label.to_owned(),
        unit,
        series: means::series(&page.palette, policies),
        clusters,
        one: [SPEEDUP.label, ANTT.label].contains(&label),
        numbers: false,
    };
    let caption = format!("{caption}{diamonds}");
    page.figure(Figure { id: id.to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}

/// Means by class.
fn by_class(page: &mut Page, id: &str, study: &StudyResult, policies: &[&'static str], quantity: Quantity, says: &str) {
    let paper: &dyn Fn(&str) -> Option<f64> = if quantity.name == "stp" && study.experiment == "pairs" { &paper::speedup } else { NONE };
    let clusters = bars::by_class(study, policies, quantity, paper);
    let (unit, of, how) = match quantity.name {
        "lsu_stall_share" | "alu_utilization" => (Unit::Percent, ", all kernels of a run together", SHARES),
        "l1_miss_rate" | "fails_per_access" => (RATIO, ", all kernels of a run together", SHARES),
        _ => (RATIO, "", MEANS),
    };
    let caption = format!("{}{of}, by class; {how}.{says}", capital(quantity.label));
    figure(page, id, &caption, policies, (quantity.label, unit), clusters);
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The pairs of figure 5 that the study has.
fn selected(study: &StudyResult) -> Vec<&GroupResult> {
    paper::FIGURE_5.iter().filter_map(|kernels| paper::group(study, kernels)).collect()
}

/// Weighted speedup by class and in the pairs of figure 5; miss rate and fails of their kernels.
fn three_parts(page: &mut Page, number: &str, study: &StudyResult, policies: &[&'static str], says: [&str; 3]) {
    let pairs = selected(study);
    let mut clusters = bars::by_class(study, policies, SPEEDUP, if number == "11" { &paper::speedup } else { NONE });
    clusters.extend(bars::of_groups(&pairs, policies));
    let caption = format!("Weighted speedup by class ({MEANS}), and of single pairs.{}", says[0]);
    figure(page, &format!("{number}a"), &caption, policies, (SPEEDUP.label, RATIO), clusters);
    type Of = fn(&KernelMemory) -> Option<f64>;
    let parts: [(&str, Quantity, Of, &str); 2] =
        [("b", MISSES, |kernel| kernel.l1_miss_rate, says[1]), ("c", FAILS, |kernel| kernel.fails_per_access, says[2])];
    for (letter, quantity, of, says) in parts {
        let caption = format!("{} of each kernel of these pairs.{says}", capital(quantity.label));
        figure(page, &format!("{number}{letter}"), &caption, policies, (quantity.label, RATIO), bars::of_kernels(&pairs, policies, of));
    }
}

/// A partition of the L1.
pub(super) fn figure_5(page: &mut Page, study: &StudyResult) {
    let shown = present(study, &["warped-slicer", "warped-slicer+l1-ucp", "warped-slicer+equal-misses"]);
    if shown.len() < 2 {
        return;
    }
    page.heading("Figure 5: partitions");
    let says = [
        " The paper: no gain on average; little changes in pf+bp and bp+sv; bp+hs, bp+ks and sv+ks lose; sv+ax gains.",
        " The paper: lower for bp in bp+hs, ks in bp+ks, ks in sv+ks and ax in sv+ax.",
        " The paper: much higher for hs in bp+hs, bp in bp+ks and sv in sv+ks, lower for ax in sv+ax.",
    ];
    three_parts(page, "5", study, &shown, says);
}

/// QBMI against DMIL, and both.
pub(super) fn figure_11(page: &mut Page, study: &StudyResult) {
    let shown = present(study, &["warped-slicer", "warped-slicer+qbmi", "warped-slicer+dmil", "warped-slicer+qbmi+dmil"]);
    if shown.len() < 2 {
        return;
    }
    page.heading("Figure 11: QBMI and DMIL");
    let said = paper::KS_MISSES.map(|(beside, policy, rate)| format!("{rate} beside {beside} under {policy}")).join(", ");
    let misses = format!(" The paper gives ks: {said}.");
    let says = [
        " The paper: alike in C+C, DMIL ahead of QBMI in C+M and M+M, both together slightly ahead of DMIL.",
        misses.as_str(),
        " The paper: lower with DMIL.",
    ];
    three_parts(page, "11", study, &shown, says);
}

/// All quantities of pairs under Warped-Slicer's schemes.
pub(super) fn figure_12(page: &mut Page, study: &StudyResult) {
    let shown = present(study, &["spatial", "warped-slicer", "warped-slicer+qbmi", "warped-slicer+dmil"]);
    if shown.is_empty() {
        return;
    }
    page.heading("Figure 12: on Warped-Slicer");
    let parts: [(&str, Quantity, &str); 7] = [
        ("a", SPEEDUP, ""),
        ("b", ANTT, " Less is better."),
        ("c", FAIRNESS, " The lowest over the highest normalised IPC."),
        ("d", MISSES, " The paper: lower with DMIL in C+M and M+M, with QBMI as without."),
        ("e", FAILS, " The paper: lower with DMIL in C+M and M+M, with QBMI as without."),
        ("f", STALLS, " The paper: as the fails."),
        ("g", ALU, " The paper: higher with DMIL in C+M, not in M+M."),
    ];
    for (letter, quantity, says) in parts {
        by_class(page, &format!("12{letter}"), study, &shown, quantity, says);
    }
}

/// The same under SMK's.
pub(super) fn figure_13(page: &mut Page, study: &StudyResult) {
    let shown = present(study, &["smk", "smk+warp-quota", "smk+qbmi", "smk+dmil"]);
    if shown.is_empty() {
        return;
    }
    page.heading("Figure 13: on SMK");
    by_class(page, "13a", study, &shown, SPEEDUP, "");
    by_class(page, "13b", study, &shown, ANTT, " Less is better.");
}

/// Three kernels.
pub(super) fn figure_14(page: &mut Page, study: &StudyResult) {
    let all = means::policies(study);
    page.heading("Figure 14: three kernels");
    let says = " The paper: alike in C+C+C; QBMI and DMIL ahead in C+C+M and C+M+M; DMIL ahead in M+M+M, at the cost of fairness.";
    by_class(page, "14a", study, &all, SPEEDUP, says);
    by_class(page, "14b", study, &all, ANTT, " Less is better.");
    by_class(page, "14c", study, &all, FAIRNESS, " The lowest over the highest normalised IPC.");
}
