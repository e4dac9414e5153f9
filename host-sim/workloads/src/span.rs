//! Ranges of device memory, in sectors: from the first that something has to one past its last.

use std::ops::Range;

/// The range that holds both; what is empty lies nowhere.
pub fn hull(a: Range<u64>, b: Range<u64>) -> Range<u64> {
    match (a.is_empty(), b.is_empty()) {
        (_, true) => a,
        (true, false) => b,
        (false, false) => a.start.min(b.start)..a.end.max(b.end),
    }
}
