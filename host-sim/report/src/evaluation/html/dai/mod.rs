//! The tables and figures of Dai et al. 2018 from our runs, beside the numbers that its text gives: those of the plan `dai`, by the names of its
//! experiments.

mod alone;
mod bars;
mod beyond;
mod limits;
mod paper;
mod schemes;
mod series;

use super::conditions;
use super::page::Page;
use super::tables;
use mias_lab::evaluate::results::{Evaluation, StudyResult};

/// Whether an evaluation is of that plan, or of its quick form.
pub(super) fn is_of(evaluation: &Evaluation) -> bool {
    ["dai", "dai-quick"].contains(&evaluation.plan.name.as_str())
}

/// All of its figures.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let all: Vec<&StudyResult> = evaluation.studies.iter().collect();
    let of = |name: &str| all.iter().copied().filter(|study| study.experiment == name).collect::<Vec<_>>();
    let one = |name: &str| of(name).first().copied();
    let (alone, pairs, triples) = (one("alone"), one("pairs"), one("triples"));
    page.section("The machine and the kernels");
    if let Some(study) = pairs.or(alone) {
        page.note(&conditions::fully(study));
        alone::table_1(page, study);
    }
    if let Some(study) = alone {
        alone::table_2(page, study);
        alone::figure_2(page, study);
        alone::figure_3(page, study, pairs);
    }
    page.section("The paper's figures");
    if let Some((alone, pairs)) = alone.zip(pairs) {
        alone::figure_4(page, alone, pairs);
    }
    if let Some(study) = pairs {
        schemes::figure_5(page, study);
    }
    if let Some(study) = one("series") {
        series::figure_6(page, study);
        series::figure_8(page, study);
    }
    limits::figure_9(page, &of("limits"));
    if let Some(study) = pairs {
        schemes::figure_11(page, study);
        schemes::figure_12(page, study);
        schemes::figure_13(page, study);
    }
    if let Some(study) = triples {
        schemes::figure_14(page, study);
    }
    page.section("Gains and means");
    beyond::gains(page, &all);
    for (study, heading) in [(pairs, "Pairs"), (triples, "Triples")] {
        study.iter().for_each(|study| beyond::means_of(page, study, heading));
    }
    for study in ["cache", "mshrs", "scheduler"].into_iter().flat_map(of) {
        let setting = conditions::setting(study);
        let heading = if setting.is_empty() { study.title.clone() } else { format!("{}: {setting}", study.title) };
        beyond::means_of(page, study, &heading);
    }
    page.section("MIAS with each of them");
    for name in ["mias", "thesis-kernels"] {
        if let Some(study) = one(name) {
            page.note(&conditions::fully(study));
            beyond::means_of(page, study, &study.title);
        }
    }
    for name in ["mias-best", "thesis-best"] {
        beyond::best(page, &of(name));
    }
    page.section("Every group under every policy");
    for study in [pairs, triples, one("mias"), one("thesis-kernels")].into_iter().flatten() {
        page.heading(&study.title);
        tables::groups(page, study);
    }
}
