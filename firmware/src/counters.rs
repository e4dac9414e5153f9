//! Which counters a decision needs, and what it needs beside them.

use mias_registers::counters::Counter;

/// What can be measured of a configuration beside the sums of its counters: in [`crate::configs::Entry::extra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Extra {
    /// Progress: what each kernel did over what it does alone in the same time, summed over kernels and SMs: a
    /// [`crate::quantity::Gain`]. Alone is how the configuration with TBs of that kernel only was measured.
    Progress = 1 << 30,
    /// L2 accesses that did not hit, summed over SMs.
    L2Misses = 1 << 31,
    /// Speedup and progress as predicted for the whole GPU, in one number ([`crate::metric::roofline`]); of kernels alone, their traffic.
    Speedup = 1 << 29,
    /// Progress as predicted for the whole GPU; of kernels alone, their traffic.
    WholeProgress = 1 << 28,
}

/// A set of counters: which ones a decision needs, and what else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSet(u32);

impl CounterSet {
    /// What reports ask for: every counter up to the L2 hits, and whether one saturated. Those behind are for other readers of the block;
    /// no policy of the firmware sums them.
    pub const ALL: Self = Self((Counter::L2Hits.bit() << 1) - 1);

    /// The set of the counters given.
    #[must_use]
    pub const fn of(counters: &[Counter]) -> Self {
        let mut bits = 0;
        let mut rest = counters;
        while let [first, tail @ ..] = rest {
            bits |= first.bit();
            rest = tail;
        }
        Self(bits)
    }

    /// One bit per counter, as in [`Counter::bit`], and per further measurement.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set and one more measurement.
    #[must_use]
    pub const fn with(self, extra: Extra) -> Self {
        Self(self.0 | extra as u32)
    }

    /// The further measurement.
    #[must_use]
    pub const fn extra(self) -> Option<Extra> {
        if self.0 & Extra::Progress as u32 != 0 {
            Some(Extra::Progress)
        } else if self.0 & Extra::L2Misses as u32 != 0 {
            Some(Extra::L2Misses)
        } else if self.0 & Extra::Speedup as u32 != 0 {
            Some(Extra::Speedup)
        } else if self.0 & Extra::WholeProgress as u32 != 0 {
            Some(Extra::WholeProgress)
        } else {
            None
        }
    }

    /// Whether a counter is in the set.
    #[must_use]
    pub const fn contains(self, counter: Counter) -> bool {
        self.0 & counter.bit() != 0
    }
}
