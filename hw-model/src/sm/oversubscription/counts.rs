//! What is counted of extra TBs, by kernel and SM.

use serde::{Deserialize, Serialize};

/// Of a kernel on an SM, or of several added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OversubscriptionCounts {
    /// TBs taken beyond those that fit.
    pub extra_tbs: u64,
    /// Warps, or TBs where whole TBs are switched, whose contexts have left their places, and come back.
    pub switched_out: u64,
    /// As `switched_out`, into their places.
    pub switched_in: u64,
    /// Cycles in which contexts moved.
    pub moving_cycles: u64,
    /// Most TBs at a time on any SM: the TLP of Lin et al. 2018, section 7.3.
    pub most_tbs: u32,
    /// TBs on SMs, summed over cycles, and cycles of SMs with at least one.
    pub tb_cycles: u64,
    /// As `tb_cycles`, cycles.
    pub held_cycles: u64,
    /// Warps whose contexts are not in their places, summed over cycles.
    #[serde(default)]
    pub absent_warp_cycles: u64,
}

impl OversubscriptionCounts {
    /// Adds those of another SM, or of another launch.
    pub(crate) fn add(&mut self, other: &OversubscriptionCounts) {
        self.extra_tbs += other.extra_tbs;
        self.switched_out += other.switched_out;
        self.switched_in += other.switched_in;
        self.moving_cycles += other.moving_cycles;
        self.most_tbs = self.most_tbs.max(other.most_tbs);
        self.tb_cycles += other.tb_cycles;
        self.held_cycles += other.held_cycles;
        self.absent_warp_cycles += other.absent_warp_cycles;
    }
}

/// TBs of a kernel on an SM over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TbTime {
    tbs: u32,
    since: u64,
    tb_cycles: u64,
    held_cycles: u64,
    most: u32,
}

impl TbTime {
    /// From cycle `from` on there are so many.
    pub(super) fn set(&mut self, tbs: u32, from: u64) {
        let cycles = from.saturating_sub(self.since);
        self.tb_cycles += cycles * u64::from(self.tbs);
        self.held_cycles += if self.tbs > 0 { cycles } else { 0 };
        (self.tbs, self.since) = (tbs, from);
        self.most = self.most.max(tbs);
    }

    /// Adds them up to and without cycle `now`.
    pub(super) fn add_to(mut self, counts: &mut OversubscriptionCounts, now: u64) {
        self.set(self.tbs, now);
        counts.tb_cycles += self.tb_cycles;
        counts.held_cycles += self.held_cycles;
        counts.most_tbs = counts.most_tbs.max(self.most);
    }
}

/// A number that is summed over cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summed {
    value: u32,
    since: u64,
    sum: u64,
}

impl Summed {
    /// From cycle `from` on it is `value`.
    pub(super) fn set(&mut self, value: u32, from: u64) {
        self.sum = self.until(from);
        (self.value, self.since) = (value, from);
    }

    /// Its sum up to and without cycle `now`.
    pub(super) fn until(self, now: u64) -> u64 {
        self.sum + u64::from(self.value) * now.saturating_sub(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_summed() {
        let mut time = TbTime::default();
        for (tbs, from) in [(2, 10), (3, 15), (0, 20), (1, 30)] {
            time.set(tbs, from);
        }
        let mut counts = OversubscriptionCounts::default();
        time.add_to(&mut counts, 34);
        assert_eq!((counts.tb_cycles, counts.held_cycles, counts.most_tbs), (2 * 5 + 3 * 5 + 4, 5 + 5 + 4, 3));
        let mut summed = Summed::default();
        for (value, from) in [(2, 10), (3, 15), (0, 20), (1, 30)] {
            summed.set(value, from);
        }
        assert_eq!(summed.until(34), 2 * 5 + 3 * 5 + 4);
    }
}
