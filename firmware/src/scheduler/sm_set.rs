//! A set of SMs as the register block shows it: one bit per SM.

use crate::regs::{SM_WORDS, sm_bit};

/// A set of up to 256 SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmSet {
    words: [u32; SM_WORDS],
}

impl SmSet {
    /// Adds an SM; numbers from 256 on are ignored.
    pub fn insert(&mut self, sm: u16) {
        let (word, bit) = sm_bit(sm.into());
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether an SM is in the set.
    #[must_use]
    pub fn contains(&self, sm: u16) -> bool {
        let (word, bit) = sm_bit(sm.into());
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Number of SMs in the set.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.words.iter().fold(0, |count, word| count.saturating_add(word.count_ones() as u16))
    }

    /// Whether no SM is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words == [0; SM_WORDS]
    }
}
