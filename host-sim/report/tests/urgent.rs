//! Placement latency of urgent kernels.

use crate::random;
use mias_lab::evaluate::results::Evaluation;
use mias_lab::experiment::placement_latency::Latency;
use mias_report::evaluation::html;

#[test]
fn only_urgent_kernels_have_a_row_and_missed_deadlines_are_counted() {
    let mut evaluation = random::of_quick("quick", 1);
    evaluation.studies.truncate(1);
    let heading = "Placement latency of urgent kernels";
    assert!(!html::render(&evaluation).contains(heading));
    let none = Latency {
        priority: 0,
        first_tb_cycles: Some(1_111_111),
        room_cycles: None,
        all_tbs_cycles: None,
        limit_cycles: None,
        room_in_time: None,
        deadline_cycles: None,
        end_cycles: None,
        violated: None,
    };
    let late = Latency { priority: 1, first_tb_cycles: Some(2_345_678), limit_cycles: Some(3_000), violated: Some(true), ..none };
    let with = |latency: [Latency; 2]| {
        let mut evaluation: Evaluation = evaluation.clone();
        evaluation.studies[0].groups[0].policies[0].latency = latency.to_vec();
        html::render(&evaluation)
    };
    for (latency, rows, said) in [
        ([none, none], 0, None),
        ([none, late], 1, Some("1 of 1 deadlines missed")),
        ([Latency { violated: Some(false), ..late }, late], 2, Some("1 of 2 deadlines missed")),
        ([Latency { violated: None, ..late }, none], 1, Some("0 of 0 deadlines missed")),
    ] {
        let page = with(latency);
        assert_eq!((page.matches("2,345,678").count(), page.contains("1,111,111")), (rows, false));
        assert!(said.is_none_or(|said| page.contains(said)));
    }
}
