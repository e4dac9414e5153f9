//! A row-hit cap between kernels: FR-FCFS, but after so many row hits of a bank that went before an older request of another kernel, that
//! one goes first (after Mutlu and Moscibroda 2007, whose cap knows no threads; sources.md D184). A kernel passes its own requests as
//! often as it likes, so that one kernel alone is served as by FR-FCFS.
//!
//! Where no two kernels have requests to the same row, a request with `k` older ones in its bank that `o` younger ones of its own kernel
//! pass sees at most (`k` + `o` + 1)(cap + 1) younger requests of others go first.
//!
//! In hardware per bank a count of 8 bits, beside the kernel of each request.

use super::lists::{Lists, Place};
use crate::memory::dram::DramRequest;

/// The order, and per bank how often in a row a hit went before an older request of another kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelCap {
    cap: u32,
    passed: Vec<u32>,
}

impl KernelCap {
    /// For `banks` banks, of which so many hits may pass.
    pub(super) fn new(cap: u32, banks: u32) -> Self {
        KernelCap { cap, passed: vec![0; banks as usize] }
    }

    /// Another cap, from now on.
    pub(super) fn set_cap(&mut self, cap: u32) {
        self.cap = cap;
    }

    /// The request that `bank` serves next, given the row in its row buffer.
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
