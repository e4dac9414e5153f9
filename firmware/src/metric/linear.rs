//! The Linear metric: seed 000 eq. 3.7 to 3.9. Memory stalls change linearly with the memory stress.

use fixed::types::U16F16;

use super::{Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::{Counter, CounterSet};

/// Fraction bits of the coefficient, as a factor.
const ONE: u32 = 1 << U16F16::FRAC_NBITS;

/// `I / (C + dM)` with `dM = coef (A - mean A)`, at least `-M` (algorithms.md section 9 item 16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    /// Stall cycles per accumulated outstanding miss, in per-SM units.
    pub coefficient: U16F16,
    /// Eq. 3.8 as printed, `dM = coef (A |SM| - sum A)`: `|SM|` times as large.
    pub literal: bool,
}

impl Metric for Linear {
    fn counters(&self) -> CounterSet {
        const { CounterSet::of(&[Counter::Cycles, Counter::IssueCycles, Counter::MemoryStallCycles, Counter::OutstandingMisses]) }
    }

    /// With `n` replicas, `N` SMs and `T = sum A`, both sides are multiplied by `N 2^16` (literally: `2^16`):
    /// `I N 2^16 / (C N 2^16 + coef (A N - n T))`.
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score {
        let sms = if self.literal { 1 } else { u64::from(totals.sms.max(1)) };
        let scaled = |count: u32| U96::product(u64::from(count).saturating_mul(sms), ONE);
        let average = totals.outstanding_misses.saturating_mul(u64::from(sums.sms));
        let own = sums.outstanding_misses.saturating_mul(u64::from(totals.sms));
        let delta = U96::product(own.abs_diff(average), self.coefficient.to_bits());
        let adjusted = if own >= average {
            scaled(sums.cycles).saturating_add(delta)
        } else {
            scaled(sums.cycles).saturating_sub(delta.min(scaled(sums.memory_stall_cycles)))
        };
        Score::new(scaled(sums.instructions), adjusted.max(scaled(least_cycles(sums))))
    }
}
