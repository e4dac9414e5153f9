//! The Factor metric: seed 000 eq. 3.3 to 3.6. Memory stalls scale with the configuration's share of the memory stress.

use super::{Ipc, Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::{Counter, CounterSet};

/// `I / (C + M (f - 1))` with `f = A |SM| / sum A`, and `f = 1` when no SM of the round has outstanding misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factor;

impl Metric for Factor {
    fn counters(&self) -> CounterSet {
        const { CounterSet::of(&[Counter::Cycles, Counter::IssueCycles, Counter::MemoryStallCycles, Counter::OutstandingMisses]) }
    }

    /// With `n` replicas, `N` SMs and `T = sum A`, both sides are multiplied by `n T`:
    /// `I n T / (C n T + M (A N - n T))`.
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score {
        if totals.outstanding_misses == 0 {
            return Ipc.score(sums, totals);
        }
        let average = totals.outstanding_misses.saturating_mul(u64::from(sums.sms));
        let own = sums.outstanding_misses.saturating_mul(u64::from(totals.sms));
        let cycles = U96::product(average, sums.cycles);
        let adjusted = if own >= average {
            cycles.saturating_add(U96::product(own.saturating_sub(average), sums.memory_stall_cycles))
        } else {
            cycles.saturating_sub(U96::product(average.saturating_sub(own), sums.memory_stall_cycles))
        };
        Score::new(U96::product(average, sums.instructions), adjusted.max(U96::product(average, least_cycles(sums))))
    }
}
