//! Benchmark of decisions: a figure for each window. For each GPU, set of kernels and window it
//! shows end-to-end results, decisions and every mix. Lines are those of
//! [`crate::evaluation::decisions`].

mod figure;
mod table;

use super::conditions;
use super::page::Page;
use crate::evaluation::decisions::{WHAT_BROUGHT, WHAT_DECIDED, blocks, heading, look};
use mias_lab::evaluate::decisions::Judgment;
use mias_lab::evaluate::results::Evaluation;

/// Draws figures and tables.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let Some(first) = evaluation.studies.first() else { return };
    let (blocks, existing) = blocks(evaluation);
    let judgments: Vec<Judgment<'_>> = blocks.iter().map(|block| Judgment::of(block, &existing)).collect();
    page.section("Summary of decisions");
    figure::figures(page, &judgments);
    page.paragraph(WHAT_BROUGHT);
    page.paragraph(WHAT_DECIDED);
    page.note(&conditions::fully(first));
    if let Some(line) = look(evaluation, &blocks) {
        page.note(&line);
    }
    for judgment in &judgments {
        page.section(&heading(judgment));
        table::tables(page, judgment);
    }
}
