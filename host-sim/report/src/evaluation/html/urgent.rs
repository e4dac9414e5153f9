//! When urgent kernels had their room: those with a priority or a limit of latency, under every policy (sources.md D136).

use super::means::{joined as names, plain};
use super::page::Page;
use super::studies::titled;
use crate::latency_rows;
use mias_lab::evaluate::results::StudyResult;

/// A table of them, if there are any.
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
    page.heading(&titled("When urgent kernels had their room", study));
    let headings: Vec<&str> =
        ["kernels", "policy", "urgent"].into_iter().chain(latency_rows::ROWS.iter().map(|(heading, _)| *heading)).collect();
    page.table(&headings, &rows, true);
    page.note(&format!(
        "Core cycles from the moment at which the kernel's TBs might issue, a launch latency after it arrived. Room: as many of its TBs as fit on the GPU, or all of a smaller grid, had been issued. The deadline is the limit and what the kernel takes alone. {missed} of {due} deadlines missed; those of kernels that had not ended by the end of the run and were not late by then count as neither."
    ));
}
