//! The table and figures of Zhao et al. 2018 from our runs, beside the numbers that its text gives: those of the plan `zhao`, by the names of its
//! experiments. Figures 1 and 8 show no data.

mod beside;
#[cfg(test)]
mod given;
mod kernels;
mod modes;
mod overhead;
mod paper;
mod slowdowns;
mod splits;

use super::page::Page;
use super::{conditions, tables};
use mias_lab::evaluate::results::{Evaluation, StudyResult};

/// Whether an evaluation is of that plan, of a part of it, in either form.
pub(super) fn is_of(evaluation: &Evaluation) -> bool {
    let name = evaluation.plan.name.as_str();
    ["zhao", "zhao-twelve", "zhao-elsewhere"].contains(&name.strip_suffix("-quick").unwrap_or(name))
}

/// All of its figures.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let all: Vec<&StudyResult> = evaluation.studies.iter().collect();
    let of = |name: &str| all.iter().copied().filter(|study| study.experiment == name).collect::<Vec<_>>();
    let (alone, pairs) = (of("alone"), of("pairs"));
    // Decisions take no time in the paper.
    let free = pairs.iter().find(|study| study.latency == "off").or(pairs.first()).copied();
    if let Some(study) = alone.first() {
        page.section("The kernels");
        page.note(&conditions::fully(study));
    }
    kernels::table_1(page, &alone);
    kernels::figure_6(page, &alone);
    kernels::figure_7(page, &alone, "7", "7: the kernels alone, by number of SMs");
    kernels::figure_7(page, &of("p100"), "9", "9: the same on the P100");
    kernels::classifiers(page, &alone);
    if !of("splits").is_empty() {
        page.section("Splits of the SMs");
    }
    splits::figure_2(page, &of("motivation"));
    splits::figure_3(page, &of("splits"));
    splits::figure_4(page, &of("fewer"));
    splits::figure_5(page, &of("compute"));
    splits::corners(page, &of("corners"));
    page.section("Classification-driven search");
    if let Some(study) = free {
        page.note(&conditions::fully(study));
        modes::told(page, study, &alone);
        modes::figures(page, study);
        modes::energy(page, study);
        overhead::overhead(page, study, &of("splits"), &[of("fewer"), of("corners")].concat());
    }
    modes::changes(page, &all);
    if let Some(study) = of("beside").first() {
        page.section("What shares an SM");
        page.note(&conditions::fully(study));
        beside::figure_16(page, study);
    }
    if let Some(study) = of("slowdowns").first() {
        page.section("Fair share, and limits of warps");
        page.note(&conditions::fully(study));
        slowdowns::tables(page, study);
    }
    page.section("Every group under every policy");
    for study in all.iter().filter(|study| ["pairs", "charged", "four", "beside", "slowdowns"].contains(&study.experiment.as_str())) {
        page.heading(&super::studies::titled(&study.title, study));
        tables::groups(page, study);
    }
}
