//! Progress metric: the sum of the kernels' normalized progress, which is STP (sources.md D43).
//!
//! It is measured, or predicted for the whole GPU ([`super::roofline`]).

use core::cmp::Ordering;

use fixed::types::U48F16;

use super::roofline::Objective;
use crate::extra::Extra;
use mias_firmware::configs::{Entry, RoundTotals, Sums};
use mias_firmware::counters::CounterSet;
use mias_firmware::metric::{Metric, Score};
use mias_firmware::quantity::Worth;
use mias_registers::counters::Counter;

/// Progress metric `sum over kernels of I_k / I_k alone` on one SM.
///
/// The isolated SM holds as many TBs of that kernel as fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Objective for a prediction of the whole GPU; none for measured progress.
    pub whole: Option<Objective>,
}

impl Progress {
    /// Returns the additional measurement of this metric.
    #[must_use]
    pub const fn extra(&self) -> Extra {
        match self.whole {
            None => Extra::Progress,
            Some(Objective::Both) => Extra::Speedup,
            Some(Objective::Stp) => Extra::WholeProgress,
        }
    }
}

impl Metric for Progress {
    fn counters(&self) -> CounterSet {
        if self.whole.is_none() { CounterSet::of(&[]) } else { CounterSet::of(&[Counter::Cycles]) }
    }

    /// Compares two scores narrowly: progress has 32 bits, as have 2^16 times the number of SMs.
    #[inline(always)]
    fn compare(left: &Score, right: &Score) -> Ordering {
        left.compare_narrow(right)
    }

    /// Returns the least score, because the sums of counters do not distinguish kernels.
    #[inline(always)]
    fn score(&self, _: &Sums, _: &RoundTotals) -> Score {
        Score::LEAST
    }

    #[inline(always)]
    fn score_entry(&self, entry: &Entry, _: &RoundTotals) -> Score {
        match self.whole {
            None => Score::new(entry.extra.gain().into(), alone(entry).into()),
            Some(_) => Score::new(entry.extra.worth().into(), Worth::ONE.into()),
        }
    }
}

/// Returns whether the kernels make more measured progress together than one after the other, which
/// is a sum above 1.
pub fn gains(entry: &Entry) -> bool {
    U48F16::from(entry.extra.gain()) > alone(entry)
}

/// Returns the progress of one kernel at a time on the SMs of a configuration: 1 on each.
#[inline(always)]
fn alone(entry: &Entry) -> U48F16 {
    U48F16::from(entry.sums.sms)
}
