//! Resource divided among the kernels on an SM, in shares by weight, at least one each.
//!
//! Own, since the paper gives only the idea: shares follow the resident kernels. A kernel keeps
//! what it has beyond a share that has shrunk, until it returns it. A kernel without TBs on the SM,
//! with accesses still in flight, may have one.
//!
//! In hardware a counter and a share per kernel slot, as wide as the resource's own count.

use crate::sm::KERNEL_SLOTS;

/// Weights by kernel slot.
pub(super) type Weights = [u32; KERNEL_SLOTS];

#[derive(Clone, Debug)]
pub(super) struct Divided {
    whole: u32,
    weights: Weights,
    resident: u8,
    shares: [u32; KERNEL_SLOTS],
    taken: [u32; KERNEL_SLOTS],
}

impl Divided {
    /// Creates the shares of `whole` by weights, each at least 1.
    pub(super) fn new(whole: u32, weights: Weights) -> Self {
        Divided { whole, weights, resident: 0, shares: [1; KERNEL_SLOTS], taken: [0; KERNEL_SLOTS] }
    }

    /// Changes the weights.
    pub(super) fn weigh(&mut self, weights: Weights) {
        self.weights = weights;
        self.reside(self.resident);
    }

    pub(super) fn reside(&mut self, resident: u8) {
        let here = |slot: usize| resident >> slot & 1 != 0;
        let sum: u64 = (0..KERNEL_SLOTS).filter(|&slot| here(slot)).map(|slot| u64::from(self.weights[slot])).sum();
        self.resident = resident;
        self.shares = std::array::from_fn(|slot| match here(slot) {
            true => (u64::from(self.whole) * u64::from(self.weights[slot]) / sum).max(1) as u32,
            false => 1,
        });
    }

    pub(super) fn resize(&mut self, whole: u32) {
        self.whole = whole;
        self.reside(self.resident);
    }

    pub(super) fn share(&self, kernel: u8) -> u32 {
        self.shares[usize::from(kernel)]
    }

    pub(super) fn has_room(&self, kernel: u8) -> bool {
        self.taken[usize::from(kernel)] < self.share(kernel)
    }

    pub(super) fn take(&mut self, kernel: u8) {
        self.taken[usize::from(kernel)] += 1;
    }

    pub(super) fn give_back(&mut self, kernel: u8) {
        self.taken[usize::from(kernel)] -= 1;
    }
}
