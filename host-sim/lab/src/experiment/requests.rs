//! Placement requests: an urgent kernel arrives while another runs, repeatedly, each time on a copy
//! of the run (Shieh 2016, chapter 4).
//!
//! A sample is one request. The window is divided into equal stretches with one request each. The
//! place in its stretch depends only on the request's number, so that all schemes and limits see
//! the same instants.

use crate::choices;
use mias_registers::preempt_scheme;
use serde::{Deserialize, Serialize};

choices! {
    /// Scheme by which the firmware selects and preempts TBs.
    pub enum Scheme {
        /// Victims run to their end.
        Drain = "drain",
        /// Victims are switched out.
        Switch = "switch",
        /// Victims that may be flushed are, the others are switched out.
        Flush = "flush",
        /// Whole SMs, with its own estimates (Park et al. 2015, as Shieh 2016 has it).
        Chimera = "chimera",
        /// The same with the estimates of Shieh 2016.
        ChimeraPlus = "chimera-plus",
        /// Sets of TBs that make room for one TB (Shieh 2016).
        Shieh = "shieh",
        /// The same with known draining times.
        Oracle = "oracle",
    }
}

impl Scheme {
    /// Returns the code for the firmware's strap.
    pub fn code(self) -> u32 {
        match self {
            Scheme::Drain => preempt_scheme::DRAIN,
            Scheme::Switch => preempt_scheme::SWITCH,
            Scheme::Flush => preempt_scheme::FLUSH,
            Scheme::Chimera => preempt_scheme::CHIMERA,
            Scheme::ChimeraPlus => preempt_scheme::CHIMERA_PLUS,
            Scheme::Shieh => preempt_scheme::SHIEH,
            Scheme::Oracle => preempt_scheme::ORACLE,
        }
    }
}

/// Maximum number of limits of one experiment.
pub const MOST_LIMITS: usize = 8;

/// Requests of a run: its last workload is the urgent kernel, and runs on the copies only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requests {
    /// Number of requests, 1 to 100,000.
    pub count: u32,
    /// Schemes as a bit set, by [`Scheme::code`].
    schemes: u32,
    /// Limits in nanoseconds, ascending; 0 beyond the last.
    limits_ns: [u32; MOST_LIMITS],
}

impl Requests {
    /// Creates `count` requests under each of these schemes and limits.
    pub fn new(count: u32, schemes: &[Scheme], limits_ns: &[u32]) -> Self {
        let mut limits = [0; MOST_LIMITS];
        limits.iter_mut().zip(limits_ns).for_each(|(limit, ns)| *limit = *ns);
        Requests { count, schemes: schemes.iter().fold(0, |bits, scheme| bits | 1 << scheme.code()), limits_ns: limits }
    }

    /// Returns the schemes, in the order of [`Scheme`].
    pub fn schemes(&self) -> impl Iterator<Item = Scheme> {
        let bits = self.schemes;
        <Scheme as crate::choice::Choice>::ALL.iter().copied().filter(move |scheme| bits >> scheme.code() & 1 != 0)
    }

    /// Returns the limits in nanoseconds.
    pub fn limits_ns(&self) -> impl Iterator<Item = u32> {
        self.limits_ns.into_iter().filter(|&ns| ns != 0)
    }

    /// Returns the cycles of the requests, ascending, within `from..until`.
    pub fn instants(&self, from: u64, until: u64) -> Vec<u64> {
        let span = u128::from(until.saturating_sub(from));
        let place = |number: u32| {
            // Thousandths of a stretch, by a multiplicative hash (Knuth 1997, section 6.4).
            let part = number.wrapping_mul(2_654_435_769) >> 22;
            let part = u128::from(number) * 1024 + u128::from(part);
            from + (part * span / (1024 * u128::from(self.count.max(1)))) as u64
        };
        (0..self.count).map(place).collect()
    }

    /// Returns the text that identifies the requests in a run's identity.
    pub fn describe(&self) -> String {
        let schemes: Vec<&str> = self.schemes().map(crate::choice::Choice::name).collect();
        let limits: Vec<String> = self.limits_ns().map(|ns| format!("{ns} ns")).collect();
        format!("{} requests under {} within {}", self.count, schemes.join(", "), limits.join(", "))
    }
}

/// Requests under one scheme with one limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Requested {
    /// Name of the scheme.
    pub scheme: String,
    /// Limit in core cycles.
    pub limit_cycles: u64,
    /// Core cycles of the urgent kernel alone, from the cycle in which its TBs may issue.
    pub alone_cycles: u64,
    /// Registers of all SMs that TBs held at a request, in permille, maximum over requests.
    #[serde(default)]
    pub registers_before_permille: u32,
    /// Requests in the order of instants.
    pub samples: Vec<Request>,
}

/// Outcome of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Request {
    /// Core cycle from which the urgent kernel's TBs may issue.
    pub cycle: u64,
    /// Cycles from `cycle` to its first TB; `None` if it had none by the end.
    pub first_cycles: Option<u64>,
    /// Cycles until all of its TBs were issued.
    pub full_cycles: Option<u64>,
    /// Cycles until its last TB had ended.
    pub end_cycles: Option<u64>,
    /// Number of preempted TBs by technique: drain, flush, switch.
    pub victims: [u32; 3],
    /// Warp instructions lost to flushes.
    pub flushed_insts: u64,
    /// Warp instructions lost to switches: the victims' earlier rate times twice the time of the
    /// switch, out and back.
    pub switched_insts: u64,
    /// Warp instructions lost to empty issue slots after victims had left, at the rate of these
    /// victims. Only preemption of whole SMs leaves slots empty; elsewhere other TBs follow at
    /// once.
    pub idle_insts: u64,
    /// Warp instructions that flushing all victims would have lost, excluding victims that had
    /// ended.
    pub all_insts: u64,
    /// Number of draining victims without an estimate of their time, since no TB of their kernel
    /// had ended.
    #[serde(default)]
    pub drains_not_estimated: u32,
    /// Expected cycles of the draining victims with an estimate.
    pub drain_estimated: u64,
    /// Actual cycles of the draining victims with an estimate.
    pub drain_cycles: u64,
    /// Sum of the absolute differences between expected and actual cycles.
    pub drain_errors: u64,
    /// Registers of all SMs that TBs held, in permille, mean over the cycles until the urgent
    /// kernel had all its TBs; `None` if that took no time.
    pub registers_permille: Option<u32>,
}

impl Request {
    /// Returns whether the request missed its deadline: the limit plus the time of the urgent
    /// kernel alone (Shieh 2016, section 4.2).
    pub fn violates(&self, limit_cycles: u64, alone_cycles: u64) -> bool {
        self.end_cycles.is_none_or(|cycles| cycles > limit_cycles + alone_cycles)
    }

    /// Returns whether the urgent kernel did not have all its TBs within the limit.
    pub fn is_late(&self, limit_cycles: u64) -> bool {
        self.full_cycles.is_none_or(|cycles| cycles > limit_cycles)
    }

    /// Returns the better of two outcomes of the same request, as an oracle would choose with this
    /// limit and time alone. The criteria are, in order: it meets the deadline, it has all TBs
    /// within the limit, it loses fewer instructions. Ties go to `self`.
    #[must_use]
    pub fn or_better(self, other: Request, (limit_cycles, alone_cycles): (u64, u64)) -> Request {
        let rank = |request: &Request| (request.violates(limit_cycles, alone_cycles), request.is_late(limit_cycles), request.lost_insts());
        if rank(&other) < rank(&self) { other } else { self }
    }

    /// Returns the warp instructions lost.
    pub fn lost_insts(&self) -> u64 {
        self.flushed_insts + self.switched_insts + self.idle_insts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each stretch has one instant, in order, and within the window.
        #[test]
        fn instants_are_spread(count in 1u32..500, from in 0u64..1 << 30, span in 1_000u64..1 << 30) {
            let instants = Requests::new(count, &[Scheme::Shieh], &[2_000]).instants(from, from + span);
            prop_assert_eq!(instants.len(), count as usize);
            for (number, instant) in (0..).zip(&instants) {
                let stretch = |number: u64| from + (u128::from(number) * u128::from(span) / u128::from(count)) as u64;
                prop_assert!((stretch(number)..=stretch(number + 1)).contains(instant));
            }
        }
    }

    #[test]
    fn a_deadline_is_the_limit_and_the_time_alone() {
        let request = |end_cycles| Request { end_cycles, ..Request::default() };
        let violates = |end| request(end).violates(2_800, 5_000);
        assert_eq!([Some(7_800), Some(7_801), None].map(violates), [false, true, true]);
    }

    proptest! {
        /// The oracle returns one of two choices. It misses a deadline only if both do, and is late
        /// only if both are or the other missed its deadline.
        #[test]
        fn an_oracle_takes_the_better(ends in prop::array::uniform2(0u64..20), fulls in prop::array::uniform2(0u64..10), lost in prop::array::uniform2(0u64..3)) {
            let limits = (5, 7);
            let [own, other] = [0, 1].map(|at| Request {
                end_cycles: (ends[at] > 0).then_some(ends[at]),
                full_cycles: (fulls[at] > 0).then_some(fulls[at]),
                flushed_insts: lost[at],
                ..Request::default()
            });
            let taken = own.or_better(other, limits);
            prop_assert!(taken == own || taken == other);
            let missed = |request: &Request| request.violates(limits.0, limits.1);
            prop_assert_eq!(missed(&taken), missed(&own) && missed(&other));
            if missed(&own) == missed(&other) {
                prop_assert_eq!(taken.is_late(limits.0), own.is_late(limits.0) && other.is_late(limits.0));
            }
        }
    }

    #[test]
    fn schemes_and_limits_are_what_was_asked_for() {
        let requests = Requests::new(3, &[Scheme::Oracle, Scheme::Chimera], &[2_000, 5_000]);
        assert_eq!(requests.schemes().collect::<Vec<_>>(), [Scheme::Chimera, Scheme::Oracle]);
        assert_eq!(requests.limits_ns().collect::<Vec<_>>(), [2_000, 5_000]);
    }
}
