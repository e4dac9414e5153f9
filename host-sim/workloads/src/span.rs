//! Ranges of device memory in sectors: from the first accessed sector to one past the last.

use std::ops::Range;

/// Returns the smallest range that contains both; an empty range has no place.
pub fn hull(a: Range<u64>, b: Range<u64>) -> Range<u64> {
    match (a.is_empty(), b.is_empty()) {
        (_, true) => a,
        (true, false) => b,
        (false, false) => a.start.min(b.start)..a.end.max(b.end),
    }
}
