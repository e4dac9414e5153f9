//! FR-FCFS: per bank, the oldest request that hits the open row, else the oldest (sources.md D69), unless the row-hit cap
//! ([`super::row_cap`]) says that the oldest has been passed often enough. No fairness between kernels, reads and writes in one queue.
//!
//! In hardware no state but the cap's.

use super::lists::{Lists, Place};
use super::row_cap::RowCap;

/// The order, and what its cap remembers.
#[derive(Clone, Debug)]
pub(super) struct FrFcfs {
    cap: RowCap,
}

impl FrFcfs {
    /// For `banks` banks; `row_hit_cap` as in [`RowCap::new`].
    pub(super) fn new(banks: u32, row_hit_cap: u32) -> Self {
        FrFcfs { cap: RowCap::new(row_hit_cap, banks) }
    }

    /// The request that `bank` serves next, given the row in its row buffer.
    #[inline]
    pub(super) fn choose(&mut self, lists: &Lists, bank: usize, row: u32) -> Option<Place> {
        let oldest = lists.oldest(bank)?;
        let hit = if self.cap.allows(bank) { lists.oldest_to(bank, row) } else { None };
        let chosen = hit.unwrap_or(oldest);
        self.cap.taken(bank, chosen != oldest);
        Some(chosen)
    }
}
