//! Default figures and tables of an experiment: all results for one setting in a window, else means
//! by setting.

use super::numbering::Numbering;
use super::page::Page;
use super::{conditions, experiment, studies, tables, urgent};
use mias_lab::evaluate::results::StudyResult;

/// Draws all settings of an experiment as a section; `number` counts the experiments with such
/// numbers.
pub(super) fn draw(page: &mut Page, number: usize, settings: &[&StudyResult]) {
    let Some(first) = settings.first() else { return };
    let mut numbering = Numbering::of(number);
    page.section(&first.title);
    match settings {
        [study] if study.cycles.is_some() => {
            page.note(&conditions::fully(study));
            experiment::basics(page, &mut numbering, study);
            experiment::beyond(page, &mut numbering, study);
            page.heading("Every group under every policy");
            tables::groups(page, study);
            urgent::draw(page, study);
        }
        _ => {
            page.note(&conditions::of_settings(settings));
            studies::draw(page, &mut numbering, settings);
            settings.iter().for_each(|study| urgent::draw(page, study));
        }
    }
}
