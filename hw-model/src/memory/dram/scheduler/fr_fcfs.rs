//! FR-FCFS: per bank, the oldest request that hits the open row, else the oldest (sources.md D69).
//!
//! The row-hit cap ([`super::row_cap`]) selects the oldest if it has been bypassed too often. There
//! is no fairness between kernels, and reads and writes share one queue.
//!
//! In hardware only the state of the cap.

use super::lists::{Lists, Place};
use super::row_cap::RowCap;

/// FR-FCFS order, with the state of its cap.
#[derive(Clone, Debug)]
pub(super) struct FrFcfs {
    cap: RowCap,
}

impl FrFcfs {
    /// Creates the order for `banks` banks; `row_hit_cap` as in [`RowCap::new`].
    pub(super) fn new(banks: u32, row_hit_cap: u32) -> Self {
        FrFcfs { cap: RowCap::new(row_hit_cap, banks) }
    }

    /// Selects the next request of `bank`, given the row in its row buffer.
    #[inline]
    pub(super) fn choose(&mut self, lists: &Lists, bank: usize, row: u32) -> Option<Place> {
        let oldest = lists.oldest(bank)?;
        let hit = if self.cap.allows(bank) { lists.oldest_to(bank, row) } else { None };
        let chosen = hit.unwrap_or(oldest);
        self.cap.taken(bank, chosen != oldest);
        Some(chosen)
    }
}
