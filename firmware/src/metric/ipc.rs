//! The IPC metric: seed 000 eq. 3.1.

use super::{Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::{Counter, CounterSet};

/// `I / C`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ipc;

impl Metric for Ipc {
    fn counters(&self) -> CounterSet {
        const { CounterSet::of(&[Counter::Cycles, Counter::IssueCycles]) }
    }

    fn score(&self, sums: &Sums, _: &RoundTotals) -> Score {
        let cycles = sums.cycles.max(least_cycles(sums));
        Score::new(U96::from(u64::from(sums.instructions)), U96::from(u64::from(cycles)))
    }
}
