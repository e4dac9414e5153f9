//! The figures and tables of Lin et al. 2018 from our runs, beside the numbers that its text gives: those of the plan `lin`, by the names of its experiments.
//! Figures 2, 8 to 11 show no data, and figure 3 is a closed form, which the tests hold the crossbar to.

mod contexts;
mod extras;
mod paper;
mod used;
mod warps;

use super::conditions;
use super::page::Page;
use super::studies::titled;
use super::tables;
use mias_lab::evaluate::results::{Evaluation, StudyResult};

/// Whether an evaluation is of that plan, or of its quick form.
pub(super) fn is_of(evaluation: &Evaluation) -> bool {
    ["lin", "lin-quick"].contains(&evaluation.plan.name.as_str())
}

/// All of its figures.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let of = |name: &str| evaluation.studies.iter().filter(|study| study.experiment == name).collect::<Vec<_>>();
    let (alone, doubled) = (of("alone"), of("doubled"));
    let Some(alone) = alone.first() else { return };
    page.section("What binds a kernel");
    page.note(&conditions::fully(alone));
    used::table(page, alone);
    used::figure_4(page, alone);
    used::figure_7(page, alone);
    warps::figures(page, &of("wires"));
    page.section("More warps than there is room for");
    contexts::figure_6(page, alone, &doubled);
    extras::figure_12(page, alone, &of("extras"));
    let techniques = of("techniques");
    contexts::figure_13(page, alone, &techniques);
    contexts::figure_14(page, alone, &techniques);
    contexts::figure_15(page, alone, &techniques, &of("ports"));
    for study in of("shared") {
        page.section(&study.title);
        page.note(&conditions::fully(study));
        page.heading(&titled("Every group", study));
        tables::groups(page, study);
    }
}

/// A kernel's result in a study.
fn result<'s>(study: &'s StudyResult, name: &str) -> Option<&'s mias_lab::evaluate::results::AloneResult> {
    study.kernels.iter().find(|kernel| kernel.name == name)
}

/// The value of a setting.
fn setting<'s>(study: &'s StudyResult, key: &str) -> Option<&'s str> {
    study.setting.iter().find(|(known, _)| key == known).map(|(_, value)| value.as_str())
}
