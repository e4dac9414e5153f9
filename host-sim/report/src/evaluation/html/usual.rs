//! The usual figures and tables of an experiment: in one setting in a window all that is known, else means by setting.

use super::numbering::Numbering;
use super::page::Page;
use super::{conditions, experiment, studies, tables, urgent};
use mias_lab::evaluate::results::StudyResult;

/// All settings of an experiment, as a section; it is the n-th that is numbered so.
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
