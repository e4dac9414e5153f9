//! Counts of extra TBs, by kernel and SM.

use serde::{Deserialize, Serialize};

/// Counts of a kernel on an SM, or summed over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OversubscriptionCounts {
    /// Number of TBs accepted beyond those that fit.
    pub extra_tbs: u64,
    /// Number of contexts moved out of their places: of warps, or of TBs where whole TBs are
    /// switched.
    pub switched_out: u64,
    /// Number of contexts moved back into their places.
    pub switched_in: u64,
    /// Number of cycles in which contexts moved.
    pub moving_cycles: u64,
    /// Maximum number of TBs at a time on any SM: the TLP of Lin et al. 2018, section 7.3.
    pub most_tbs: u32,
    /// Number of TBs on SMs, summed over cycles.
    pub tb_cycles: u64,
    /// Number of SM cycles with at least one TB.
    pub held_cycles: u64,
    /// Number of warps whose contexts are not in place, summed over cycles.
    #[serde(default)]
    pub absent_warp_cycles: u64,
}

impl OversubscriptionCounts {
    /// Adds the counts of another SM, or of another launch.
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

/// Number of a kernel's TBs on an SM over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TbTime {
    tbs: u32,
    since: u64,
    tb_cycles: u64,
    held_cycles: u64,
    most: u32,
}

impl TbTime {
    /// Sets the number of TBs from cycle `from` on.
    pub(super) fn set(&mut self, tbs: u32, from: u64) {
        let cycles = from.saturating_sub(self.since);
        self.tb_cycles += cycles * u64::from(self.tbs);
        self.held_cycles += if self.tbs > 0 { cycles } else { 0 };
        (self.tbs, self.since) = (tbs, from);
        self.most = self.most.max(tbs);
    }

    /// Adds the counts before cycle `now`.
    pub(super) fn add_to(mut self, counts: &mut OversubscriptionCounts, now: u64) {
        self.set(self.tbs, now);
        counts.tb_cycles += self.tb_cycles;
        counts.held_cycles += self.held_cycles;
        counts.most_tbs = counts.most_tbs.max(self.most);
    }
}

/// Number that is summed over cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summed {
    value: u32,
    since: u64,
    sum: u64,
}

impl Summed {
    /// Sets the number from cycle `from` on.
    pub(super) fn set(&mut self, value: u32, from: u64) {
        self.sum = self.until(from);
        (self.value, self.since) = (value, from);
    }

    /// Sum before cycle `now`.
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
