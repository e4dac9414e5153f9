//! First come, first served: the oldest request of the bank, for any open row. It does not
//! distinguish kernels and serves as a baseline.
//!
//! In hardware no state.

use super::lists::{Lists, Place};

/// Selects the next request of `bank`.
pub(super) fn choose(lists: &Lists, bank: usize) -> Option<Place> {
    lists.oldest(bank)
}
