//! The IPC metric: Nasef 2023, eq. 3.1.

use core::cmp::Ordering;

use super::{IPC_COUNTERS, Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::CounterSet;

/// Instructions per cycle, `I / C`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ipc;

impl Metric for Ipc {
    fn counters(&self) -> CounterSet {
        IPC_COUNTERS
    }

    /// Compares two scores narrowly, because both sums have 32 bits.
    #[inline(always)]
    fn compare(left: &Score, right: &Score) -> Ordering {
        left.compare_narrow(right)
    }

    #[inline(always)]
    fn score(&self, sums: &Sums, _: &RoundTotals) -> Score {
        let cycles = sums.cycles.max(least_cycles(sums));
        Score::new(U96::from(u64::from(sums.instructions)), U96::from(u64::from(cycles)))
    }
}
