//! Shared ways: the least recently used line that may be evicted, regardless of kernels, as in
//! GPGPU-Sim (sources.md D62).

use crate::cache::TagArray;

impl TagArray {
    /// True if any line of `set` may be evicted.
    #[inline(always)]
    pub(super) fn has_room(&self, set: usize) -> bool {
        let set = &self.sets[set];
        let locked = if self.may_evict_modified() { set.reserved } else { set.reserved + set.modified };
        locked != self.geometry.ways
    }

    /// Least recently used line of `set` that may be evicted; there must be one.
    pub(super) fn least_recent(&self, set: usize) -> u32 {
        let may_evict_modified = self.may_evict_modified();
        let mut slot = self.recency[self.lines.len() + set].newer;
        loop {
            let line = &self.lines[slot as usize];
            if line.reserved == 0 && (may_evict_modified || line.modified == 0) {
                return slot;
            }
            slot = self.recency[slot as usize].newer;
        }
    }
}
