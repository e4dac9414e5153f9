//! Late decisions: marks over their bars, and their explanation.

use crate::evaluation::figure::Mark;
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::summary;

/// Explanation of the mark in captions.
pub(super) const MEANING: &str = " Triangles: runs that ended before the decision took effect.";

/// Returns whether a decision of any study came too late.
pub(super) fn any(studies: &[&StudyResult]) -> bool {
    studies.iter().flat_map(|study| &study.summary).any(|row| row.too_late > 0)
}

/// Returns the marks of a group's bars of S.
pub(super) fn of_group(group: &GroupResult, policies: &[&str]) -> Vec<Mark> {
    let mark = |(at, policy): (usize, &&str)| {
        let result = group.policies.iter().find(|result| result.policy == *policy && result.too_late)?;
        Some(Mark::Late(at, result.metrics.speedup?, 1))
    };
    policies.iter().enumerate().filter_map(mark).collect()
}

/// Returns the marks of the bars of means over a class.
pub(super) fn of_means(study: &StudyResult, class: &str, policies: &[&str], quantity: &str) -> Vec<Mark> {
    let mark = |(at, policy): (usize, &&str)| {
        let row = summary::find(&study.summary, class, policy).filter(|row| row.too_late > 0)?;
        Some(Mark::Late(at, row.means.get(quantity)?.arithmetic?, row.too_late))
    };
    policies.iter().enumerate().filter_map(mark).collect()
}
