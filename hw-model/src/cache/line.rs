//! State of a line and of a set in a tag array. A look-up reads mainly the line, so lines are
//! small. Rarely needed data is stored separately: the recency list, and the bytes written.

use super::address_index::{Chained, NONE};

/// Line: its address, and the state of its sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) line: u64,
    /// Set of the slot, which never changes.
    pub(super) set: u32,
    /// Link of the index, and whether the index has the line.
    pub(super) next: u32,
    pub(super) indexed: bool,
    /// Exclusive sector states, bit per sector; a sector in none of them is invalid.
    pub(super) reserved: u8,
    pub(super) valid: u8,
    pub(super) modified: u8,
    /// Modified sectors with unknown bytes.
    pub(super) unreadable: u8,
    /// Modified state that a sector takes when it arrives.
    pub(super) modified_on_fill: u8,
    pub(super) readable_on_fill: u8,
    /// Sectors written since the line was allocated.
    pub(super) touched: u8,
}

/// Neighbors of a line in its set's recency list, toward the most and the least recent.
///
/// The list is separate from the lines, so that moving a line touches few cache lines of the host.
/// It is a ring through a node of the set, which is newer than the newest line and older than the
/// oldest. So a line moves without a branch, which would be nearly random.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recency {
    pub(super) newer: u32,
    pub(super) older: u32,
}

/// Empty line of set 0.
pub(super) const EMPTY: Line = Line {
    line: 0,
    set: 0,
    next: NONE,
    indexed: false,
    reserved: 0,
    valid: 0,
    modified: 0,
    unreadable: 0,
    modified_on_fill: 0,
    readable_on_fill: 0,
    touched: 0,
};

impl Chained for Line {
    fn key(&self) -> u64 {
        self.line
    }

    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// Line counts of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    /// Number of lines with a sector in flight.
    pub(super) reserved: u32,
    /// Number of lines with a modified sector and none in flight.
    pub(super) modified: u32,
}
