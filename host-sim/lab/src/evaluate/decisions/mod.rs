//! Benchmark of decisions (plan `decisions` and its parts; own; sources.md D192 to D196).
//!
//! It compares end-to-end results of policies with the best of all static choices. Intervals
//! account for mixes that share kernels.
//!
//! ```text
//! results -> blocks (GPU, kernels of one set, window) -> mixes (static choices, runs) -> lines (one for each policy, mechanism and transition)
//! ```

mod kernels;
mod line;
mod mixes;
mod objective;
mod resample;
#[cfg(test)]
mod tests;

pub use kernels::{Kernels, Set};
pub use line::{Judgment, Known, Line, TRANSITION};
pub use mixes::{Block, Choice, Mix, Run, Static, Values, Way};
pub use objective::Objective;
pub use resample::Resampled;

use super::blocks::Kind;
use super::results::Evaluation;

/// Returns whether the report on an evaluation judges decisions.
pub fn is_of(evaluation: &Evaluation) -> bool {
    evaluation.plan.report.has(Kind::DecisionQuality)
}
