//! Limits of active warps, which the firmware sets for each kernel slot on one SM or on all.
//!
//! Registers: [`mias_registers::sm::ACTIVE_WARPS`]; sources.md D159. The model applies
//! [`RegisterBlock::active_warps`] whenever [`RegisterBlock::active_warps_generation`] has changed.

use mias_registers::{KERNEL_SLOTS, fault, feature, global, sm};

use super::RegisterBlock;
use super::access::element;
use crate::config::WarpLimit;
use crate::sm::WarpLimits;

/// Kernel slots per register word.
const SLOTS_PER_WORD: usize = KERNEL_SLOTS / sm::ACTIVE_WARPS_WORDS;

/// Limits of each SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActiveWarpsBlock {
    sms: Vec<WarpLimits>,
    /// Limits of the GPU file, the initial ones of a new kernel.
    reset: WarpLimits,
    generation: u32,
}

impl ActiveWarpsBlock {
    /// Creates a block without limits.
    pub(super) fn new(sms: usize) -> Self {
        ActiveWarpsBlock { sms: vec![[0; KERNEL_SLOTS]; sms], reset: [0; KERNEL_SLOTS], generation: 0 }
    }

    /// Sets a slot's limit on an SM.
    fn set(&mut self, sm: usize, slot: usize, limit: u8) {
        let Some(held) = self.sms.get_mut(sm).and_then(|limits| limits.get_mut(slot)) else { return };
        if std::mem::replace(held, limit) != limit {
            self.generation = self.generation.wrapping_add(1);
        }
    }

    /// Register word of an SM's limits.
    pub(super) fn word(&self, sm: usize, offset: u32) -> Option<u32> {
        let word = element(offset, sm::ACTIVE_WARPS, sm::ACTIVE_WARPS_WORDS)?;
        let limits = self.sms.get(sm)?.iter().skip(word * SLOTS_PER_WORD).take(SLOTS_PER_WORD);
        Some(limits.rev().fold(0, |bits, limit| bits << sm::ACTIVE_WARPS_BITS | u32::from(*limit)))
    }
}

impl RegisterBlock {
    /// Sets the limits after reset, by kernel slot, as the GPU file gives them.
    #[must_use]
    pub fn with_active_warps(mut self, limits: &[WarpLimit]) -> Self {
        for (slot, limit) in limits.iter().enumerate().take(KERNEL_SLOTS) {
            self.warps.reset[slot] = limit.most().unwrap_or(0);
            (0..self.warps.sms.len()).for_each(|sm| self.warps.set(sm, slot, self.warps.reset[slot]));
        }
        self
    }

    /// Number that changes whenever [`RegisterBlock::active_warps`] of an SM do.
    #[must_use]
    pub fn active_warps_generation(&self) -> u32 {
        self.warps.generation
    }

    /// Limits of active warps on an SM.
    #[must_use]
    pub fn active_warps(&self, sm: usize) -> WarpLimits {
        self.warps.sms.get(sm).copied().unwrap_or_default()
    }

    /// Resets a slot's limit to the GPU file's on all SMs, for a new kernel.
    pub fn active_warps_kernel_placed(&mut self, slot: usize) {
        let limit = self.warps.reset.get(slot).copied().unwrap_or(0);
        (0..self.warps.sms.len()).for_each(|sm| self.warps.set(sm, slot, limit));
    }

    /// Writes a slot's limit on all SMs; none if the offset is not a limit's.
    pub(super) fn write_active_warps_global(&mut self, offset: u32, value: u32) -> Option<()> {
        let slot = element(offset, global::ACTIVE_WARPS_ALL, self.slots.len())?;
        let limit = self.in_range(value, 0, sm::MOST_ACTIVE_WARPS) as u8;
        if self.limits_warps() {
            (0..self.warps.sms.len()).for_each(|sm| self.warps.set(sm, slot, limit));
        }
        Some(())
    }

    /// Writes a word of an SM's limits; none if the offset is not a limit's. Limits of slots that
    /// the machine lacks are stored without effect.
    pub(super) fn write_active_warps(&mut self, sm: usize, offset: u32, value: u32) -> Option<()> {
        let word = element(offset, sm::ACTIVE_WARPS, sm::ACTIVE_WARPS_WORDS)?;
        let limits: [u8; SLOTS_PER_WORD] = value.to_le_bytes().map(|limit| self.in_range(limit.into(), 0, sm::MOST_ACTIVE_WARPS) as u8);
        if self.limits_warps() {
            limits.into_iter().enumerate().for_each(|(place, limit)| self.warps.set(sm, word * SLOTS_PER_WORD + place, limit));
        }
        Some(())
    }

    /// True if the SMs can limit active warps; raises a fault if not.
    fn limits_warps(&mut self) -> bool {
        let can = self.gpu.features & feature::ACTIVE_WARPS != 0;
        if !can {
            self.raise_fault(fault::UNSUPPORTED);
        }
        can
    }
}
