//! Shares of each kernel slot, equal on all SMs: quotas of warp instructions, and weights of the
//! L1's miss resources.
//!
//! Registers: [`global::WARP_QUOTA`], [`global::MISS_WEIGHT`]; sources.md D176. The model applies
//! quotas with the other settings of memory issue ([`RegisterBlock::memory_settings`]). It takes
//! weights after a write ([`RegisterBlock::take_miss_weights`]).

use super::RegisterBlock;
use super::access::element;
use crate::sm::{MissWeights, WarpQuotas};
use mias_registers::{fault, feature, global, memory};

/// State of quotas and weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SharesBlock {
    pub(super) warp_quotas: WarpQuotas,
    /// Quotas of the GPU file, the initial ones of a new kernel.
    reset: WarpQuotas,
    miss_weights: MissWeights,
    /// True if weights were written since the model took them.
    written: bool,
}

impl SharesBlock {
    /// Register value; none for an offset outside these registers.
    pub(super) fn read(&self, offset: u32, slots: usize) -> Option<u32> {
        if let Some(slot) = element(offset, global::WARP_QUOTA, slots) {
            return self.warp_quotas.get(slot).copied();
        }
        let slot = element(offset, global::MISS_WEIGHT, slots)?;
        self.miss_weights.get(slot).copied().map(u32::from)
    }

    /// Resets a slot's quota to the GPU file's, for a new kernel.
    pub(super) fn kernel_placed(&mut self, slot: usize) {
        if let (Some(quota), Some(reset)) = (self.warp_quotas.get_mut(slot), self.reset.get(slot)) {
            *quota = *reset;
        }
    }
}

impl RegisterBlock {
    /// Sets the quotas after reset.
    pub(super) fn with_warp_quotas(mut self, quotas: WarpQuotas) -> Self {
        (self.shares.warp_quotas, self.shares.reset) = (quotas, quotas);
        self
    }

    /// Sets whether the L1s can divide their miss resources.
    #[must_use]
    pub fn with_miss_shares(mut self, has: bool) -> Self {
        self.gpu.features |= if has { feature::MISS_SHARES } else { 0 };
        self
    }

    /// Takes the weights of miss resources if they were written since the last call: one per kernel
    /// slot, at least 1, or none where the GPU file divides.
    pub fn take_miss_weights(&mut self) -> Option<Option<MissWeights>> {
        let weights = self.shares.miss_weights;
        std::mem::take(&mut self.shares.written).then(|| (weights != MissWeights::default()).then(|| weights.map(|weight| weight.max(1))))
    }

    /// Writes a register; none for an offset outside these registers.
    pub(super) fn write_shares(&mut self, offset: u32, value: u32) -> Option<()> {
        if let Some(slot) = element(offset, global::WARP_QUOTA, self.slots.len()) {
            let quota = self.in_range(value, 0, memory::MOST_WARP_QUOTA);
            if self.has_memory_issue() {
                *self.shares.warp_quotas.get_mut(slot)? = quota;
                self.memory.changed();
            }
            return Some(());
        }
        let slot = element(offset, global::MISS_WEIGHT, self.slots.len())?;
        let weight = self.in_range(value, 0, memory::MOST_MISS_WEIGHT) as u16;
        if self.gpu.features & feature::MISS_SHARES == 0 {
            self.raise_fault(fault::UNSUPPORTED);
            return Some(());
        }
        *self.shares.miss_weights.get_mut(slot)? = weight;
        self.shares.written = true;
        Some(())
    }
}
