//! Placement latency of urgent kernels: those with a priority or a latency limit, under every
//! policy (sources.md D136).

use super::means::{joined as names, plain};
use super::page::Page;
use super::studies::titled;
use crate::latency_rows;
use mias_lab::evaluate::results::StudyResult;

/// Adds the table of urgent kernels, if there are any.
pub(super) fn draw(page: &mut Page, study: &StudyResult) {
    let (mut rows, mut due, mut missed) = (Vec::new(), 0, 0);
    for group in &study.groups {
        for result in &group.policies {
            for (kernel, latency) in group.kernels.iter().zip(&result.latency) {
                if latency.priority == 0 && latency.limit_cycles.is_none() {
                    continue;
                }
                due += usize::from(latency.violated.is_some());
                missed += usize::from(latency.violated == Some(true));
                let cells = latency_rows::ROWS.iter().map(|(_, cell)| cell(latency));
                rows.push([names(group), result.policy.to_owned(), plain(kernel).into_owned()].into_iter().chain(cells).collect());
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    page.heading(&titled("Placement latency of urgent kernels", study));
    let headings: Vec<&str> =
        ["kernels", "policy", "urgent"].into_iter().chain(latency_rows::ROWS.iter().map(|(heading, _)| *heading)).collect();
    page.table(&headings, &rows, true);
    page.note(&format!(
        "Core cycles from the earliest issue of the kernel's TBs, one launch latency after its arrival. Room: all TBs that fit on the GPU, or all of a smaller grid, have been issued. The deadline is the limit plus the kernel's time alone. {missed} of {due} deadlines missed; kernels that neither ended nor missed their deadline within the run are not counted."
    ));
}
