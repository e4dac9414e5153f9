//! Experiments in several settings, or until done: means by setting, and the makespan of finite
//! grids.

use super::conditions::setting;
use super::means::{self, QUARTILES, policies, series};
use super::numbering::Numbering;
use super::page::Page;
use super::tables;
use crate::evaluation::figure::{Bars, Chart, Cluster, Figure, Panel, RATIO, Unit};
use mias_lab::evaluate::results::StudyResult;
use mias_lab::evaluate::summary::ALL;

/// Quantities with axis labels: of grids that run to their end, and of windows.
const UNTIL_DONE: [(&str, &str); 3] = [
    ("makespan_speedup_sequential", "speedup over sequential"),
    ("makespan_speedup_left_over", "speedup over left-over"),
    ("makespan_speedup_left_over_reversed", "speedup over left-over, other order"),
];
const IN_A_WINDOW: [(&str, &str); 4] =
    [("speedup", "mean S"), ("stp", "mean STP"), ("regret_s", "mean decision regret, S"), ("regret_stp", "mean decision regret, STP")];

/// Draws all settings of one experiment.
pub(super) fn draw(page: &mut Page, numbering: &mut Numbering, studies: &[&StudyResult]) {
    let Some(first) = studies.first() else { return };
    let mut all = Vec::new();
    for policy in studies.iter().flat_map(|study| policies(study)) {
        if !all.contains(&policy) {
            all.push(policy);
        }
    }
    let quantities: &[(&str, &str)] = if first.cycles.is_none() { &UNTIL_DONE } else { &IN_A_WINDOW };
    let mut charts = Vec::new();
    for (quantity, label) in quantities {
        let clusters = clusters(studies, &all, quantity);
        if clusters.iter().all(|cluster| cluster.bars.iter().all(Option::is_none)) {
            continue;
        }
        let unit = if quantity.starts_with("regret") { Unit::Percent } else { RATIO };
        let (one, numbers) = (unit == RATIO, all.len() * studies.len() <= 16);
        let (label, y_label) = ((*label).to_owned(), (*label).to_owned());
        charts.push(Bars { label, y_label, unit, series: series(&page.palette, &all), clusters, one, numbers });
    }
    let what = match first.cycles {
        None => {
            "Makespans: the time until every grid has completed. Over sequential: the sum of the isolated kernels' times over the makespan. Over left-over: its makespan over the policy's, with the same launch order and with the reverse order. "
        }
        Some(_) => "",
    };
    let by = if studies.len() > 1 { "by setting, " } else { "" };
    let clusters: Vec<Cluster> = charts.iter().flat_map(|chart| chart.clusters.iter().cloned()).collect();
    if !charts.is_empty() {
        let caption = format!("{what}Means over all n groups, {by}{QUARTILES}.{}", means::explained(&clusters));
        let key = means::marks(means::key(&page.palette, &all), &clusters);
        let panels = charts.into_iter().map(|chart| Panel::untitled(Chart::Bars(chart))).collect();
        page.figure(Figure { id: numbering.next(), caption, key, panels });
    }
    for study in studies {
        page.heading(&titled("Means", study));
        tables::means(page, study);
    }
    if first.cycles.is_none() {
        for study in studies {
            page.heading(&titled("Every group", study));
            tables::groups(page, study);
        }
    }
}

/// Returns a heading, with the setting if there are several.
pub(super) fn titled(what: &str, study: &StudyResult) -> String {
    let setting = setting(study);
    if setting.is_empty() { what.to_owned() } else { format!("{what}, {setting}") }
}

/// Returns a cluster per setting.
fn clusters(studies: &[&StudyResult], policies: &[&'static str], quantity: &str) -> Vec<Cluster> {
    let cluster = |study: &&StudyResult| {
        let named: Vec<String> = study.setting.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let names = if named.is_empty() { vec!["all groups".to_owned()] } else { named };
        let cluster = means::cluster(study, ALL, policies, quantity, "all");
        Cluster { names: names.into_iter().chain([means::count(study, ALL)]).collect(), ..cluster }
    };
    studies.iter().map(cluster).collect()
}
