//! DMIL in firmware: limits of memory instructions in flight, from what the hardware counts of each kernel on each SM (Dai et al. 2018,
//! section 3.3.2; sources.md D127).
//!
//! The rule is the hardware's: `limit = max(peak in flight / (reservation fails per request, rounded down), 1)`. What differs is when: the
//! firmware looks every so many cycles, takes its time, and takes the requests of a whole interval, of which there are at least 1,024. It is no policy
//! and goes with any. Nothing is remembered between two looks.

use crate::bus::{TryBus, read, write};
use crate::regs::{MAX_SLOTS, global, memory, option};

/// Fails per request beyond which 12 bits count none in 1,024 requests (Dai et al. 2018, section 3.3.2).
const MOST_FAILS_EACH: u32 = ((1 << 12) - 1) / memory::SAMPLE_REQUESTS;

/// Slots of the map, one bit each.
const ALL_SLOTS: u32 = (1 << MAX_SLOTS) - 1;

/// How limits are found, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Cycles between two looks.
    pub interval_cycles: u32,
    /// With fewer fails than requests a limit is raised by one; else it is taken away.
    pub grows: bool,
    /// All fails count; else as many as 12 bits do.
    pub wide: bool,
}

/// What was counted of a kernel on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Requests.
    pub requests: u32,
    /// Reservation fails.
    pub fails: u32,
    /// Most memory instructions in flight at a time.
    pub peak: u32,
}

impl MemoryLimit {
    /// Reads the straps; `options` are those of [`global::STRAP_OPTIONS`].
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B, options: u32) -> Result<Self, B::Error> {
        let interval_cycles = read(bus, global::STRAP_MEMORY_INTERVAL)?;
        Ok(Self { interval_cycles, grows: options & option::LIMIT_GROWS != 0, wide: options & option::LIMIT_WIDE != 0 })
    }

    /// The limit after an interval in which so much was counted, 1 to 127. `before` is the one in effect.
    #[must_use]
    pub fn limit(&self, counted: Counted, before: u32) -> u32 {
        let Counted { requests, fails, peak } = counted;
        let each = fails.checked_div(requests).unwrap_or(0);
        let each = if self.wide { each } else { each.min(MOST_FAILS_EACH) };
        let limit = match peak.checked_div(each) {
            Some(limit) => limit,
            None if self.grows => before.saturating_add(1),
            None => memory::MOST_IN_FLIGHT,
        };
        limit.clamp(1, memory::MOST_IN_FLIGHT)
    }

    /// Looks at all kernels that have had enough requests since they were looked at last, on the first `sms` SMs, and sets their limits.
    ///
    /// # Errors
    /// The bus failed.
    #[inline(never)]
    pub(crate) fn renew<B: TryBus>(&self, bus: &mut B, sms: u16) -> Result<(), B::Error> {
        write(bus, global::MEMORY_SNAPSHOT, 1)?;
        for word in 0..sms.div_ceil(32) {
            let mut ready = read(bus, global::MEMORY_READY + 4 * u32::from(word))?;
            while ready != 0 {
                let sm = 32 * word + ready.trailing_zeros() as u16;
                ready &= ready.wrapping_sub(1);
                if sm < sms {
                    self.renew_sm(bus, memory::at(sm.into(), 0))?;
                }
            }
        }
        Ok(())
    }

    /// The same for the SM whose registers begin at `base`.
    fn renew_sm<B: TryBus>(&self, bus: &mut B, base: u32) -> Result<(), B::Error> {
        let mut slots = bus.try_read32(base + memory::READY)? & ALL_SLOTS;
        while slots != 0 {
            let of_slot = base + 4 * slots.trailing_zeros();
            slots &= slots.wrapping_sub(1);
            let counted = Counted {
                requests: bus.try_read32(of_slot + memory::REQUESTS)?,
                fails: bus.try_read32(of_slot + memory::FAILS)?,
                peak: bus.try_read32(of_slot + memory::PEAK)?,
            };
            let before = if self.grows { bus.try_read32(of_slot + memory::LIMIT)? } else { 0 };
            bus.try_write32(of_slot + memory::LIMIT, self.limit(counted, before))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BIT_EXACT: MemoryLimit = MemoryLimit { interval_cycles: 1, grows: false, wide: false };

    fn limit(rule: MemoryLimit, requests: u32, fails: u32, peak: u32, before: u32) -> u32 {
        rule.limit(Counted { requests, fails, peak }, before)
    }

    /// Dai et al. 2018, section 3.3.2: the peak over the fails per request, at least 1.
    #[test]
    fn a_limit_is_the_peak_over_the_fails_per_request() {
        for (requests, fails, peak, expected) in [
            (1024, 1024, 24, 24),
            (1024, 2047, 24, 24),
            (2048, 4096, 24, 12),
            (1500, 4500, 25, 8),
            (1024, 1023, 24, 127),
            (4096, 16_000, 2, 1),
        ] {
            assert_eq!(limit(BIT_EXACT, requests, fails, peak, 5), expected, "{fails} of {requests}");
        }
        // 12 bits of fails in 1,024 requests are three per request at most.
        assert_eq!(limit(BIT_EXACT, 1024, 80 * 1024, 96, 5), 32);
        assert_eq!(limit(MemoryLimit { wide: true, ..BIT_EXACT }, 1024, 80 * 1024, 96, 5), 1);
        let grows = MemoryLimit { grows: true, ..BIT_EXACT };
        assert_eq!([5, 126, 127].map(|before| limit(grows, 1024, 0, 96, before)), [6, 127, 127]);
    }

    proptest! {
        /// Whatever the block answers.
        #[test]
        fn limits_are_from_1_to_127(requests: u32, fails: u32, peak: u32, before: u32, grows: bool, wide: bool) {
            let found = limit(MemoryLimit { interval_cycles: 1, grows, wide }, requests, fails, peak, before);
            prop_assert!((1..=127).contains(&found), "{found}");
        }
    }
}
