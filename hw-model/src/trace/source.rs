//! A kernel that is executed while it runs: its TBs are traced when the model is about to issue them.

use super::KernelTrace;
use std::fmt::Debug;
use std::sync::Arc;

/// Gives the trace of one launch as far as it is needed.
///
/// TBs are traced in grid order. A trace given later begins with every trace given before: places within it (shapes, memory references,
/// patterns) stay what they were, so that TBs that run from an earlier one go on with a later one.
pub trait TraceSource: Debug + Send + Sync {
    /// A trace with at least the TBs up to `tb`, which must be in the grid.
    ///
    /// # Errors
    /// What went wrong while they were executed, for the user.
    fn up_to(&self, tb: u32) -> Result<Arc<KernelTrace>, String>;
}
