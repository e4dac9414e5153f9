//! A kernel that is executed while it runs: its TBs are traced when the model is about to issue them.
//!
//! Its trace comes in parts, each a trace of TBs that follow each other. A part that no TB runs from may be given back, so that a grid of
//! any size runs in bounded memory; who gave it keeps it elsewhere.

use crate::KernelTrace;
use std::fmt::Debug;
use std::sync::Arc;

/// A part of a launch's trace.
#[derive(Clone, Debug)]
pub struct TracePart {
    /// Its number: parts are numbered from 0 in the order of their TBs.
    pub number: u32,
    /// Index in the grid of its first TB, which is TB 0 of its trace.
    pub first_tb: u32,
    /// Its TBs so far. The static instructions are those of the whole launch.
    pub trace: Arc<KernelTrace>,
}

/// Gives the trace of one launch as far as it is needed.
///
/// TBs are traced in grid order. Who takes a trace from the beginning asks for its TBs in that order, and may begin again at any time.
/// A part given later begins with the same part as given before: places within it (shapes, memory references, patterns) stay what they
/// were, so that TBs that run from an earlier one go on with a later one.
pub trait TraceSource: Debug + Send + Sync {
    /// Of a launch that is known only once it is announced: its whole trace, of which then no part is asked for, or geometry and all static
    /// instructions without a TB. None if the launch has that itself, or cannot be read; then the first part says why.
    fn announced(&self) -> Option<Arc<KernelTrace>> {
        None
    }

    /// The part that has TB `tb`, which must be in the grid.
    ///
    /// # Errors
    /// What went wrong while TBs were executed or read back, for the user.
    fn part_with(&self, tb: u32) -> Result<TracePart, String>;
}
