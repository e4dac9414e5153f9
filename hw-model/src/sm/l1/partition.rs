//! How the L1 learns of its size, of the kernels on the SM, and of whose ways and miss resources are how many (sources.md D124 and D125).
//! Whatever changes there may let a head in that was refused.

use super::super::refused::Refused;
use super::L1;
use crate::cache::{Shares, WaysStats};
use crate::sm::MissWeights;

impl L1 {
    /// Ways per set now.
    pub(in crate::sm) fn ways(&self) -> u32 {
        self.tags.geometry().ways
    }

    /// Empties the cache and gives it `ways` ways, from cycle `from` on. Sectors on their way are dropped when they come.
    pub(in crate::sm) fn reset(&mut self, ways: u32, from: u64) {
        self.used = false;
        self.refused = Refused::default();
        self.tags.turn(from);
        self.tags.reshape(ways);
        if let Some(divided) = &mut self.divided {
            divided.resize(ways);
        }
    }

    /// Kernels that have TBs on the SM from cycle `from` on, bit per slot.
    pub(in crate::sm) fn reside(&mut self, resident: u8, from: u64) {
        self.tags.reside(resident, from);
        if let Some(divided) = &mut self.divided {
            divided.reside(resident);
        }
        self.refused = Refused::default();
    }

    /// Another kernel has taken a slot, from cycle `from` on.
    pub(in crate::sm) fn forget(&mut self, kernel: u8, from: u64) {
        self.tags.forget(kernel, from);
    }

    /// Gives each kernel slot so many ways, or none its own, from cycle `from` on.
    pub(in crate::sm) fn set_ways(&mut self, ways: Option<Shares>, resident: u8, from: u64) {
        self.tags.set_ways(ways, resident, from);
        self.refused = Refused::default();
    }

    /// Shares the miss resources out by these weights, or as the machine does.
    pub(in crate::sm) fn weigh_misses(&mut self, weights: Option<MissWeights>) {
        if let Some(divided) = &mut self.divided {
            divided.weigh(weights);
            self.refused = Refused::default();
        }
    }

    /// Ways of each kernel that has TBs here; none where they are shared.
    pub(in crate::sm) fn ways_owned(&self) -> Option<Shares> {
        self.tags.ways_owned()
    }

    /// What the utility monitor of `kernel` has counted, by position in the order of use; nothing where there is none.
    pub(in crate::sm) fn monitor_hits(&self, kernel: usize) -> &[u32] {
        self.tags.monitor_hits(kernel)
    }

    /// What divides ways at times does so up to cycle `end`. To be called before the look-ups of the cycle before it.
    #[inline]
    pub(in crate::sm) fn turn(&mut self, end: u64) {
        if self.tags.turn(end) {
            self.refused = Refused::default();
        }
    }

    /// Adds what is told of the ways, if they are owned.
    pub(in crate::sm) fn add_ways(&self, stats: &mut Option<WaysStats>) {
        self.tags.add_ways(stats);
    }
}
