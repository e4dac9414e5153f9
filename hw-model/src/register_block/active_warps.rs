//! Active warps in the register block: the limits that the firmware sets for each kernel slot, on
//! one SM or on all ([`mias_registers::sm::ACTIVE_WARPS`]; sources.md D159). The model follows
//! [`RegisterBlock::active_warps`] whenever [`RegisterBlock::active_warps_generation`] has changed.

use mias_registers::{KERNEL_SLOTS, fault, feature, global, sm};

use super::RegisterBlock;
use super::access::element;
use crate::config::WarpLimit;
use crate::sm::WarpLimits;

/// Slots in a word.
const SLOTS_PER_WORD: usize = KERNEL_SLOTS / sm::ACTIVE_WARPS_WORDS;

/// The limits of each SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActiveWarpsBlock {
    sms: Vec<WarpLimits>,
    /// The machine's, with which a new kernel begins.
    reset: WarpLimits,
    generation: u32,
}

impl ActiveWarpsBlock {
    /// None.
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

    /// A word of an SM's limits.
    pub(super) fn word(&self, sm: usize, offset: u32) -> Option<u32> {
        let word = element(offset, sm::ACTIVE_WARPS, sm::ACTIVE_WARPS_WORDS)?;
        let limits = self.sms.get(sm)?.iter().skip(word * SLOTS_PER_WORD).take(SLOTS_PER_WORD);
        Some(limits.rev().fold(0, |bits, limit| bits << sm::ACTIVE_WARPS_BITS | u32::from(*limit)))
    }
}

impl RegisterBlock {
    /// The same block, of SMs that limit active warps as a machine says, from reset, by kernel slot.
    #[must_use]
    pub fn with_active_warps(mut self, limits: &[WarpLimit]) -> Self {
        for (slot, limit) in limits.iter().enumerate().take(KERNEL_SLOTS) {
            self.warps.reset[slot] = limit.most().unwrap_or(0);
            (0..self.warps.sms.len()).for_each(|sm| self.warps.set(sm, slot, self.warps.reset[slot]));
        }
        self
    }

    /// Changes whenever [`RegisterBlock::active_warps`] of an SM do.
    #[must_use]
    pub fn active_warps_generation(&self) -> u32 {
        self.warps.generation
    }

    /// Limits of active warps on an SM.
    #[must_use]
    pub fn active_warps(&self, sm: usize) -> WarpLimits {
        self.warps.sms.get(sm).copied().unwrap_or_default()
    }

    /// A kernel is new in its slot: it begins with the machine's limit, on all SMs.
    pub fn active_warps_kernel_placed(&mut self, slot: usize) {
        let limit = self.warps.reset.get(slot).copied().unwrap_or(0);
        (0..self.warps.sms.len()).for_each(|sm| self.warps.set(sm, slot, limit));
    }

    /// Writes a slot's limit on all SMs; none if the offset is not that of a slot's.
    pub(super) fn write_active_warps_global(&mut self, offset: u32, value: u32) -> Option<()> {
        let slot = element(offset, global::ACTIVE_WARPS_ALL, self.slots.len())?;
        let limit = self.in_range(value, 0, sm::MOST_ACTIVE_WARPS) as u8;
        if self.limits_warps() {
            (0..self.warps.sms.len()).for_each(|sm| self.warps.set(sm, slot, limit));
        }
        Some(())
    }

    /// Writes a word of an SM's limits; none if the offset is not that of one. Limits of slots that
    /// the machine does not have are kept, and mean nothing.
    pub(super) fn write_active_warps(&mut self, sm: usize, offset: u32, value: u32) -> Option<()> {
        let word = element(offset, sm::ACTIVE_WARPS, sm::ACTIVE_WARPS_WORDS)?;
        let limits: [u8; SLOTS_PER_WORD] = value.to_le_bytes().map(|limit| self.in_range(limit.into(), 0, sm::MOST_ACTIVE_WARPS) as u8);
        if self.limits_warps() {
            limits.into_iter().enumerate().for_each(|(place, limit)| self.warps.set(sm, word * SLOTS_PER_WORD + place, limit));
        }
        Some(())
    }

    /// Whether the SMs can limit active warps; says so if they cannot.
    fn limits_warps(&mut self) -> bool {
        let can = self.gpu.features & feature::ACTIVE_WARPS != 0;
        if !can {
            self.raise_fault(fault::UNSUPPORTED);
        }
        can
    }
}
