//! A kernel that is executed during the simulation: its TBs are traced when the model is about to
//! issue them.
//!
//! Its trace comes in parts, each a trace of consecutive TBs. A part without running TBs may be
//! released, so a grid of any size runs in bounded memory. The source keeps released parts
//! elsewhere.

use crate::KernelTrace;
use std::fmt::Debug;
use std::sync::Arc;

/// A part of a launch's trace.
#[derive(Clone, Debug)]
pub struct TracePart {
    /// Part number: parts are numbered from 0 in the order of their TBs.
    pub number: u32,
    /// Grid index of the part's first TB, which is TB 0 of its trace.
    pub first_tb: u32,
    /// Trace of the TBs so far. The static instructions are those of the whole launch.
    pub trace: Arc<KernelTrace>,
}

/// Source of the trace of one launch, on demand.
///
/// TBs are traced in grid order. A reader that starts at the beginning requests TBs in that order,
/// and may start again at any time. A part returned later extends the same part as returned before.
/// Its indices (shapes, memory references, patterns) do not change, so TBs that run from the
/// earlier version can continue with the later one.
pub trait TraceSource: Debug + Send + Sync {
    /// Trace of a launch that is known only after its announcement.
    ///
    /// Returns the whole trace, after which no part is requested; or geometry and all static
    /// instructions without a TB. None if the launch itself has these, or if it cannot be read;
    /// then the first part reports the error.
    fn announced(&self) -> Option<Arc<KernelTrace>> {
        None
    }

    /// Returns the part that contains TB `tb`, which must be in the grid.
    ///
    /// # Errors
    /// Message for the user if TBs cannot be executed or read back.
    fn part_with(&self, tb: u32) -> Result<TracePart, String>;
}
