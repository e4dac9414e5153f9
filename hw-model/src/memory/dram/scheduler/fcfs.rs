//! First come, first served: the oldest request of the bank, whatever row is open. It knows no kernels either; it is there to compare with.
//!
//! In hardware no state.

use super::lists::{Lists, Place};

/// The request that `bank` serves next.
pub(super) fn choose(lists: &Lists, bank: usize) -> Option<Place> {
    lists.oldest(bank)
}
