//! Other studies: means by setting, and the makespan of finite grids.

use super::bars::{Cluster, Grouped};
use super::figures::{legend, policies, series};
use super::late;
use super::page::Page;
use super::svg::Unit;
use super::tables;
use crate::report::evaluation::text::{ending, groups};
use maud::html;
use mias_lab::evaluate::results::StudyResult;
use mias_lab::evaluate::summary;

/// All settings of one experiment.
pub(super) fn draw(page: &mut Page, number: usize, studies: &[&StudyResult]) {
    let Some(first) = studies.first() else { return };
    page.section(&first.title);
    page.note(&conditions(studies));
    let all = policies(first);
    let (quantities, one): (&[(&'static str, &str)], bool) = match first.cycles {
        None => (
            &[
                ("makespan_speedup_sequential", "speedup over sequential"),
                ("makespan_speedup_left_over", "speedup over left-over"),
                ("makespan_speedup_left_over_reversed", "over left-over, other order"),
            ],
            true,
        ),
        Some(_) => {
            (&[("speedup", "mean S"), ("stp", "mean STP"), ("regret_s", "mean regret, S"), ("regret_stp", "mean regret, STP")], true)
        }
    };
    let mut drawings = Vec::new();
    for (quantity, label) in quantities {
        let clusters = clusters(studies, &all, quantity);
        if clusters.iter().all(|cluster| cluster.values.iter().all(Option::is_none)) {
            continue;
        }
        let unit = if quantity.starts_with("regret") { Unit::Percent } else { Unit::Plain };
        let one = one && unit == Unit::Plain;
        let chart = Grouped {
            label,
            y_label: label,
            unit,
            series: series(&page.palette, &all),
            clusters,
            one,
            numbers: all.len() * studies.len() <= 16,
        };
        drawings.push(chart.draw());
    }
    let caption = match first.cycles {
        None => {
            "Makespans: the time until every grid has completed. Over sequential: the sum of the kernels' own times alone over the makespan. Over left-over: its makespan over the policy's, launched in the same order, and launched the other way round. Means over all groups."
        }
        Some(_) => "Means over all groups, by setting.",
    };
    page.figure(
        &format!("Figure {}", letter(number)),
        caption,
        &late::legend(legend(&page.palette, &all), studies),
        &html! { @for drawing in &drawings { (drawing) } },
    );
    for study in studies {
        page.heading(&format!("Means{}", setting(study)));
        tables::means(page, study);
    }
    if studies.len() == 1 || first.cycles.is_none() {
        for study in studies {
            page.heading(&format!("Every group{}", setting(study)));
            tables::groups(page, study);
        }
    }
}

/// Machines, groups, ends and settings, each once.
fn conditions(studies: &[&StudyResult]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for study in studies {
        let line = format!("{} on {}, {}", groups(study), study.gpu, ending(study));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let varied: Vec<String> = studies.iter().map(|study| setting(study)).filter(|setting| !setting.is_empty()).collect();
    let settings = if varied.is_empty() {
        String::new()
    } else {
        format!(" Settings: {}.", varied.iter().map(|s| s.trim_start_matches(", ")).collect::<Vec<_>>().join("; "))
    };
    format!("{}.{settings}", lines.join("; "))
}

fn setting(study: &StudyResult) -> String {
    study.setting.iter().map(|(key, value)| format!(", {key} {value}")).collect()
}

/// G, H and so on: what follows the figures of the main study.
fn letter(number: usize) -> String {
    let at = number + 6;
    let last = char::from(b'A' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { format!("{}{last}", char::from(b'A' + (at / 26 - 1) as u8)) }
}

/// A cluster per setting.
fn clusters(studies: &[&StudyResult], policies: &[&'static str], quantity: &str) -> Vec<Cluster> {
    let cluster = |study: &&StudyResult| {
        let value = |policy: &&'static str| summary::find(&study.summary, summary::ALL, policy)?.means.get(quantity)?.arithmetic;
        let named: Vec<String> = study.setting.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let names = if named.is_empty() { vec!["all groups".to_owned()] } else { named };
        Cluster {
            names,
            note: String::new(),
            values: policies.iter().map(value).collect(),
            marks: late::of_means(study, summary::ALL, policies, quantity),
            apart: false,
        }
    };
    studies.iter().map(cluster).collect()
}
