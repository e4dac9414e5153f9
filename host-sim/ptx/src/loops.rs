//! Location of an endless loop: the lines that a warp executes.

use super::program::Program;
use super::source::SourceLine;
use super::warp::{Event, Observer};
use std::collections::BTreeSet;

/// Lines that a warp executes.
pub(super) struct Lines<'a> {
    program: &'a Program,
    warp: u32,
    first: u32,
    last: u32,
    source: BTreeSet<SourceLine>,
}

impl<'a> Lines<'a> {
    /// Creates a recorder for a warp, without lines.
    pub(super) fn new(program: &'a Program, warp: u32) -> Self {
        Lines { program, warp, first: u32::MAX, last: 0, source: BTreeSet::new() }
    }

    /// Returns the first and last line of the PTX, and the source lines if known; `None` if no
    /// instruction was executed.
    pub(super) fn found(&self) -> Option<((u32, u32), String)> {
        (self.first <= self.last).then(|| ((self.first, self.last), self.program.source.span(&self.source)))
    }
}

impl Observer for Lines<'_> {
    fn executed(&mut self, event: Event<'_>) {
        if event.warp == self.warp {
            let at = self.program.insts[event.pc as usize].at;
            self.first = self.first.min(at.line);
            self.last = self.last.max(at.line);
            self.source.extend(self.program.source.line(at));
        }
    }
}
