//! What is measured of a configuration beside the sums of its counters: one 32-bit word, which is a count or a number with a fraction.

use crate::quantity::{Gain, Worth};

/// The word. Its meaning is the policy's: a measurement that it asked for, or what it made of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measurement(u32);

impl Measurement {
    /// Nothing: 0, whatever it is read as.
    pub const NONE: Self = Self(0);

    /// A count, of sectors or instructions.
    #[inline(always)]
    #[must_use]
    pub const fn of_count(count: u32) -> Self {
        Self(count)
    }

    /// A speedup or progress, summed over SMs.
    #[inline(always)]
    #[must_use]
    pub const fn of_gain(gain: Gain) -> Self {
        Self(gain.to_bits())
    }

    /// A score of roofline.
    #[inline(always)]
    #[must_use]
    pub const fn of_worth(worth: Worth) -> Self {
        Self(worth.to_bits())
    }

    /// It, as a count.
    #[inline(always)]
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0
    }

    /// It, as a speedup or progress.
    #[inline(always)]
    #[must_use]
    pub const fn gain(self) -> Gain {
        Gain::from_bits(self.0)
    }

    /// It, as a score of roofline.
    #[inline(always)]
    #[must_use]
    pub const fn worth(self) -> Worth {
        Worth::from_bits(self.0)
    }
}
