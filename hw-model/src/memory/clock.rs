//! Clock domain relative to the core clock, by exact integer accumulation.
//!
//! Tick `k` of a domain of frequency f is at time `k / f`; core tick `n` is at `n / core`. A domain
//! tick belongs to the first core tick that is not earlier, so that both start together with tick
//! 0. There is no rounding and no drift, for any ratio.

/// Clock domain.
#[derive(Clone, Debug)]
pub(super) struct ClockDomain {
    /// Frequencies of the domain and of the core, divided by their greatest common divisor.
    domain: i64,
    core: i64,
    /// Time since the domain's last tick, in units of 1 / (core x domain); at most `core` before a
    /// tick.
    phase: i64,
    ticks: u64,
}

impl ClockDomain {
    /// Creates a domain of `domain_khz` relative to a core of `core_khz`, both at least 1.
    pub(super) fn new(domain_khz: u32, core_khz: u32) -> Self {
        let (mut a, mut b) = (i64::from(domain_khz), i64::from(core_khz));
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let (domain, core) = (i64::from(domain_khz) / a, i64::from(core_khz) / a);
        ClockDomain { domain, core, phase: core - domain, ticks: 0 }
    }

    /// Number of ticks that have passed, which is the number of the next one.
    pub(super) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Advances by `cycles` core ticks. Returns the numbers of the domain's ticks in them.
    pub(super) fn advance(&mut self, cycles: u64) -> std::ops::Range<u64> {
        let first = self.ticks;
        self.phase += self.domain * cycles as i64;
        if self.phase >= self.core {
            if self.phase < 2 * self.core {
                self.phase -= self.core;
                self.ticks += 1;
            } else {
                self.ticks += (self.phase / self.core) as u64;
                self.phase %= self.core;
            }
        }
        first..self.ticks
    }

    /// Number of core ticks before the one that includes domain tick `tick` (0 if that is the next,
    /// or past).
    pub(super) fn cycles_before(&self, tick: u64) -> u64 {
        if tick < self.ticks {
            return 0;
        }
        // For far ticks, a shorter but safe time is returned.
        let ahead = (tick - self.ticks).min(1 << 40) as i64 + 1;
        let needed = ahead * self.core - self.phase;
        (needed.max(1) as u64).div_ceil(self.domain as u64).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Up to and including core tick n, a domain has ticked floor(n f / core) + 1 times.
        #[test]
        fn matches_the_closed_form(domain in 1u32..5_000_000, core in 1u32..5_000_000, n in 0u64..3_000) {
            let mut clock = ClockDomain::new(domain, core);
            for _ in 0..=n {
                clock.advance(1);
            }
            prop_assert_eq!(clock.ticks(), n * u64::from(domain) / u64::from(core) + 1);
            let mut jump = ClockDomain::new(domain, core);
            jump.advance(n + 1);
            prop_assert_eq!(jump.ticks(), clock.ticks());
            prop_assert_eq!(jump.phase, clock.phase);
        }

        #[test]
        fn cycles_before_is_the_last_safe_moment(domain in 1u32..5_000, core in 1u32..5_000, warm in 0u64..50, ahead in 0u64..50) {
            let mut clock = ClockDomain::new(domain, core);
            clock.advance(warm);
            let tick = clock.ticks() + ahead;
            let before = clock.cycles_before(tick);
            let mut just_before = clock.clone();
            just_before.advance(before);
            prop_assert!(just_before.ticks() <= tick);
            clock.advance(before + 1);
            prop_assert!(clock.ticks() > tick);
        }
    }
}
