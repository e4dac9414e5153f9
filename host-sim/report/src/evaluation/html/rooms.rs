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
        "Core cycles from the moment at which the kernel's TBs might issue, a launch latency after it arrived. PlacementTimes: as many of its TBs as fit on the GPU, or all of a smaller grid, had been issued. The deadline is the limit and what the kernel takes alone. {missed} of {due} deadlines missed; those of kernels that had not ended by the end of the run and were not late by then count as neither."
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::figure::geometry::evaluation;
    use maud::html;
    use mias_lab::experiment::placement_latency::Latency;

    fn drawn(study: &StudyResult) -> String {
        let mut page = Page::default();
        draw(&mut page, study);
        page.finish("", &html! {})
    }

    #[test]
    fn only_urgent_kernels_have_a_row_and_missed_deadlines_are_counted() {
        let study = evaluation(1).studies.remove(0);
        assert!(!drawn(&study).contains("urgent"));
        let none = Latency {
            priority: 0,
            first_tb_cycles: Some(1_111),
            room_cycles: None,
            all_tbs_cycles: None,
            limit_cycles: None,
            room_in_time: None,
            deadline_cycles: None,
            end_cycles: None,
            violated: None,
        };
        let late = Latency { priority: 1, first_tb_cycles: Some(2_345), limit_cycles: Some(3_000), violated: Some(true), ..none };
        let mut group = study.groups[0].clone();
        for (latency, rows, said) in [
            (vec![none, none], 0, None),
            (vec![none, late], 1, Some("1 of 1 deadlines missed")),
            (vec![Latency { violated: Some(false), ..late }, late], 2, Some("1 of 2 deadlines missed")),
            (vec![Latency { violated: None, ..late }, none], 1, Some("0 of 0 deadlines missed")),
        ] {
            group.policies[0].latency = latency;
            let text = drawn(&StudyResult { groups: vec![group.clone()], ..study.clone() });
            assert_eq!((text.matches("2,345").count(), text.contains("1,111")), (rows, false), "{text}");
            assert!(said.is_none_or(|said| text.contains(said)), "{text}");
        }
    }
}
