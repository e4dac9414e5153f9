//! The yardstick of decisions: a figure for each window, and for each machine, set of kernels and window what the window brought, what was decided, and every mix. Lines are those
//! of [`crate::evaluation::decisions`].

mod figure;
mod table;

use super::conditions;
use super::page::Page;
use crate::evaluation::decisions::{WHAT_BROUGHT, WHAT_DECIDED, blocks, heading, look};
use mias_lab::evaluate::decisions::Judgement;
use mias_lab::evaluate::results::Evaluation;

/// All of it.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let Some(first) = evaluation.studies.first() else { return };
    let (blocks, existing) = blocks(evaluation);
    let judgements: Vec<Judgement<'_>> = blocks.iter().map(|block| Judgement::of(block, &existing)).collect();
    page.section("Decisions in a minute");
    figure::figures(page, &judgements);
    page.paragraph(WHAT_BROUGHT);
    page.paragraph(WHAT_DECIDED);
    page.note(&conditions::fully(first));
    if let Some(line) = look(evaluation, &blocks) {
        page.note(&line);
    }
    for judgement in &judgements {
        page.section(&heading(judgement));
        table::tables(page, judgement);
    }
}
