//! Figure 16: what shares an SM, and the better of that and a division, beside classification-driven search.

use super::super::means::{self, of, policies};
use super::super::page::Page;
use super::paper::ON_MAESTRO;
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Figure, Panel, RATIO};
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::statistics::arithmetic;

/// STP over that of the even split, group by group and in the mean.
pub(super) fn figure_16(page: &mut Page, study: &StudyResult) {
    let shown: Vec<&'static str> = policies(study).into_iter().filter(|policy| *policy != "spatial").collect();
    let over_even = |group: &GroupResult, policy: &str| {
        let stp = |policy: &str| of(group, policy)?.metrics.stp;
        Some(stp(policy)? / stp("spatial").filter(|stp| *stp > 0.0)?)
    };
    let mut clusters = Vec::new();
    for group in &study.groups {
        let bars = shown.iter().map(|policy| over_even(group, policy).map(Bar::new)).collect();
        clusters.push(Cluster { names: vec![means::joined(group)], bars, marks: Vec::new(), apart: false });
    }
    let mean = |policy: &&str| {
        let values: Vec<f64> = study.groups.iter().filter_map(|group| over_even(group, policy)).collect();
        means::mean(&values)
    };
    let names = vec!["mean".to_owned(), format!("n = {}", study.groups.len())];
    let bars = shown.iter().map(mean).collect();
    clusters.push(Cluster { names, bars, marks: Vec::new(), apart: true });
    let worse = |policy: &str| study.groups.iter().filter(|group| over_even(group, policy).is_some_and(|stp| stp < 1.0)).count();
    let mean_of = |policy: &str| arithmetic(&study.groups.iter().filter_map(|group| of(group, policy)?.metrics.stp).collect::<Vec<_>>());
    let adds = mean_of("cd-search+maestro")
        .zip(mean_of("maestro+search"))
        .map_or_else(String::new, |(with, without)| format!(" Here it adds {:+.1} % to `maestro+search`.", 100.0 * (with / without - 1.0)));
    let (slicer, smk, all) = (worse("warped-slicer"), worse("smk"), study.groups.len());
    let caption = format!(
        "STP over the even split of the SMs. The paper: its SMK, which is Warped-Slicer (section 7.5, reference 10), loses severely in a quarter of the mixed pairs; Maestro is as good as classification-driven search, which on it adds {ON_MAESTRO} %. Here Warped-Slicer is below the even split in {slicer} of {all} groups, SMK-P in {smk}; what Maestro here lets share SMs is SMK-P's vector and its neighbours, not Warped-Slicer's.{adds}"
    );
    page.heading("Figure 16: beside what shares an SM");
    let chart = Bars {
        label: "STP of policies over the even split".to_owned(),
        y_label: "STP over the even split".to_owned(),
        unit: RATIO,
        series: means::series(&page.palette, &shown),
        clusters,
        one: true,
        numbers: false,
    };
    let key = means::key(&page.palette, &shown);
    page.figure(Figure { id: "16".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}
