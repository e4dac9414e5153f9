//! Metrics that rank configurations (Nasef 2023, section 3.2.2), one file each behind [`Metric`].
//!
//! A score is an exact rational, and larger is better. Replicas of a configuration enter as the
//! average of each counter, with the common count canceled or multiplied out, so nothing is
//! divided. Edge rules (sources.md D38 to D40):
//!
//! * An SM has at least one miss.
//! * Without outstanding misses the factor is 1.
//! * A denominator is at least the cycles with an issue, and at least one cycle per SM.

mod factor;
mod ipc;
mod ipm_ipc;
mod linear;
pub mod wide;

use core::cmp::Ordering;

pub use factor::Factor;
pub use ipc::Ipc;
pub use ipm_ipc::IpmIpc;
pub use linear::Linear;

use crate::configs::{Entry, RoundTotals, Sums};
use crate::counters::CounterSet;
use mias_registers::counters::Counter;
use wide::U96;

/// Exact score, `numerator / denominator` with a positive denominator.
pub type Score = wide::Fraction;

/// Counters of [`Ipc`].
pub const IPC_COUNTERS: CounterSet = CounterSet::of(&[Counter::Cycles, Counter::IssueCycles]);
/// Counters of [`IpmIpc`].
pub const IPM_IPC_COUNTERS: CounterSet = CounterSet::of(&[Counter::Cycles, Counter::IssueCycles, Counter::LoadRequests]);
/// Counters of [`Factor`] and [`Linear`].
pub const FACTOR_COUNTERS: CounterSet =
    CounterSet::of(&[Counter::Cycles, Counter::IssueCycles, Counter::MemoryStallCycles, Counter::OutstandingMisses]);

/// Estimate of the performance of a configuration on all SMs.
pub trait Metric {
    /// Counters that the score needs, in addition to the instruction counter.
    fn counters(&self) -> CounterSet;

    /// Compares two scores of this metric. A metric with small scores overrides it with a narrower
    /// comparison.
    #[inline(always)]
    fn compare(left: &Score, right: &Score) -> Ordering {
        left.cmp(right)
    }

    /// Returns the score of a configuration measured on at least one SM, in a round with these
    /// totals.
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score;

    /// Returns the score of an entry, for metrics that need more than the sums of counters.
    #[inline(always)]
    fn score_entry(&self, entry: &Entry, totals: &RoundTotals) -> Score {
        self.score(&entry.sums, totals)
    }
}

/// Returns the least denominator in cycles, summed over a configuration's SMs: the cycles with an
/// issue, and one per SM.
fn least_cycles(sums: &Sums) -> u32 {
    sums.issue_cycles.max(u32::from(sums.sms)).max(1)
}
