//! Minimum remaining time of TBs: a warp issues at most one instruction per cycle.

use super::Sm;
use super::tb::TbSlot;

impl Sm {
    /// Number of cycles in which no TB can end or drain on this SM; `u64::MAX` without TBs.
    pub(crate) fn least_cycles(&self) -> u64 {
        self.tbs.iter().filter(|tb| tb.live).map(|tb| self.least_cycles_of(tb)).min().unwrap_or(u64::MAX)
    }

    /// Number of cycles in which the TBs of the kernel in slot `kernel` cannot all end on this SM.
    pub(crate) fn least_cycles_of_all(&self, kernel: u8) -> u64 {
        self.tbs.iter().filter(|tb| tb.live && tb.kernel == kernel).map(|tb| self.least_cycles_of(tb)).max().unwrap_or(0)
    }

    fn least_cycles_of(&self, tb: &TbSlot) -> u64 {
        if tb.evicted {
            return 0;
        }
        let warps = self.warps.range(tb.first_warp..tb.first_warp + tb.warps);
        warps.iter().filter(|warp| warp.live).map(|warp| u64::from(warp.end - warp.next)).max().unwrap_or(0)
    }
}
