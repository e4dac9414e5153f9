//! The whole field on one machine: a figure for a minute, the table, and what is under them by class, by pair, and where decisions take their time. Lines are those
//! of [`crate::evaluation::field`].

mod figure;
mod table;

use super::conditions;
use super::page::Page;
use crate::evaluation::field::rows;
use mias_lab::evaluate::results::Evaluation;
use mias_lab::evaluate::summary::ALL;

/// All of it.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let Some(first) = evaluation.studies.first() else { return };
    let all = rows(evaluation, ALL);
    page.section("The field in a minute");
    figure::figure(page, &all);
    page.section("The table");
    table::all(page, &all);
    page.note(&conditions::fully(first));
    page.section("By class");
    table::by_class(page, evaluation, &all);
    page.section("Decisions in their time");
    table::charged(page, &all);
    page.section("By pair");
    table::by_pair(page, evaluation);
}
