//! HTML report `report.html`: the thesis' figures drawn from our data next to its own numbers, or
//! those of another paper, and additional figures. It is one file without scripts or external
//! resources; every figure has its numbers in a table under it.

mod blocks;
mod conditions;
mod decisions;
mod experiment;
mod factorial;
mod figures;
mod means;
mod numbering;
mod page;
mod palette;
mod studies;
mod tables;
mod thesis;
mod too_late;
mod urgent;
mod usual;

use super::figure::Figure;
use maud::html;
use mias_lab::evaluate::blocks::{Kind, Published};
use mias_lab::evaluate::plan;
use mias_lab::evaluate::results::{Evaluation, PlanNote, StudyResult};
use mias_lab::experiment::policies::Policies;
use numbering::Numbering;
use page::Page;
use palette::Palette;

/// Formats the document.
pub fn render(evaluation: &Evaluation) -> String {
    let mut page = page(evaluation);
    numbers(&mut page, evaluation);
    let lead = html! {
        (sentence(&evaluation.plan.description)) ". Every number is in " code { "results.json" } " and " code { "results.csv" } " next to this page; " code { "mias report" } " writes each figure as SVG or CSV."
    };
    page.finish(&format!("mias evaluate {}", evaluation.plan.name), &lead)
}

/// Returns the report's figures, in the order of the document.
pub fn figures(evaluation: &Evaluation) -> Vec<Figure> {
    page(evaluation).into_figures()
}

/// Returns the page up to the explanation of the numbers.
fn page(evaluation: &Evaluation) -> Page {
    let policies = evaluation.studies.iter().flat_map(means::policies);
    let mut page = Page::new(Palette::of(policies));
    if !evaluation.plan.report.blocks.is_empty() {
        blocks::draw(&mut page, evaluation);
    } else {
        default(&mut page, evaluation);
    }
    page
}

/// Draws the default report: that of a plan without blocks.
fn default(page: &mut Page, evaluation: &Evaluation) {
    if evaluation.studies.iter().any(|study| !study.requests.is_empty()) {
        let mut report = plan::load("shieh", &Policies::default()).map(|plan| plan.report).unwrap_or_default();
        report.published = Published::default();
        report.blocks.retain(|block| block.kind != Kind::Claims);
        let asked = PlanNote { report, ..evaluation.plan.clone() };
        blocks::draw(page, &Evaluation { plan: asked, ..evaluation.clone() });
    }
    let main = main_study(evaluation);
    let mut experiment = 0;
    if let Some(main) = main {
        let mut numbering = Numbering::of(experiment);
        experiment += 1;
        if thesis::is_of(main) {
            page.section("Figures of the thesis");
            page.note(&conditions::fully(main));
            figures::draw(page, main);
            page.section("Beyond the thesis");
        } else {
            page.section(&main.title);
            page.note(&conditions::fully(main));
            experiment::basics(page, &mut numbering, main);
        }
        experiment::beyond(page, &mut numbering, main);
        let groups = if main.groups.iter().all(|group| group.kernels.len() == 2) { "pair" } else { "group" };
        page.section(&studies::titled(&format!("Every {groups} under every policy"), main));
        tables::groups(page, main);
        urgent::draw(page, main);
        // Further settings of the main experiment.
        let settings: Vec<&StudyResult> = evaluation.studies.iter().filter(|study| study.experiment == main.experiment).collect();
        if settings.len() > 1 {
            page.section(&format!("{}: settings", main.title));
            page.note(&conditions::of_settings(&settings));
            studies::draw(page, &mut numbering, &settings);
            settings.iter().filter(|study| !std::ptr::eq(**study, main)).for_each(|study| urgent::draw(page, study));
        }
    }
    let mut experiments: Vec<&str> = Vec::new();
    let others = evaluation.studies.iter().filter(|study| study.requests.is_empty() && study.queue.is_empty());
    for study in others.filter(|study| main.is_none_or(|main| main.experiment != study.experiment)) {
        if !experiments.contains(&study.experiment.as_str()) {
            experiments.push(&study.experiment);
        }
    }
    for name in experiments {
        let settings: Vec<&StudyResult> = evaluation.studies.iter().filter(|study| study.experiment == name).collect();
        usual::draw(page, experiment, &settings);
        experiment += 1;
    }
}

/// Capitalizes the first letter.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the main study: among those whose kernels arrive together in a window, the first with
/// the most policies, preferably of pairs.
fn main_study(evaluation: &Evaluation) -> Option<&StudyResult> {
    let plain = |study: &&StudyResult| study.cycles.is_some() && study.arrive == 0 && study.requests.is_empty();
    let together = || evaluation.studies.iter().filter(plain).filter(|study| !study.groups.is_empty());
    let pairs: Vec<&StudyResult> = together().filter(|study| study.groups.iter().all(|group| group.kernels.len() == 2)).collect();
    let studies = if pairs.is_empty() { together().collect() } else { pairs };
    let most = studies.iter().map(|study| means::policies(study).len()).max()?;
    studies.into_iter().find(|study| means::policies(study).len() == most)
}

/// Adds the meaning and the sources of the numbers.
fn numbers(page: &mut Page, evaluation: &Evaluation) {
    page.section("Definitions of the metrics");
    page.paragraph(html! {
        b { "S" } ", the thesis' speedup: the sum of the IPCs over the mean of the IPCs alone. "
        b { "S_null" } ": the score S of running only the fastest kernel, the largest IPC alone over the mean."
    });
    page.paragraph(html! {
        b { "STP" } " (weighted speedup): the sum of the IPCs, each over its own alone; the speedup over running the same work one kernel after the other. "
        b { "ANTT" } ": the mean slowdown. " b { "Fairness" } ": the smallest over the largest normalized IPC."
    });
    page.paragraph(html! {
        b { "Oracle" } ": " (conditions::ORACLE) ", for each of S and STP. "
        b { "Decision regret" } ": 1 minus the ratio of a static run of the chosen configuration to the oracle. "
        b { "End-to-end regret" } ": the same ratio with the policy's own run."
    });
    page.paragraph("The same plan and version produce a byte-identical page with any number of workers.");
    let gpus: Vec<String> = {
        let mut seen: Vec<String> = Vec::new();
        for study in &evaluation.studies {
            let gpu = format!("{} ({})", study.gpu, study.gpu_hash);
            if !seen.contains(&gpu) {
                seen.push(gpu);
            }
        }
        seen
    };
    page.note(&format!("mias {}; plan {} ({}); GPUs {}.", evaluation.model, evaluation.plan.name, evaluation.plan.hash, gpus.join(", ")));
}
