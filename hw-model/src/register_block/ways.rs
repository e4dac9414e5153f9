//! Ways of the caches in the register block: what the firmware gives each kernel slot, and what utility monitors count
//! ([`mias_registers::memory`]; sources.md D138).
//!
//! The model takes what was written ([`RegisterBlock::take_l1_ways`], [`RegisterBlock::take_l2_ways`]) before it runs the cycle, and hands over
//! the counts of monitors, where its caches have any, before it calls the firmware.

use super::RegisterBlock;
use mias_registers::{KERNEL_SLOTS, fault, feature, global, memory, monitor};

/// Ways by kernel slot.
type Shares = [u16; KERNEL_SLOTS];

/// One cache, or all L2 slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CacheWays {
    /// As written.
    given: Shares,
    /// It was written since the model took it.
    written: bool,
    /// [`monitor`] fields.
    shown: u32,
    /// By slot, then position in the order of use.
    hits: [Vec<u32>; KERNEL_SLOTS],
}

impl CacheWays {
    fn take(&mut self) -> Option<Option<Shares>> {
        std::mem::take(&mut self.written).then(|| (self.given != Shares::default()).then_some(self.given))
    }

    fn word(&self, word: usize) -> Option<u32> {
        let pair = self.given.chunks_exact(2).nth(word)?;
        Some(u32::from(pair[0]) | u32::from(pair[1]) << memory::WAYS_BITS)
    }

    fn write(&mut self, word: usize, ways: [u16; 2]) -> Option<()> {
        self.given.chunks_exact_mut(2).nth(word)?.copy_from_slice(&ways);
        self.written = true;
        Some(())
    }

    fn shown_hits(&self) -> u32 {
        let position = (self.shown & monitor::POSITION) as usize;
        let slot = (self.shown >> monitor::SLOT_SHIFT) as usize % KERNEL_SLOTS;
        self.hits[slot].get(position).copied().unwrap_or(0)
    }

    fn load(&mut self, slot: usize, hits: &[u32]) {
        if let Some(of_slot) = self.hits.get_mut(slot) {
            of_slot.clear();
            of_slot.extend_from_slice(hits);
        }
    }
}

/// The block's share of the caches' ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaysBlock {
    l1: Vec<CacheWays>,
    l2: CacheWays,
    /// Something was written since the model looked.
    written: bool,
}

impl WaysBlock {
    pub(super) fn new(sms: usize) -> Self {
        WaysBlock { l1: vec![CacheWays::default(); sms], l2: CacheWays::default(), written: false }
    }

    /// A register of an SM; none if it is none of these.
    pub(super) fn read(&self, sm: usize, offset: u32) -> Option<u32> {
        let l1 = self.l1.get(sm)?;
        match offset {
            memory::L1_MONITOR => Some(l1.shown),
            memory::L1_MONITOR_HITS => Some(l1.shown_hits()),
            _ => l1.word(word_of(offset, memory::L1_WAYS)?),
        }
    }

    /// The same of a global register.
    pub(super) fn read_global(&self, offset: u32) -> Option<u32> {
        match offset {
            global::L2_MONITOR => Some(self.l2.shown),
            global::L2_MONITOR_HITS => Some(self.l2.shown_hits()),
            _ => self.l2.word(word_of(offset, global::L2_WAYS)?),
        }
    }
}

/// Which word of an array of ways that begins at `base` an offset is.
fn word_of(offset: u32, base: u32) -> Option<usize> {
    let word = (offset.checked_sub(base)? / 4) as usize;
    (word < memory::WAYS_WORDS).then_some(word)
}

impl RegisterBlock {
    /// The same block, of caches whose ways can be given to kernels.
    #[must_use]
    pub fn with_ways(mut self) -> Self {
        self.gpu.features |= feature::WAYS;
        self
    }

    /// Whether ways have been written since the last call.
    pub fn take_ways_written(&mut self) -> bool {
        std::mem::take(&mut self.ways.written)
    }

    /// The L1 ways of an SM, if they were written since the last call: of each kernel slot, or none where the machine divides them.
    pub fn take_l1_ways(&mut self, sm: usize) -> Option<Option<Shares>> {
        self.ways.l1.get_mut(sm)?.take()
    }

    /// The same of the L2.
    pub fn take_l2_ways(&mut self) -> Option<Option<Shares>> {
        self.ways.l2.take()
    }

    /// Hands over what the L1 monitor of a slot has counted on an SM, by position in the order of use.
    pub fn load_l1_monitor(&mut self, sm: usize, slot: usize, hits: &[u32]) {
        if let Some(l1) = self.ways.l1.get_mut(sm) {
            l1.load(slot, hits);
        }
    }

    /// The same of the L2, in sum over its slices.
    pub fn load_l2_monitor(&mut self, slot: usize, hits: &[u32]) {
        self.ways.l2.load(slot, hits);
    }

    /// Writes a register of an SM; none if it is none of these.
    pub(super) fn write_ways(&mut self, sm: usize, offset: u32, value: u32) -> Option<()> {
        self.ways.l1.get(sm)?;
        if offset == memory::L1_MONITOR {
            self.ways.l1[sm].shown = shown(value);
            return Some(());
        }
        self.write_word(word_of(offset, memory::L1_WAYS)?, value, sm..sm + 1)
    }

    /// Writes a global register; none if it is none of these.
    pub(super) fn write_ways_global(&mut self, offset: u32, value: u32) -> Option<()> {
        if offset == global::L2_MONITOR {
            self.ways.l2.shown = shown(value);
            return Some(());
        }
        if let Some(word) = word_of(offset, global::L1_WAYS_ALL) {
            return self.write_word(word, value, 0..self.ways.l1.len());
        }
        let word = word_of(offset, global::L2_WAYS)?;
        let Some(ways) = self.two_ways(value) else { return Some(()) };
        self.ways.l2.write(word, ways)
    }

    fn write_word(&mut self, word: usize, value: u32, sms: std::ops::Range<usize>) -> Option<()> {
        let Some(ways) = self.two_ways(value) else { return Some(()) };
        self.ways.l1[sms].iter_mut().try_for_each(|l1| l1.write(word, ways))
    }

    /// The ways of two slots; none if caches cannot be told.
    fn two_ways(&mut self, value: u32) -> Option<[u16; 2]> {
        if self.gpu.features & feature::WAYS == 0 {
            self.raise_fault(fault::UNSUPPORTED);
            return None;
        }
        self.ways.written = true;
        let half = |shift: u32| value >> shift & ((1 << memory::WAYS_BITS) - 1);
        Some([half(0), half(memory::WAYS_BITS)].map(|ways| self.in_range(ways, 0, memory::MOST_WAYS) as u16))
    }
}

/// The fields of a monitor register that there are.
fn shown(value: u32) -> u32 {
    value & (monitor::POSITION | (KERNEL_SLOTS as u32 - 1) << monitor::SLOT_SHIFT)
}
