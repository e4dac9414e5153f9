//! Power mode of CD-search: each memory-intensive kernel keeps the fewest SMs at its former rate,
//! and the other SMs are power-gated (Zhao et al. 2018, section 4.3; sources.md D151).
//!
//! One SM of each kernel gives an estimate of its need. The estimate is measured, and one SM is
//! added at a time until no kernel has lost more than allowed. Kernels with enough SMs are checked
//! again in every step, because the other kernels get more. At the end each kernel has its former
//! rate, or all of its even share.

use super::{CdSearch, Step};
use crate::search::{Rest, Search};

impl CdSearch {
    /// Leaves one SM to each memory-intensive kernel.
    pub(super) fn begin_power(&mut self, search: &mut Search) -> bool {
        search.shares.set_rest(Rest::Stalled);
        for kernel in 0..search.shares.kernels() {
            if search.memory >> kernel & 1 != 0 {
                search.shares.keep(kernel, 1);
            }
        }
        self.step = Step::One;
        true
    }

    /// Sets the number of SMs that would match the even share at the rate of the one SM.
    pub(super) fn estimate(&mut self, search: &mut Search) -> bool {
        for kernel in 0..search.shares.kernels() {
            if search.memory >> kernel & 1 != 0
                && let (Some(even), Some(counts)) = (search.even.get(kernel), search.counts.get(kernel))
            {
                let wanted = even.multiple_of(&counts.rate(), search.shares.share(kernel));
                search.shares.keep(kernel, wanted);
            }
        }
        self.step = Step::Verify;
        true
    }
}

/// Adds one SM for each kernel that lost too much; if there is none, gates the rest.
pub(super) fn verify(search: &mut Search) -> bool {
    let losers = search.losers() & search.memory;
    let mut any = false;
    for kernel in 0..search.shares.kernels() {
        let kept = search.shares.kept(kernel);
        if losers >> kernel & 1 != 0 && kept < search.shares.share(kernel) {
            search.shares.keep(kernel, kept.saturating_add(1));
            any = true;
        }
    }
    if any {
        return true;
    }
    search.shares.set_rest(if search.parameters.gates { Rest::Gated } else { Rest::Idle });
    false
}
