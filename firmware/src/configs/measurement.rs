//! Additional measurement of a configuration, next to the sums of its counters: one 32-bit word,
//! either a count or a fraction.

use crate::quantity::{Gain, Worth};

/// A word whose meaning the policy defines: a requested measurement, or a value derived from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measurement(u32);

impl Measurement {
    /// No measurement: 0 in every interpretation.
    pub const NONE: Self = Self(0);

    /// Stores a count of sectors or instructions.
    #[inline(always)]
    #[must_use]
    pub const fn of_count(count: u32) -> Self {
        Self(count)
    }

    /// Stores a speedup or progress, summed over SMs.
    #[inline(always)]
    #[must_use]
    pub const fn of_gain(gain: Gain) -> Self {
        Self(gain.to_bits())
    }

    /// Stores a roofline score.
    #[inline(always)]
    #[must_use]
    pub const fn of_worth(worth: Worth) -> Self {
        Self(worth.to_bits())
    }

    /// Returns the word as a count.
    #[inline(always)]
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0
    }

    /// Returns the word as a speedup or progress.
    #[inline(always)]
    #[must_use]
    pub const fn gain(self) -> Gain {
        Gain::from_bits(self.0)
    }

    /// Returns the word as a roofline score.
    #[inline(always)]
    #[must_use]
    pub const fn worth(self) -> Worth {
        Worth::from_bits(self.0)
    }
}
