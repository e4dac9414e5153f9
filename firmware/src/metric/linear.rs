//! The Linear metric: Nasef 2023, eq. 3.7 to 3.9. Memory stalls change linearly with the memory
//! stress.

use super::wide::FixedU96;
use super::{FACTOR_COUNTERS, Metric, Score, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::CounterSet;
use crate::quantity::{Coefficient, Count, Cycles, whole};

/// Linear metric `I / (C + dM)` with `dM = coef (A - mean A)`, at least `-M` (sources.md D40).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    /// Stall cycles per accumulated outstanding miss, in per-SM units.
    pub coefficient: Coefficient,
    /// Use eq. 3.8 as printed, `dM = coef (A |SM| - sum A)`, which is `|SM|` times as large.
    pub literal: bool,
}

impl Metric for Linear {
    fn counters(&self) -> CounterSet {
        FACTOR_COUNTERS
    }

    /// Computes the score in integers. With `n` replicas, `N` SMs and `T = sum A`, both sides are
    /// multiplied by `N` (not in the literal variant), in the coefficient's fraction: `I N / (C N +
    /// coef (A N - n T))`. A count times `N` is below 2^(32 + 8), with 16 more fraction bits.
    #[inline(always)]
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score {
        let unit: Coefficient = whole(if self.literal { 1 } else { totals.sms.max(1).into() });
        let scaled = |count: u32| unit.wide_mul(Count::from_bits(count));
        let average = totals.outstanding_misses.wrapping_mul(u64::from(sums.sms));
        let own = sums.outstanding_misses.wrapping_mul(u64::from(totals.sms));
        let cycles: Cycles = scaled(sums.cycles);
        let least = least_cycles(sums);
        let delta = |difference: u64| FixedU96::product(difference, self.coefficient);
        let denominator = if own >= average {
            let more = FixedU96::from(cycles).wrapping_add(delta(own.wrapping_sub(average)));
            // Fewer cycles than cycles with an issue: the counters contradict each other.
            if sums.cycles >= least { more } else { more.max(scaled(least).into()) }
        } else {
            let less = delta(average.wrapping_sub(own)).saturating_to_64().min(scaled(sums.memory_stall_cycles));
            FixedU96::from(cycles.saturating_sub(less).max(scaled(least)))
        };
        Score::over_positive(scaled(sums.instructions).into(), denominator)
    }
}
