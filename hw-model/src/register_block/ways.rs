//! Cache ways: the firmware's assignment to each kernel slot, and the counts of utility monitors.
//!
//! Registers: [`mias_registers::memory`]; sources.md D138. The model takes written assignments
//! ([`RegisterBlock::take_l1_ways`], [`RegisterBlock::take_l2_ways`]) before it runs the cycle. It
//! reports the counts of monitors, where its caches have any, before it calls the firmware.

use super::RegisterBlock;
use mias_registers::{KERNEL_SLOTS, fault, feature, global, memory, monitor};

/// Number of ways by kernel slot.
type Shares = [u16; KERNEL_SLOTS];

/// Ways of one cache, or of all L2 slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CacheWays {
    /// Assignment as written.
    given: Shares,
    /// True if the assignment was written since the model took it.
    written: bool,
    /// Selected count: [`monitor`] fields.
    shown: u32,
    /// Hits by slot, then by position in recency order.
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

/// State of the caches' ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaysBlock {
    l1: Vec<CacheWays>,
    l2: CacheWays,
    /// True if any assignment was written since the model's last query.
    written: bool,
}

impl WaysBlock {
    pub(super) fn new(sms: usize) -> Self {
        WaysBlock { l1: vec![CacheWays::default(); sms], l2: CacheWays::default(), written: false }
    }

    /// Register value of an SM; none for an offset outside these registers.
    pub(super) fn read(&self, sm: usize, offset: u32) -> Option<u32> {
        let l1 = self.l1.get(sm)?;
        match offset {
            memory::L1_MONITOR => Some(l1.shown),
            memory::L1_MONITOR_HITS => Some(l1.shown_hits()),
            _ => l1.word(word_of(offset, memory::L1_WAYS)?),
        }
    }

    /// Global register value; none for an offset outside these registers.
    pub(super) fn read_global(&self, offset: u32) -> Option<u32> {
        match offset {
            global::L2_MONITOR => Some(self.l2.shown),
            global::L2_MONITOR_HITS => Some(self.l2.shown_hits()),
            _ => self.l2.word(word_of(offset, global::L2_WAYS)?),
        }
    }
}

/// Word index of an offset in an array of ways that starts at `base`.
fn word_of(offset: u32, base: u32) -> Option<usize> {
    let word = (offset.checked_sub(base)? / 4) as usize;
    (word < memory::WAYS_WORDS).then_some(word)
}

impl RegisterBlock {
    /// Enables assignment of cache ways to kernels.
    #[must_use]
    pub fn with_ways(mut self) -> Self {
        self.gpu.features |= feature::WAYS;
        self
    }

    /// True if ways have been written since the last call.
    pub fn take_ways_written(&mut self) -> bool {
        std::mem::take(&mut self.ways.written)
    }

    /// Takes the L1 ways of an SM if they were written since the last call: one number per kernel
    /// slot, or none where the GPU file divides them.
    pub fn take_l1_ways(&mut self, sm: usize) -> Option<Option<Shares>> {
        self.ways.l1.get_mut(sm)?.take()
    }

    /// Takes the L2 ways if they were written since the last call, as
    /// [`RegisterBlock::take_l1_ways`].
    pub fn take_l2_ways(&mut self) -> Option<Option<Shares>> {
        self.ways.l2.take()
    }

    /// Stores the counts of the L1 monitor of a slot on an SM, by position in recency order.
    pub fn load_l1_monitor(&mut self, sm: usize, slot: usize, hits: &[u32]) {
        if let Some(l1) = self.ways.l1.get_mut(sm) {
            l1.load(slot, hits);
        }
    }

    /// Stores the counts of the L2 monitor of a slot, summed over the slices, by position in
    /// recency order.
    pub fn load_l2_monitor(&mut self, slot: usize, hits: &[u32]) {
        self.ways.l2.load(slot, hits);
    }

    /// Writes a register of an SM; none for an offset outside these registers.
    pub(super) fn write_ways(&mut self, sm: usize, offset: u32, value: u32) -> Option<()> {
        self.ways.l1.get(sm)?;
        if offset == memory::L1_MONITOR {
            self.ways.l1[sm].shown = shown(value);
            return Some(());
        }
        self.write_word(word_of(offset, memory::L1_WAYS)?, value, sm..sm + 1)
    }

    /// Writes a global register; none for an offset outside these registers.
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

    /// Ways of two slots; none if the caches cannot be partitioned.
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

/// Value with only the defined fields of a monitor register.
fn shown(value: u32) -> u32 {
    value & (monitor::POSITION | (KERNEL_SLOTS as u32 - 1) << monitor::SLOT_SHIFT)
}
