//! Which counters a decision needs, and of which SMs they are read.

use mias_registers::counters::Counter;

use crate::sm_set::SmSet;

/// A set of counters: which ones a decision needs.
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

    /// One bit per counter, as in [`Counter::bit`].
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether a counter is in the set.
    #[must_use]
    pub const fn contains(self, counter: Counter) -> bool {
        self.0 & counter.bit() != 0
    }
}

/// Which counters to read of whom.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// SMs that finished their window.
    pub done: &'a SmSet,
    /// SMs of the machine.
    pub sms: u16,
    /// Counters, beside the instruction counter.
    pub wanted: CounterSet,
    /// The counter that counts as instructions.
    pub instructions: Counter,
}

impl Reading<'_> {
    /// Hands over every SM that is done of a configuration's: `first`, and every `step`th after it.
    #[inline(always)]
    pub fn each_done<E>(&self, first: usize, step: usize, mut read: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        let mut sm = first;
        while sm < usize::from(self.sms) {
            if self.done.contains(sm as u16) {
                read(sm)?;
            }
            // Far from the end of the range: 16 bits, and at most a table of configurations.
            sm = sm.wrapping_add(step.max(1));
        }
        Ok(())
    }
}
