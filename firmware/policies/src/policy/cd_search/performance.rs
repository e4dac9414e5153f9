//! Performance mode of CD-search: each memory-intensive kernel keeps the fewest SMs at its former
//! rate, and the others get the rest (Zhao et al. 2018, section 4.2; sources.md D150).
//!
//! The paper ends "when the performance loss is no more than" the threshold, which would allow only
//! the first step. Here the search ends when the loss exceeds the threshold, and goes one step
//! back.

use super::{CdSearch, Step};
use crate::search::{Rest, Search};

/// SMs that a step takes from each kernel (Zhao et al. 2018, section 4.2).
const STEP_SMS: u16 = 2;

impl CdSearch {
    /// Takes the first SMs from the memory-intensive kernels.
    pub(super) fn begin_performance(&mut self, search: &mut Search) -> bool {
        search.shares.set_rest(Rest::Stalled);
        self.step = Step::Shrink;
        self.shrink(search)
    }

    /// Goes one step back for kernels that lost too much, and one step further for the others.
    pub(super) fn shrunk(&mut self, search: &mut Search) -> bool {
        let losers = search.losers() & search.memory & !self.found;
        for kernel in 0..search.shares.kernels() {
            if losers >> kernel & 1 != 0 {
                let taken = self.taken.get(kernel).copied().unwrap_or(0);
                search.shares.keep(kernel, search.shares.kept(kernel).saturating_add(taken.into()));
            }
        }
        self.found |= losers;
        self.shrink(search)
    }

    fn shrink(&mut self, search: &mut Search) -> bool {
        let mut any = false;
        for kernel in 0..search.shares.kernels() {
            if search.memory & !self.found & 1 << kernel == 0 {
                continue;
            }
            // Each kernel keeps one SM.
            let kept = search.shares.kept(kernel);
            let taken = kept.saturating_sub(1).min(STEP_SMS);
            if taken == 0 {
                self.found |= 1 << kernel;
                continue;
            }
            search.shares.keep(kernel, kept.saturating_sub(taken));
            if let Some(entry) = self.taken.get_mut(kernel) {
                *entry = taken as u8;
            }
            any = true;
        }
        if !any || search.parameters.reassigns {
            search.shares.give_to(search.all() & !search.memory);
        }
        any
    }
}
