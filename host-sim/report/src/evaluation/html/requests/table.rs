//! The means over all kernels of what requests for room came to, as a table: a row for each scheme and limit, the paper's numbers beside those of its
//! kernels.

use super::paper;
use crate::evaluation::html::page::Page;
use crate::evaluation::text::interval;
use mias_lab::evaluate::blocks::Published;
use mias_lab::evaluate::requests::{ALL, RequestsResult};
use mias_lab::evaluate::results::StudyResult;
use mias_lab::table::{DASH, grouped, percent};

/// A heading, the table, and how many drains were not estimated.
pub(super) fn means(page: &mut Page, study: &StudyResult, published: &Published) {
    page.heading("Means over all kernels");
    let cycles = |value: Option<f64>| value.map_or_else(|| DASH.to_owned(), |value| grouped(value.round() as u64));
    let of_paper = !published.is_empty();
    let row = |row: &RequestsResult| {
        let victims: u64 = row.victims.iter().sum();
        let part = |technique: usize| percent((victims > 0).then(|| row.victims[technique] as f64 / victims as f64));
        let said = |of: fn(&Published, &str, u64) -> Option<f64>| of_paper.then(|| percent(of(published, &row.scheme, row.limit_cycles)));
        let cells = [
            Some(row.scheme.clone()),
            Some(grouped(row.limit_cycles)),
            Some(row.requests.to_string()),
            Some(percent(Some(row.violations))),
            Some(interval(row)),
            said(paper::violations),
            Some(percent(Some(row.late))),
            Some(percent(row.overhead)),
            said(paper::overhead),
            Some(percent(row.drain_error)),
            Some(percent(row.registers)),
            Some(cycles(row.first_cycles)),
            Some(cycles(row.full_cycles)),
            Some(part(0)),
            Some(part(1)),
            Some(part(2)),
        ];
        cells.into_iter().flatten().collect()
    };
    let rows: Vec<Vec<String>> = study.requests.iter().filter(|row| row.kernel == ALL).map(row).collect();
    let headings = [
        "scheme",
        "limit",
        "requests",
        "missed",
        "95 %",
        "missed, paper",
        "room late",
        "overhead",
        "overhead, paper",
        "drain error",
        "registers",
        "first TB",
        "all TBs",
        "drained",
        "flushed",
        "switched",
    ];
    let headings: Vec<&str> = headings.into_iter().filter(|heading| of_paper || !heading.ends_with(", paper")).collect();
    page.table(&headings, &rows, true);
    let unknown: u64 = study.requests.iter().filter(|row| row.kernel == ALL).map(|row| row.drains_not_estimated).sum();
    if unknown > 0 {
        page.note(&format!(
            "{} TBs drained though nothing was known of how long they would take, since none of their kernel had ended: they are in no error of the estimate.",
            grouped(unknown)
        ));
    }
}
