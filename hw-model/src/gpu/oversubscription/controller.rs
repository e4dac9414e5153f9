//! Controller of the number of extra TBs: GPUDuet's throughput monitor (Lin et al. 2018, section
//! 6.4 and table 3; sources.md D165).
//!
//! It skips one interval, counts over the next, and decides at the end of each later one. While
//! utilization is low, it allows the maximum number of extra TBs; at saturation, none. In between,
//! it adds one at a time until saturation. It then keeps the number until utilization is low again.
//!
//! The interface to the SMs is the maximum number of extra TBs and a bit that allows contexts in
//! the L1. Registers hold both if the firmware decides ([`super::firmware`]).

use super::utilization::{Traffic, Utilization};

/// Utilization class of an interval (table 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Low utilization of all parts.
    Underutilized,
    /// Neither low utilization nor saturation.
    Moderate,
    /// Saturation of a part.
    Saturated,
}

impl Class {
    /// Class by table 3, in percent.
    #[must_use]
    pub(super) fn of(busy: &Utilization) -> Self {
        let Utilization { scheduler, l1, requests, replies, l2, dram } = *busy;
        let limits = [(scheduler, 60, 80), (requests, 60, 90), (replies, 60, 90), (dram, 50, 70), (l1, 60, 80), (l2, 60, 80)];
        if limits.iter().any(|(share, _, most)| share.exceeds(*most)) {
            Class::Saturated
        } else if limits.iter().all(|(share, least, _)| share.is_below(*least)) {
            Class::Underutilized
        } else {
            Class::Moderate
        }
    }
}

/// Utilization in percent below which the L1 may hold contexts.
const IDLE_L1_PERCENT: u32 = 3;

/// Allowance for a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    /// Number of extra TBs on an SM.
    pub(super) extra: u32,
    /// True if contexts may be stored in the L1.
    pub(super) in_l1: bool,
}

/// Controller of one kernel.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    interval: u64,
    /// Maximum number of extra TBs that an SM can store.
    bound: u32,
    /// True if only the L1 has capacity for the extra TBs.
    needs_l1: bool,
    /// Cycle of the next decision.
    pub(super) next: u64,
    /// Counts at the last decision; none before the first.
    before: Option<Traffic>,
    allowed: Allowed,
    /// True after saturation in steps of one, until utilization is low again.
    has_stopped: bool,
    /// Number of decisions by class.
    pub(super) decisions: [u32; 3],
}

impl Controller {
    /// Creates the controller of a kernel whose TBs may issue from cycle `start` on.
    pub(super) fn new(interval: u32, bound: u32, needs_l1: bool, start: u64) -> Self {
        let interval = u64::from(interval);
        Controller {
            interval,
            bound,
            needs_l1,
            next: start + interval,
            before: None,
            allowed: Allowed::default(),
            has_stopped: false,
            decisions: [0; 3],
        }
    }

    /// Decides in cycle [`Controller::next`] from the counts; `busy` computes the utilization of an
    /// interval.
    pub(super) fn look(&mut self, counted: Traffic, busy: impl FnOnce(&Traffic, u64) -> Utilization) -> Allowed {
        self.next += self.interval;
        if let Some(before) = self.before.replace(counted) {
            let busy = busy(&crate::counts::Count::since(&counted, &before), self.interval);
            self.decide(&busy);
        }
        self.allowed
    }

    fn decide(&mut self, busy: &Utilization) {
        let class = Class::of(busy);
        self.decisions[class as usize] += 1;
        let extra = match class {
            Class::Underutilized => {
                self.has_stopped = false;
                self.bound
            }
            Class::Moderate if self.has_stopped => self.allowed.extra,
            Class::Moderate => (self.allowed.extra + 1).min(self.bound),
            // The number was raised step by step, so the last step caused the saturation.
            Class::Saturated if self.has_stopped || self.decisions[Class::Moderate as usize] > 0 && self.is_between() => {
                self.has_stopped = true;
                self.allowed.extra
            }
            Class::Saturated => 0,
        };
        let idle = busy.l1.is_below(IDLE_L1_PERCENT);
        self.allowed.in_l1 = self.needs_l1 && class != Class::Saturated && (idle || self.allowed.in_l1);
        self.allowed.extra = if self.needs_l1 && !self.allowed.in_l1 { 0 } else { extra };
    }

    /// True for some extra TBs, but fewer than the maximum.
    fn is_between(&self) -> bool {
        self.allowed.extra > 0 && self.allowed.extra < self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::super::utilization::Share;
    use super::*;

    fn share(percent: f64) -> Share {
        Share::of((percent * 100.0).round() as u64, 10_000)
    }

    /// Utilization of 1 % in all parts but one.
    fn busy(part: &str, percent: f64) -> Utilization {
        let of = |name| if name == part { share(percent) } else { share(1.0) };
        Utilization {
            scheduler: of("scheduler"),
            l1: of("l1"),
            requests: of("requests"),
            replies: of("replies"),
            l2: of("l2"),
            dram: of("dram"),
        }
    }

    /// Utilization classes at the limits of Lin et al. 2018, table 3: less than, and more than.
    #[test]
    fn table_3() {
        for (part, least, most) in [
            ("scheduler", 60.0, 80.0),
            ("l1", 60.0, 80.0),
            ("requests", 60.0, 90.0),
            ("replies", 60.0, 90.0),
            ("l2", 60.0, 80.0),
            ("dram", 50.0, 70.0),
        ] {
            let of = |percent| Class::of(&busy(part, percent));
            assert_eq!(of(least - 0.01), Class::Underutilized, "{part}");
            assert_eq!([of(least), of(most)], [Class::Moderate; 2], "{part}");
            assert_eq!(of(most + 0.01), Class::Saturated, "{part}");
        }
    }

    /// Allowances after each decision for a sequence of DRAM utilizations.
    fn allowed(bound: u32, uses: &[f64]) -> Vec<u32> {
        let mut controller = Controller::new(10_000, bound, false, 5_000);
        let mut look = |percent| {
            let at = controller.next;
            (at, controller.look(Traffic::default(), |_, _| busy("dram", percent)).extra)
        };
        assert_eq!(look(1.0), (15_000, 0), "the first interval is skipped");
        (0..)
            .zip(uses)
            .map(|(n, &percent)| {
                let (at, extra) = look(percent);
                assert_eq!(at, 25_000 + 10_000 * n);
                extra
            })
            .collect()
    }

    #[test]
    fn extra_tbs_are_raised_kept_and_taken_away() {
        assert_eq!(allowed(6, &[10.0, 20.0]), [6, 6]);
        assert_eq!(allowed(6, &[90.0, 90.0, 60.0, 60.0]), [0, 0, 1, 2]);
        assert_eq!(allowed(3, &[60.0; 5]), [1, 2, 3, 3, 3]);
        // The step to 3 saturates, so the number stays there.
        assert_eq!(allowed(6, &[60.0, 60.0, 60.0, 75.0, 60.0, 75.0]), [1, 2, 3, 3, 3, 3]);
        // The maximum is set at once and saturates, so the number falls to 0.
        assert_eq!(allowed(6, &[10.0, 75.0, 60.0]), [6, 0, 1]);
        assert_eq!(allowed(0, &[10.0, 60.0]), [0, 0]);
        // Low utilization resets the state, so the maximum is tried again; it saturates and is
        // removed.
        assert_eq!(allowed(6, &[60.0, 75.0, 75.0, 10.0, 75.0, 60.0, 60.0, 75.0]), [1, 1, 1, 6, 0, 1, 2, 2]);
    }

    /// Lin et al. 2018, section 6.4: the L1 is used if its utilization is below 3 % and nothing is
    /// saturated.
    #[test]
    fn the_l1_is_taken_when_idle() {
        let mut controller = Controller::new(10_000, 2, true, 0);
        let mut look = |part, percent| controller.look(Traffic::default(), |_, _| busy(part, percent));
        look("l1", 1.0);
        assert_eq!(look("l1", 3.0), Allowed { extra: 0, in_l1: false });
        assert_eq!(look("l1", 2.99), Allowed { extra: 2, in_l1: true });
        assert_eq!(look("dram", 71.0), Allowed { extra: 0, in_l1: false });
    }
}
