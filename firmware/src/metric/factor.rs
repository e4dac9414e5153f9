//! The Factor metric: Nasef 2023, eq. 3.3 to 3.6. Memory stalls scale with the configuration's
//! share of the memory stress.

use super::{FACTOR_COUNTERS, Ipc, Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::CounterSet;

/// Factor metric `I / (C + M (f - 1))` with `f = A |SM| / sum A`.
///
/// `f` is 1 if no SM of the round has outstanding misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factor;

impl Metric for Factor {
    fn counters(&self) -> CounterSet {
        FACTOR_COUNTERS
    }

    /// Computes the score in integers. With `n` replicas, `N` SMs and `T = sum A`, both sides are
    /// multiplied by `n T`: `I n T / (C n T + M (A N - n T))`.
    #[inline(always)]
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score {
        if totals.outstanding_misses == 0 {
            return Ipc.score(sums, totals);
        }
        // Below 2^56 and at least 1: sums of 256 registers, times at most 2^16 SMs.
        let average = totals.outstanding_misses.wrapping_mul(u64::from(sums.sms));
        let own = sums.outstanding_misses.wrapping_mul(u64::from(totals.sms));
        let least = least_cycles(sums);
        let stressed = U96::product(own, sums.memory_stall_cycles);
        // `C n T + M (A N - n T) = (C - M) n T + M A N`.
        let denominator = match sums.cycles.checked_sub(sums.memory_stall_cycles) {
            Some(calm) if calm >= least => U96::product(average, calm).wrapping_add(stressed),
            // The counters contradict each other.
            Some(calm) => U96::product(average, calm).wrapping_add(stressed).max(U96::product(average, least)),
            None => {
                let missing = U96::product(average, sums.memory_stall_cycles.wrapping_sub(sums.cycles));
                stressed.saturating_sub(missing).max(U96::product(average, least))
            }
        };
        Score { numerator: U96::product(average, sums.instructions), denominator }
    }
}
