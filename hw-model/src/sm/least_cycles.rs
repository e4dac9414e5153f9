//! How long TBs stay at least: a warp issues an instruction per cycle at most.

use super::Sm;
use super::tb::TbSlot;

impl Sm {
    /// Cycles for which no TB can end here, or drain; `u64::MAX` if there is none.
    pub(crate) fn least_cycles(&self) -> u64 {
        self.tbs.iter().filter(|tb| tb.live).map(|tb| self.least_cycles_of(tb)).min().unwrap_or(u64::MAX)
    }

    /// Cycles for which TBs of the kernel in slot `kernel` cannot all have ended here.
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
