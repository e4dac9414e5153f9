//! The Linear metric: seed 000 eq. 3.7 to 3.9. Memory stalls change linearly with the memory stress.

use fixed::types::U16F16;

use super::{FACTOR_COUNTERS, Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::CounterSet;

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
        FACTOR_COUNTERS
    }

    /// With `n` replicas, `N` SMs and `T = sum A`, both sides are multiplied by `N 2^16` (literally: `2^16`):
    /// `I N 2^16 / (C N 2^16 + coef (A N - n T))`. A count times `N 2^16` is below 2^(32 + 24).
    #[inline(always)]
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score {
        let unit = if self.literal { ONE } else { u32::from(totals.sms.max(1)).wrapping_mul(ONE) };
        let scaled = |count: u32| u64::from(count).wrapping_mul(u64::from(unit));
        let average = totals.outstanding_misses.wrapping_mul(u64::from(sums.sms));
        let own = sums.outstanding_misses.wrapping_mul(u64::from(totals.sms));
        let cycles = scaled(sums.cycles);
        let least = least_cycles(sums);
        let delta = |difference: u64| U96::product(difference, self.coefficient.to_bits());
        let denominator = if own >= average {
            let more = U96::from(cycles).wrapping_add(delta(own.wrapping_sub(average)));
            // Fewer cycles than those with an issue: counters that contradict each other.
            if sums.cycles >= least { more } else { more.max(U96::from(scaled(least))) }
        } else {
            let less = delta(average.wrapping_sub(own)).saturating_to_u64().min(scaled(sums.memory_stall_cycles));
            U96::from(cycles.saturating_sub(less).max(scaled(least)))
        };
        Score { numerator: U96::from(scaled(sums.instructions)), denominator }
    }
}
