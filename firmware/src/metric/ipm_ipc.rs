//! The IPM*IPC metric: Nasef 2023, eq. 3.2, instructions per L1 miss times instructions per cycle.

use super::{IPM_IPC_COUNTERS, Metric, Score, U96, least_cycles};
use crate::configs::{RoundTotals, Sums};
use crate::counters::CounterSet;

/// Instructions per miss times IPC, `I^2 / (load requests * C)`, with at least one load request per
/// SM (sources.md D38).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpmIpc;

impl Metric for IpmIpc {
    fn counters(&self) -> CounterSet {
        IPM_IPC_COUNTERS
    }

    #[inline(always)]
    fn score(&self, sums: &Sums, _: &RoundTotals) -> Score {
        let cycles = sums.cycles.max(least_cycles(sums));
        let load_requests = sums.load_requests.max(u32::from(sums.sms));
        Score::new(U96::product(u64::from(sums.instructions), sums.instructions), U96::product(u64::from(cycles), load_requests))
    }
}
