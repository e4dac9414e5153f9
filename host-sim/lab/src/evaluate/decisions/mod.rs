//! The yardstick of decisions (plan `decisions` and its parts): what policies bring end to end, beside the best of all static choices, with intervals that know that
//! mixes share kernels (own; sources.md D192 to D196).
//!
//! ```text
//! results -> blocks (machine, kernels of one set, window) -> mixes (static choices, runs) -> lines (one for each policy, mechanism and transition)
//! ```

mod kernels;
mod line;
mod mixes;
mod objective;
mod resample;
#[cfg(test)]
mod tests;

pub use kernels::{Kernels, Set};
pub use line::{Judgement, Known, Line, TRANSITION};
pub use mixes::{Block, Choice, Mix, Run, Static, Values, Way};
pub use objective::Objective;
pub use resample::Resampled;

use super::results::Evaluation;

/// The plan whose results these are; its parts have names that begin with it.
const PLAN: &str = "decisions";

/// Whether an evaluation is of the plan, of a part of it or of a plan of one's own that is called so, or of a quick form: `decisions` or `decisions-` and more.
pub fn is_of(evaluation: &Evaluation) -> bool {
    evaluation.plan.name.strip_prefix(PLAN).is_some_and(|part| part.is_empty() || part.starts_with('-'))
}
