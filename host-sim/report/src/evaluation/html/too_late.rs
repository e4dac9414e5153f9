//! Decisions that came too late: marks over their bars, and words.

use crate::evaluation::figure::Mark;
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::summary;

/// What a caption says of the mark.
pub(super) const MEANING: &str = " Triangles: runs that ended before the decision was in effect.";

/// Whether a decision of any study came too late.
pub(super) fn any(studies: &[&StudyResult]) -> bool {
    studies.iter().flat_map(|study| &study.summary).any(|row| row.too_late > 0)
}

/// Marks of a group's bars of S.
pub(super) fn of_group(group: &GroupResult, policies: &[&str]) -> Vec<Mark> {
    let mark = |(at, policy): (usize, &&str)| {
        let result = group.policies.iter().find(|result| result.policy == *policy && result.too_late)?;
        Some(Mark::Late(at, result.metrics.speedup?, 1))
    };
    policies.iter().enumerate().filter_map(mark).collect()
}

/// Marks of the bars of means over a class.
pub(super) fn of_means(study: &StudyResult, class: &str, policies: &[&str], quantity: &str) -> Vec<Mark> {
    let mark = |(at, policy): (usize, &&str)| {
        let row = summary::find(&study.summary, class, policy).filter(|row| row.too_late > 0)?;
        Some(Mark::Late(at, row.means.get(quantity)?.arithmetic?, row.too_late))
    };
    policies.iter().enumerate().filter_map(mark).collect()
}
