//! Progress: the kernels' normalised progress added up, which is STP (sources.md D43); as measured, or as the
//! whole GPU would make it ([`super::roofline`]).

use core::cmp::Ordering;

use fixed::types::U48F16;

use super::roofline::Objective;
use crate::extra::Extra;
use mias_firmware::configs::{Entry, RoundTotals, Sums};
use mias_firmware::counters::CounterSet;
use mias_firmware::metric::{Metric, Score};
use mias_firmware::quantity::Worth;
use mias_registers::counters::Counter;

/// `sum over kernels of I_k / I_k alone` on one SM, alone being an SM with as many TBs of that kernel as fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// As the whole GPU would make it, and what of it to make large; none: as measured.
    pub whole: Option<Objective>,
}

impl Progress {
    /// What is measured for it beside the sums of counters.
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
        match self.whole {
            None => Score::new(entry.extra.gain().into(), alone(entry).into()),
            Some(_) => Score::new(entry.extra.worth().into(), Worth::ONE.into()),
        }
    }
}

/// Whether the kernels together get more done than one after the other: progress above 1, as measured.
pub fn gains(entry: &Entry) -> bool {
    U48F16::from(entry.extra.gain()) > alone(entry)
}

/// What one kernel at a time makes on the SMs of a configuration: 1 on each.
#[inline(always)]
fn alone(entry: &Entry) -> U48F16 {
    U48F16::from(entry.sums.sms)
}
