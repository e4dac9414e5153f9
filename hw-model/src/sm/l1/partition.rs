//! Size of the L1, resident kernels, and division of its ways and miss resources (sources.md D124
//! and D125). Any change may let a refused head succeed.

use super::super::refused::Refused;
use super::L1;
use crate::cache::{Shares, WaysStats};
use crate::sm::MissWeights;

impl L1 {
    /// Current number of ways per set.
    pub(in crate::sm) fn ways(&self) -> u32 {
        self.tags.geometry().ways
    }

    /// Empties the cache and sets its number of ways, from cycle `from` on. Sectors in flight are
    /// dropped when they arrive.
    pub(in crate::sm) fn reset(&mut self, ways: u32, from: u64) {
        self.used = false;
        self.refused = Refused::default();
        self.tags.turn(from);
        self.tags.reshape(ways);
        if let Some(divided) = &mut self.divided {
            divided.resize(ways);
        }
    }

    /// Sets the mask of kernels with TBs on the SM from cycle `from` on.
    pub(in crate::sm) fn reside(&mut self, resident: u8, from: u64) {
        self.tags.reside(resident, from);
        if let Some(divided) = &mut self.divided {
            divided.reside(resident);
        }
        self.refused = Refused::default();
    }

    /// Resets a slot for another kernel, from cycle `from` on.
    pub(in crate::sm) fn forget(&mut self, kernel: u8, from: u64) {
        self.tags.forget(kernel, from);
    }

    /// Assigns ways to the kernel slots, or none, from cycle `from` on.
    pub(in crate::sm) fn set_ways(&mut self, ways: Option<Shares>, resident: u8, from: u64) {
        self.tags.set_ways(ways, resident, from);
        self.refused = Refused::default();
    }

    /// Divides the miss resources by these weights; none restores the configured division.
    pub(in crate::sm) fn weigh_misses(&mut self, weights: Option<MissWeights>) {
        if let Some(divided) = &mut self.divided {
            divided.weigh(weights);
            self.refused = Refused::default();
        }
    }

    /// Ways of each kernel with TBs on the SM; none where they are shared.
    pub(in crate::sm) fn ways_owned(&self) -> Option<Shares> {
        self.tags.ways_owned()
    }

    /// Counts of the utility monitor of `kernel`, by recency position; empty without a monitor.
    pub(in crate::sm) fn monitor_hits(&self, kernel: usize) -> &[u32] {
        self.tags.monitor_hits(kernel)
    }

    /// Ends periods of the division of ways up to cycle `end`. Call it before the look-ups of the
    /// cycle before `end`.
    #[inline]
    pub(in crate::sm) fn turn(&mut self, end: u64) {
        if self.tags.turn(end) {
            self.refused = Refused::default();
        }
    }

    /// Adds the statistics of the ways, if they are owned.
    pub(in crate::sm) fn add_ways(&self, stats: &mut Option<WaysStats>) {
        self.tags.add_ways(stats);
    }
}
