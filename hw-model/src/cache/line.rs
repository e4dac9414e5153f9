//! What a tag array keeps of a line and of a set. A look-up reads a line and little else, so that lines are kept small and what is
//! rarely needed is kept beside them: the recency list, and the bytes written.

use super::address_index::{Chained, NONE};

/// A line: its address, and the state of its sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) line: u64,
    /// The set that the slot belongs to; it never changes.
    pub(super) set: u32,
    /// Link of the index, and whether the index has the line.
    pub(super) next: u32,
    pub(super) indexed: bool,
    /// Exclusive sector states, bit per sector; in none of them: invalid.
    pub(super) reserved: u8,
    pub(super) valid: u8,
    pub(super) modified: u8,
    /// Modified sectors with unknown bytes.
    pub(super) unreadable: u8,
    /// What the sector becomes when it arrives.
    pub(super) modified_on_fill: u8,
    pub(super) readable_on_fill: u8,
    /// Sectors written to since the line came.
    pub(super) touched: u8,
}

/// A line's neighbours in its set's recency list, towards the most and the least recent. Apart from the lines, so that moving a line
/// touches little of the host's cache. The list is a ring through a node of the set's, which is newer than the newest line and older than
/// the oldest: so a line moves without a branch, which would be close to random.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recency {
    pub(super) newer: u32,
    pub(super) older: u32,
}

/// A line of set 0 that holds nothing.
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

/// What a set knows of its lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    /// Lines with a sector on its way.
    pub(super) reserved: u32,
    /// Lines with a modified sector and none on its way.
    pub(super) modified: u32,
}
