//! The power mode: as few SMs for each memory-intensive kernel as leave it what it had, and no power for the others (Zhao et al. 2018, section
//! 4.3; sources.md D151).
//!
//! One SM of each kernel says how many it may need, which is measured, and then one SM more at a time until nobody has lost more than allowed.
//! Kernels that had enough are looked at again in every step, since those beside them get more: when it ends, each has what it had, or all of
//! its even share.

use super::{CdSearch, Step};
use crate::search::{Rest, Search};

impl CdSearch {
    /// Leaves the memory-intensive kernels one SM each.
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

    /// As many as would be as fast as the even share if each were as fast as the one.
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

/// One more for those who lost too much; if there is none, the rest sleeps.
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
