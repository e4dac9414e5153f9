//! Counters that a decision needs, and the SMs from which they are read.

use mias_registers::counters::Counter;

use crate::sm_set::SmSet;

/// A set of counters that a decision needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSet(u32);

impl CounterSet {
    /// Counters for reports: every counter up to the L2 hits, and saturation.
    ///
    /// The counters after these serve other readers of the block. No policy of the firmware sums
    /// them.
    pub const ALL: Self = Self((Counter::L2Hits.bit() << 1) - 1);

    /// Creates the set of the given counters.
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

    /// Returns one bit per counter, as in [`Counter::bit`].
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether a counter is in the set.
    #[must_use]
    pub const fn contains(self, counter: Counter) -> bool {
        self.0 & counter.bit() != 0
    }
}

/// Specification of a counter read: SMs and counters.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// SMs that have finished their window.
    pub done: &'a SmSet,
    /// SMs of the GPU.
    pub sms: u16,
    /// Counters to read in addition to the instruction counter.
    pub wanted: CounterSet,
    /// Counter that supplies the instructions.
    pub instructions: Counter,
}

impl Reading<'_> {
    /// Calls `read` for every finished SM of a configuration: `first`, and every `step`th after it.
    #[inline(always)]
    pub fn each_done<E>(&self, first: usize, step: usize, mut read: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        let mut sm = first;
        while sm < usize::from(self.sms) {
            if self.done.contains(sm as u16) {
                read(sm)?;
            }
            // Cannot overflow: 16 bits, plus at most the size of a configuration table.
            sm = sm.wrapping_add(step.max(1));
        }
        Ok(())
    }
}
