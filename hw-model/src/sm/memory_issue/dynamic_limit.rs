//! Generator of a kernel's dynamic limit (DMIL, MILG; Dai et al. 2018, section 3.3.2, figure 10 and
//! section 4.4), bit for bit.
//!
//! Every 1,024 requests of the kernel, `limit = max(peak in flight / (reservation fails >> 10),
//! 1)`: as many in flight as cause at most one reservation fail per request. Widths: 7 bits in
//! flight, 12 of reservation fails, which saturate, 10 of requests.
//!
//! Own, where the paper is silent: fewer than one fail per request make the divisor 0. Then the
//! limit is removed ([`NoFails::Unlimited`]: "reduced when there are more than one" implies that it
//! is not reduced), or raised by one ([`NoFails::Grow`]). 12 bits saturate at 4,095, so the divisor
//! is at most 3; [`Rule::wide`] counts further, for the kernels of table 2 with more fails. A
//! kernel with 127 in flight waits, so 7 bits never overflow. The peak of a new interval starts
//! with the number in flight.

use crate::config::NoFails;

/// Maximum number of instructions in flight in 7 bits: no limit.
pub(crate) const UNLIMITED: u8 = 127;

/// Number of requests per interval: 10 bits (Dai et al. 2018, section 3.3.2).
const INTERVAL: u32 = 1 << SHIFT;
const SHIFT: u32 = 10;

/// Saturation value of a 12-bit counter.
const MOST_FAILS: u32 = (1 << 12) - 1;

/// Number of operations of a new limit: a quotient of 7 bits, one subtraction each (own; sources.md
/// D175).
const NEW_LIMIT_COUNTS: u64 = 7;

/// Options that the paper leaves open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Change of the limit after fewer than one fail per request.
    pub no_fails: NoFails,
    /// True if fails are counted beyond 12 bits.
    pub wide: bool,
}

/// Generator of one limit.
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
    /// Creates a generator at the start of an interval, with this limit.
    pub(super) fn with_limit(limit: u8) -> Self {
        Milg { limit, ..Milg::default() }
    }

    /// Maximum number of instructions in flight, 1 to [`UNLIMITED`].
    pub(super) fn limit(&self) -> u8 {
        self.limit
    }

    /// Records an issued instruction.
    pub(super) fn issued(&mut self, in_flight: u8) {
        self.peak = self.peak.max(in_flight);
    }

    /// Records requests and fails. Returns the number of operations for a new limit, if there is
    /// one.
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
        // Surplus requests count toward the next interval.
        (self.requests, self.fails, self.peak) = (self.requests - INTERVAL, 0, in_flight);
        NEW_LIMIT_COUNTS
    }
}
