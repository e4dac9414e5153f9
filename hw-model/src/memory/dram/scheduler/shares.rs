//! Shares of the bandwidth, by start-time fair queueing.
//!
//! Sources: Goyal et al. 1996, section 2; for memory requests after Nesbit et al. 2006; sources.md
//! D186. Each kernel has a virtual time, which grows by a sector's cost for each sector served: the
//! higher its share, the lower the cost. The kernel furthest behind is served first.
//!
//! * Among a bank's row hits, those of the kernel furthest behind go first. A kernel's hits count
//!   only while it is at most the cap's number of its own sectors ahead of the kernel furthest
//!   behind in that bank. Otherwise the latter's oldest request goes, and opens its row.
//! * A kernel that had no request in the queue starts at the queue's virtual time, which is that of
//!   the waiting kernel furthest behind. An idle kernel saves no bandwidth.
//! * At equal times the older request goes first.
//!
//! Of two kernels that have a request in every bank at any time, none gets ahead of the other by
//! more than the cap and one request of its sectors: `W_i c_i - W_j c_j <= (cap + A) c_i`, with `W`
//! sectors served, `c` the cost of one and `A` those of the largest request. A single kernel is
//! served as by FR-FCFS.
//!
//! In hardware per channel and kernel 32 bits of virtual time, and 21 of cost; the queue's time of
//! 32, and the number of waiting requests by kernel. Compared times differ by less than 2^31, so
//! they may wrap around.

use super::lists::{Lists, Place, slot};
use super::settings::DramSettings;
use crate::memory::KERNEL_SLOTS;
use crate::memory::dram::DramRequest;

/// Cost of a sector at the smallest share, 1 of 1,024. Rounding a cost down loses less than a
/// thousandth of it (own).
const SECTOR: u64 = 1 << 20;

/// Order by bandwidth shares, with the progress of the kernels.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    cap: u64,
    /// Virtual time of a sector, by kernel slot.
    cost: [u64; KERNEL_SLOTS],
    /// Virtual time of each kernel.
    time: [u64; KERNEL_SLOTS],
    /// Virtual time of the queue.
    now: u64,
    /// Number of waiting requests by kernel.
    waiting: [u32; KERNEL_SLOTS],
}

impl Shares {
    /// Creates the order for a queue with these waiting requests.
    pub(super) fn new(settings: &DramSettings, lists: &Lists) -> Self {
        let mut shares = Shares { cap: 0, cost: [0; KERNEL_SLOTS], time: [0; KERNEL_SLOTS], now: 0, waiting: [0; KERNEL_SLOTS] };
        shares.set(settings);
        lists.all().for_each(|request| shares.came(request));
        shares
    }

    /// Changes the shares.
    pub(super) fn set(&mut self, settings: &DramSettings) {
        self.cap = settings.cap().into();
        self.cost = settings.shares.map(|share| SECTOR / u64::from(share.max(1)));
    }

    /// Records a new request.
    pub(super) fn came(&mut self, request: &DramRequest) {
        let slot = slot(request);
        if self.waiting[slot] == 0 {
            self.time[slot] = self.time[slot].max(self.now);
        }
        self.waiting[slot] += 1;
    }

    /// Selects the next request of `bank`, given the row in its row buffer.
    pub(super) fn choose(&mut self, lists: &Lists, bank: usize, row: u32) -> Option<Place> {
        lists.oldest(bank)?;
        let waits = self.time.iter().zip(&self.waiting).filter(|(_, waiting)| **waiting > 0);
        self.now = waits.map(|(time, _)| *time).min()?.max(self.now);
        let time = |(_, request): &(Place, &DramRequest)| self.time[slot(request)];
        // The first of equal requests is the oldest.
        let behind = lists.of_bank(bank).min_by_key(time)?;
        let may_hit = |(_, request): &(Place, &DramRequest)| {
            let slot = slot(request);
            request.row == row && self.time[slot] - time(&behind) <= self.cap * self.cost[slot]
        };
        let (place, request) = lists.of_bank(bank).filter(may_hit).min_by_key(time).unwrap_or(behind);
        let slot = slot(request);
        self.waiting[slot] -= 1;
        self.time[slot] += u64::from(request.atoms) * self.cost[slot];
        Some(place)
    }

    /// Largest difference in virtual time between waiting kernels.
    #[cfg(test)]
    pub(super) fn spread(&self) -> u64 {
        let times = || self.time.iter().zip(&self.waiting).filter(|(_, waiting)| **waiting > 0).map(|(time, _)| *time);
        times().max().unwrap_or(0) - times().min().unwrap_or(0)
    }
}
