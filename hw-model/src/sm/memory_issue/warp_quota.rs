//! Quotas of warp instructions: the W of SMK-(P+W) (Wang et al. 2016, as Dai et al. 2018, section 4, describe it).
//!
//! A kernel whose quota is spent stops issuing; a new set is given when those of all kernels here are spent. Kernels without TBs here do not
//! count, so that nobody waits for them, and neither do kernels without a quota, which would never spend it. A kernel with TBs here and quota
//! left issues in the end, since what it waits for (loads, barriers) does not wait for other kernels: no time-out is needed.

use super::super::KERNEL_SLOTS;
use super::settings::WarpQuotas;

/// Quotas.
#[derive(Clone, Debug)]
pub(super) struct WarpQuota {
    /// By kernel slot: of a new set, and what is left.
    quota: [u32; KERNEL_SLOTS],
    left: [u32; KERNEL_SLOTS],
    resident: u8,
}

impl WarpQuota {
    /// By kernel slot; 0: any number. None if nobody has a quota.
    pub(super) fn new(quotas: WarpQuotas) -> Option<Self> {
        let quota = quotas.map(|quota| if quota == 0 { u32::MAX } else { quota });
        (quotas != WarpQuotas::default()).then_some(WarpQuota { quota, left: quota, resident: 0 })
    }

    /// Quotas are these from now on. One that has changed is whole, and of the others there is left what was.
    pub(super) fn change(now: &mut Option<Self>, quotas: WarpQuotas, resident: u8) {
        let mut changed = WarpQuota::new(quotas);
        if let (Some(changed), Some(before)) = (&mut changed, &*now) {
            for slot in (0..KERNEL_SLOTS).filter(|&slot| changed.quota[slot] == before.quota[slot]) {
                changed.left[slot] = before.left[slot];
            }
        }
        if let Some(changed) = &mut changed {
            changed.reside(resident);
        }
        *now = changed;
    }

    /// Whether the kernel may issue.
    pub(super) fn has_left(&self, kernel: u8) -> bool {
        self.left[usize::from(kernel) & (KERNEL_SLOTS - 1)] > 0
    }

    /// A warp of the kernel has issued an instruction. Returns what that counted: one if it has a quota, and with a new set one more for each
    /// kernel that has one (sources.md D175).
    pub(super) fn issued(&mut self, kernel: u8) -> u64 {
        let left = &mut self.left[usize::from(kernel) & (KERNEL_SLOTS - 1)];
        if *left == u32::MAX {
            return 0;
        }
        *left = left.saturating_sub(1);
        1 + if *left == 0 && self.renew() { self.quota.iter().filter(|quota| **quota != u32::MAX).count() as u64 } else { 0 }
    }

    /// Kernels that have TBs here, bit per slot.
    pub(super) fn reside(&mut self, resident: u8) {
        self.resident = resident;
        self.renew();
    }

    /// Gives a new set if it is time; whether it has.
    fn renew(&mut self) -> bool {
        let is_waited_for = |slot: usize| self.resident >> slot & 1 != 0 && self.quota[slot] != u32::MAX;
        let is_spent = (0..KERNEL_SLOTS).all(|slot| !is_waited_for(slot) || self.left[slot] == 0);
        if is_spent {
            self.left = self.quota;
        }
        is_spent
    }
}
