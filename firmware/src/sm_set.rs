//! A set of SMs in the format of the register block: one bit per SM.

use mias_registers::{SM_WORDS, sm_bit};

/// A subset of the 32 SMs of one word of an SM bit map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmWord {
    /// Index of the word, 0 to [`SM_WORDS`] - 1: SM `32 * word` is in bit 0.
    pub word: u8,
    /// One bit per SM.
    pub bits: u32,
}

impl SmWord {
    /// Returns the set of one SM, 0 to 255.
    #[must_use]
    pub const fn one(sm: u8) -> Self {
        let (word, bits) = sm_bit(sm as usize);
        Self { word: word as u8, bits }
    }

    /// Returns the SMs of this word among the first `sms` SMs of the GPU.
    #[must_use]
    pub const fn among(self, sms: u16) -> Self {
        let before = (sms as u32).saturating_sub(32 * self.word as u32);
        let mask = match 1_u32.checked_shl(before) {
            Some(bit) => bit - 1,
            None => u32::MAX,
        };
        Self { word: self.word, bits: self.bits & mask }
    }
}

/// A set of up to 256 SMs that maintains its size, because a decision needs the size after every
/// event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmSet {
    words: [u32; SM_WORDS],
    len: u16,
}

impl SmSet {
    /// The empty set.
    pub const EMPTY: Self = Self { words: [0; SM_WORDS], len: 0 };

    /// Adds SMs; words beyond the last are ignored.
    pub fn insert(&mut self, sms: SmWord) {
        if let Some(word) = self.words.get_mut(usize::from(sms.word)) {
            let new = sms.bits & !*word;
            *word |= new;
            self.len = self.len.saturating_add(new.count_ones() as u16);
        }
    }

    /// Returns whether an SM is in the set.
    #[must_use]
    pub fn contains(&self, sm: u16) -> bool {
        let (word, bit) = sm_bit(sm.into());
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns the number of SMs in the set.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.len
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
