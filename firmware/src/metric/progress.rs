//! Progress: the kernels' normalised progress added up, which is STP (algorithms.md section 9 items 2 and 8).

use core::cmp::Ordering;

use super::{Metric, Score, U96};
use crate::configs::{Entry, RoundTotals, Sums};
use crate::counters::{CounterSet, Extra};

/// `sum over kernels of I_k / I_k alone` on one SM, alone being an SM with as many TBs of that kernel as fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress;

impl Metric for Progress {
    fn counters(&self) -> CounterSet {
        CounterSet::of(&[]).with(Extra::Progress)
    }

    /// Progress is in 32 bits, and so are 2^16 times as many SMs as there are.
    #[inline(always)]
    fn compare(left: &Score, right: &Score) -> Ordering {
        left.compare_narrow(right)
    }

    /// The sums of counters do not tell kernels apart.
    #[inline(always)]
    fn score(&self, _: &Sums, _: &RoundTotals) -> Score {
        Score::LEAST
    }

    #[inline(always)]
    fn score_entry(&self, entry: &Entry, _: &RoundTotals) -> Score {
        Score::new(U96::from(u64::from(entry.extra)), U96::from(u64::from(entry.sums.sms) << 16))
    }
}

/// Whether the kernels together get more done than one after the other: progress above 1.
pub fn gains(entry: &Entry) -> bool {
    u64::from(entry.extra) > u64::from(entry.sums.sms) << 16
}
