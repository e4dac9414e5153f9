//! DMIL: the generator of a kernel's limit (MILG; Dai et al. 2018, section 3.3.2, figure 10 and section 4.4), bit for bit.
//!
//! Every 1,024 requests of the kernel, `limit = max(peak in flight / (reservation fails >> 10), 1)`: as many in flight as make at most one
//! reservation fail per request. Widths: 7 bits in flight, 12 of reservation fails, which stay at their largest, 10 of requests.
//!
//! Own, where the paper is silent: fewer than one fail per request make the divisor 0. Then the limit is taken away
//! ([`NoFails::Unlimited`]: "reduced when there are more than one" implies that it is not reduced), or raised by one ([`NoFails::Grow`]). 12 bits
//! stay at 4,095, so that the divisor is 3 at most; [`Rule::wide`] counts on, for the kernels of table 2 with more. A kernel with
//! 127 in flight waits, so that 7 bits never lose count. The peak of a new interval begins with what is in flight.

use crate::config::NoFails;

/// Most instructions in flight that 7 bits count: no limit.
pub(crate) const UNLIMITED: u8 = 127;

/// Requests per interval: 10 bits (Dai et al. 2018, section 3.3.2).
const INTERVAL: u32 = 1 << SHIFT;
const SHIFT: u32 = 10;

/// Where a counter of 12 bits stays.
const MOST_FAILS: u32 = (1 << 12) - 1;

/// Operations of a new limit: a quotient of 7 bits, one subtraction each (own; sources.md D175).
const NEW_LIMIT_COUNTS: u64 = 7;

/// What the paper leaves open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// What becomes of the limit after fewer than one fail per request.
    pub no_fails: NoFails,
    /// Fails are counted on beyond 12 bits.
    pub wide: bool,
}

/// A generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Milg {
    limit: u8,
    peak: u8,
    requests: u32,
    fails: u32,
}

impl Default for Milg {
    fn default() -> Self {
        Milg { limit: UNLIMITED, peak: 0, requests: 0, fails: 0 }
    }
}

impl Milg {
    /// One at the beginning of an interval that goes on from this limit.
    pub(super) fn with_limit(limit: u8) -> Self {
        Milg { limit, ..Milg::default() }
    }

    /// Instructions that may be in flight, 1 to [`UNLIMITED`].
    pub(super) fn limit(&self) -> u8 {
        self.limit
    }

    /// One more is in flight.
    pub(super) fn issued(&mut self, in_flight: u8) {
        self.peak = self.peak.max(in_flight);
    }

    /// Requests were made, or refused. Returns what a new limit took, if there is one.
    pub(super) fn observe(&mut self, rule: &Rule, requests: u32, fails: u32, in_flight: u8) -> u64 {
        let most = if rule.wide { u32::MAX } else { MOST_FAILS };
        self.fails = self.fails.saturating_add(fails).min(most);
        self.requests = self.requests.saturating_add(requests);
        if self.requests < INTERVAL {
            return 0;
        }
        self.limit = match (self.fails >> SHIFT, rule.no_fails) {
            (0, NoFails::Unlimited) => UNLIMITED,
            (0, NoFails::Grow) => (self.limit + 1).min(UNLIMITED),
            (divisor, _) => (u32::from(self.peak) / divisor).max(1) as u8,
        };
        // What is over belongs to the next interval.
        (self.requests, self.fails, self.peak) = (self.requests - INTERVAL, 0, in_flight);
        NEW_LIMIT_COUNTS
    }
}
