//! Quotas of warp instructions: the W of SMK-(P+W) (Wang et al. 2016, as Dai et al. 2018, section
//! 4, describe it).
//!
//! A kernel with a spent quota stops issuing. A new set is given when the quotas of all resident
//! kernels are spent. Kernels without TBs on the SM do not count, so no kernel waits for them.
//! Kernels without a quota do not count either, since they would never spend it. A resident kernel
//! with quota left eventually issues, since its loads and barriers do not depend on other kernels,
//! so no time-out is needed.

use super::super::KERNEL_SLOTS;
use super::settings::WarpQuotas;

/// Quotas of warp instructions.
#[derive(Clone, Debug)]
pub(super) struct WarpQuota {
    /// Quota of a new set, and rest, by kernel slot.
    quota: [u32; KERNEL_SLOTS],
    left: [u32; KERNEL_SLOTS],
    resident: u8,
}

impl WarpQuota {
    /// Creates the quotas by kernel slot; 0: none. Returns none if no kernel has a quota.
    pub(super) fn new(quotas: WarpQuotas) -> Option<Self> {
        let quota = quotas.map(|quota| if quota == 0 { u32::MAX } else { quota });
        (quotas != WarpQuotas::default()).then_some(WarpQuota { quota, left: quota, resident: 0 })
    }

    /// Changes the quotas. A changed one is full, and the others keep their rest.
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

    /// True if the kernel may issue.
    pub(super) fn has_left(&self, kernel: u8) -> bool {
        self.left[usize::from(kernel) & (KERNEL_SLOTS - 1)] > 0
    }

    /// Records an issued instruction of the kernel. Returns the number of counter operations: one
    /// if it has a quota, and with a new set one more for each kernel with a quota (sources.md
    /// D175).
    pub(super) fn issued(&mut self, kernel: u8) -> u64 {
        let left = &mut self.left[usize::from(kernel) & (KERNEL_SLOTS - 1)];
        if *left == u32::MAX {
            return 0;
        }
        *left = left.saturating_sub(1);
        1 + if *left == 0 && self.renew() { self.quota.iter().filter(|quota| **quota != u32::MAX).count() as u64 } else { 0 }
    }

    /// Sets the mask of kernels with TBs on the SM.
    pub(super) fn reside(&mut self, resident: u8) {
        self.resident = resident;
        self.renew();
    }

    /// Gives a new set if due. Returns true if it did.
    fn renew(&mut self) -> bool {
        let is_waited_for = |slot: usize| self.resident >> slot & 1 != 0 && self.quota[slot] != u32::MAX;
        let is_spent = (0..KERNEL_SLOTS).all(|slot| !is_waited_for(slot) || self.left[slot] == 0);
        if is_spent {
            self.left = self.quota;
        }
        is_spent
    }
}
