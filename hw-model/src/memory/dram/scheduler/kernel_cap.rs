//! Row-hit cap between kernels: FR-FCFS, but after a number of row hits of a bank that bypass an
//! older request of another kernel, that request goes first.
//!
//! It follows Mutlu and Moscibroda 2007, whose cap does not distinguish threads (sources.md D184).
//! A kernel bypasses its own requests without limit, so a single kernel is served as by FR-FCFS.
//!
//! Let no two kernels have requests to the same row. A request with `k` older ones in its bank is
//! bypassed by `o` younger ones of its own kernel. Then at most (`k` + `o` + 1)(cap + 1) younger
//! requests of others bypass it.
//!
//! In hardware per bank a count of 8 bits, and the kernel of each request.

use super::lists::{Lists, Place};
use crate::memory::dram::DramRequest;

/// FR-FCFS order with a cap between kernels, and the number of consecutive hits per bank that
/// bypassed an older request of another kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelCap {
    cap: u32,
    passed: Vec<u32>,
}

impl KernelCap {
    /// Creates the order for `banks` banks, with a cap of `cap` hits.
    pub(super) fn new(cap: u32, banks: u32) -> Self {
        KernelCap { cap, passed: vec![0; banks as usize] }
    }

    /// Changes the cap.
    pub(super) fn set_cap(&mut self, cap: u32) {
        self.cap = cap;
    }

    /// Selects the next request of `bank`, given the row in its row buffer.
    pub(super) fn choose(&mut self, lists: &Lists, bank: usize, row: u32) -> Option<Place> {
        let oldest = lists.oldest(bank)?;
        let passed = &mut self.passed[bank];
        let hits = |(_, request): &(Place, &DramRequest)| request.row == row;
        let Some((hit, DramRequest { kernel, .. })) = lists.of_bank(bank).find(hits).filter(|(hit, _)| *hit != oldest) else {
            *passed = 0;
            return Some(oldest);
        };
        let of_another = |(_, request): &(Place, &DramRequest)| request.kernel != *kernel;
        let Some((older, _)) = lists.of_bank(bank).take_while(|(place, _)| *place != hit).find(of_another) else { return Some(hit) };
        if *passed < self.cap {
            *passed += 1;
            return Some(hit);
        }
        *passed = 0;
        Some(older)
    }
}
