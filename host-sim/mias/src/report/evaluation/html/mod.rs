//! `report.html`: the thesis' figures drawn from our data beside its own numbers, and what it did not show. One file, no script, nothing
//! fetched; every figure has its numbers in a table under it.

mod bars;
mod beyond;
mod figures;
mod late;
mod names;
mod page;
mod palette;
mod points;
mod studies;
mod svg;
mod tables;
mod thesis;

use maud::html;
use mias_lab::evaluate::results::{Evaluation, StudyResult};
use mias_lab::table::grouped;
use page::Page;
use palette::Palette;

/// The document.
pub fn render(evaluation: &Evaluation) -> String {
    let policies = evaluation.studies.iter().flat_map(figures::policies);
    let mut page = Page::new(Palette::of(policies));
    let main = main_study(evaluation);
    if let Some(main) = main {
        page.section("The thesis' figures");
        page.note(&conditions(main));
        figures::draw(&mut page, main);
        page.section("Beyond the thesis");
        beyond::draw(&mut page, main);
        page.section("Every pair under every policy");
        tables::groups(&mut page, main);
    }
    let mut experiments: Vec<&str> = Vec::new();
    for study in &evaluation.studies {
        if !experiments.contains(&study.experiment.as_str()) {
            experiments.push(&study.experiment);
        }
    }
    let others = experiments.into_iter().filter(|name| main.is_none_or(|main| main.experiment != *name));
    for (number, name) in others.enumerate() {
        let settings: Vec<&StudyResult> = evaluation.studies.iter().filter(|study| study.experiment == name).collect();
        studies::draw(&mut page, number, &settings);
    }
    // Further settings of the main experiment.
    if let Some(main) = main {
        let settings: Vec<&StudyResult> = evaluation.studies.iter().filter(|study| study.experiment == main.experiment).collect();
        if settings.len() > 1 {
            studies::draw(&mut page, evaluation.studies.len(), &settings);
        }
    }
    numbers(&mut page, evaluation);
    let lead = html! {
        (sentence(&evaluation.plan.description)) ". Every number is in " code { "results.json" } " and " code { "results.csv" } " beside this page."
    };
    page.finish(&format!("mias evaluate {}", evaluation.plan.name), &lead)
}

/// With a capital at the beginning.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The study that the thesis' figures are drawn from: of those with pairs that arrive together in a window, the first with the most policies.
fn main_study(evaluation: &Evaluation) -> Option<&StudyResult> {
    let pairs =
        |study: &&StudyResult| study.cycles.is_some() && study.arrive == 0 && study.groups.iter().all(|group| group.kernels.len() == 2);
    let studies: Vec<&StudyResult> = evaluation.studies.iter().filter(pairs).collect();
    let most = studies.iter().map(|study| figures::policies(study).len()).max()?;
    studies.into_iter().find(|study| figures::policies(study).len() == most)
}

/// What ran where, and how.
fn conditions(study: &StudyResult) -> String {
    let kernels: Vec<&str> = study.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let end = study.cycles.map_or_else(|| "until all kernels have completed".into(), |cycles| format!("{} core cycles", grouped(cycles)));
    let relaunch = if study.relaunch { "kernels that end start again" } else { "each kernel runs once" };
    format!(
        "Kernels {} on {}; every run {end}, launch latency included; {relaunch}; profile {} cycles, transition {}, {} IPC. Kernels alone run for the same time.",
        kernels.join(", "),
        study.gpu,
        grouped(study.profile_cycles.into()),
        study.transition,
        study.ipc_unit
    )
}

/// What the numbers mean, and where they are from.
fn numbers(page: &mut Page, evaluation: &Evaluation) {
    page.section("What the numbers are");
    page.paragraph(html! {
        b { "S" } ", the thesis' speedup: the sum of the IPCs over the mean of the IPCs alone. "
        b { "S_null" } ": what running only the fastest kernel scores in S, the largest IPC alone over the mean."
    });
    page.paragraph(html! {
        b { "STP" } " (weighted speedup): the sum of the IPCs, each over its own alone; the speedup over running the same work one kernel after the other. "
        b { "ANTT" } ": the mean slowdown. " b { "Fairness" } ": the smallest over the largest normalised IPC."
    });
    page.paragraph(html! {
        b { "Oracle" } ": the best of static runs of every maximal configuration with at least two kernels. "
        b { "Decision regret" } ": 1 less a static run of the chosen configuration over the oracle. "
        b { "End-to-end regret" } ": the same with the policy's own run."
    });
    page.paragraph("The same plan on the same version gives the same bytes, with any number of workers.");
    let machines: Vec<String> = {
        let mut seen: Vec<String> = Vec::new();
        for study in &evaluation.studies {
            let machine = format!("{} ({})", study.gpu, study.gpu_hash);
            if !seen.contains(&machine) {
                seen.push(machine);
            }
        }
        seen
    };
    page.note(&format!(
        "mias {}; plan {} ({}); machines {}.",
        evaluation.model,
        evaluation.plan.name,
        evaluation.plan.hash,
        machines.join(", ")
    ));
}
