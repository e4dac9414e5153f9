//! Batches: PAR-BS (Mutlu and Moscibroda 2008, rules 1 to 3; sources.md D185), with kernels for
//! threads.
//!
//! When no marked request waits any more, the oldest requests of each kernel are marked in each
//! bank, up to the cap. Order of a bank's requests: marked ones, then row hits, then those of the
//! kernel with the least work in this batch, then the oldest. The kernel with the least work has
//! the fewest marked requests in its fullest bank, then the fewest in all, then the lowest slot.
//!
//! A request with `k` older ones of its kernel in its bank is in one of the next ceil((`k` + 1) /
//! cap) batches. Of a batch, each bank serves at most cap requests of each kernel. That bounds its
//! wait. A single kernel is served as by FR-FCFS if no row hit passes a marked request: if all
//! requests of a bank are to one row, or no two of them.
//!
//! In hardware a mark per request; per channel the number of marked requests and 3 bits of rank per
//! kernel; and to form a batch, per kernel a count in each bank and its sum and maximum. Forming
//! takes no time (assumption).

use super::lists::{Lists, Place, slot};
use crate::memory::KERNEL_SLOTS;
use crate::memory::dram::DramRequest;

/// PAR-BS order, with the rest of the batch.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    cap: u32,
    /// Marks, by index in the pool.
    marked: Vec<bool>,
    /// Number of marked requests that wait.
    left: u32,
    /// Rank of each kernel: number of kernels with less work.
    rank: [u8; KERNEL_SLOTS],
    /// Number of batches so far.
    #[cfg(test)]
    pub(super) formed: u64,
}

impl Batch {
    /// Creates the order for a queue of `capacity` requests; `cap` of a kernel in a bank are
    /// marked.
    pub(super) fn new(cap: u32, capacity: u32) -> Self {
        Batch {
            cap,
            marked: vec![false; capacity as usize],
            left: 0,
            rank: [0; KERNEL_SLOTS],
            #[cfg(test)]
            formed: 0,
        }
    }

    /// Changes the cap, from the next batch on.
    pub(super) fn set_cap(&mut self, cap: u32) {
        self.cap = cap;
    }

    /// Selects the next request of `bank`, given the row in its row buffer.
    pub(super) fn choose(&mut self, lists: &Lists, bank: usize, row: u32) -> Option<Place> {
        lists.oldest(bank)?;
        if self.left == 0 {
            self.form(lists);
        }
        // The first of equal requests is the oldest.
        let order = |(place, request): &(Place, &DramRequest)| (!self.marked[place.slot()], request.row != row, self.rank[slot(request)]);
        let (place, _) = lists.of_bank(bank).min_by_key(order)?;
        self.left -= u32::from(std::mem::take(&mut self.marked[place.slot()]));
        Some(place)
    }

    /// Marks requests, and ranks kernels by their work.
    fn form(&mut self, lists: &Lists) {
        let (mut most, mut all) = ([0; KERNEL_SLOTS], [0; KERNEL_SLOTS]);
        let mut banks = lists.waiting();
        while banks != 0 {
            let mut of_bank = [0; KERNEL_SLOTS];
            for (place, request) in lists.of_bank(banks.trailing_zeros() as usize) {
                let count: &mut u32 = &mut of_bank[slot(request)];
                if *count < self.cap {
                    *count += 1;
                    self.marked[place.slot()] = true;
                    self.left += 1;
                }
            }
            for slot in 0..KERNEL_SLOTS {
                most[slot] = most[slot].max(of_bank[slot]);
                all[slot] += of_bank[slot];
            }
            banks &= banks - 1;
        }
        let load = |slot: usize| (most[slot], all[slot], slot);
        self.rank = std::array::from_fn(|slot| (0..KERNEL_SLOTS).filter(|&other| load(other) < load(slot)).count() as u8);
        #[cfg(test)]
        {
            self.formed += 1;
        }
    }
}
