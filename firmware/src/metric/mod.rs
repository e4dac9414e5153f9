//! The metrics that rank configurations (seed 000 section 3.2.2), one file each behind [`Metric`].
//!
//! A score is an exact rational; larger is better. Replicas of a configuration enter as the average of each counter, with
//! the common count cancelled or multiplied out, so that nothing is divided. Edge rules of DESIGN.md section 4: an SM has at
//! least one miss; without outstanding misses the factor is 1; a denominator is at least the cycles with an issue, and at
//! least one cycle per SM.

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

use crate::configs::{RoundTotals, Sums};
use crate::counters::CounterSet;
use wide::{U96, compare_products};

/// An exact score, `numerator / denominator`. The denominator is positive.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// Numerator.
    pub numerator: U96,
    /// Denominator, at least 1.
    pub denominator: U96,
}

impl Score {
    /// The score `numerator / denominator`, a denominator of 0 counting as 1.
    #[must_use]
    pub fn new(numerator: U96, denominator: U96) -> Self {
        Self { numerator, denominator: denominator.max(U96::from(1)) }
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_products(self.numerator, other.denominator, other.numerator, self.denominator)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

/// An estimate of how fast a configuration would be on all SMs.
pub trait Metric {
    /// Counters that the score needs, beside the instruction counter.
    fn counters(&self) -> CounterSet;

    /// The score of a configuration, measured on at least one SM, in a round with these totals.
    fn score(&self, sums: &Sums, totals: &RoundTotals) -> Score;
}

/// Least denominator in cycles, summed over a configuration's SMs: the cycles with an issue, and one per SM.
fn least_cycles(sums: &Sums) -> u32 {
    sums.issue_cycles.max(u32::from(sums.sms)).max(1)
}
