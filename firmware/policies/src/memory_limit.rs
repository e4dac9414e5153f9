//! DMIL in firmware: limits on memory instructions in flight, from hardware counts of each kernel
//! on each SM (Dai et al. 2018, section 3.3.2; sources.md D127).
//!
//! The rule is that of the hardware: `limit = max(peak in flight / (reservation fails per request,
//! rounded down), 1)`. Only the timing differs. The firmware checks at fixed intervals, with a
//! delay, and uses the requests of a whole interval, at least 1,024. The mechanism is independent
//! of the policy, and keeps no state between two checks.

use mias_registers::bus::{TryBus, read, write};
use mias_registers::{KERNEL_SLOTS, global, memory, option};

/// Fails per request at which 12 bits saturate in 1,024 requests (Dai et al. 2018, section 3.3.2).
const MOST_FAILS_EACH: u32 = ((1 << 12) - 1) / memory::SAMPLE_REQUESTS;

/// Slots of the map, one bit each.
const ALL_SLOTS: u32 = (1 << KERNEL_SLOTS) - 1;

/// Requested handling of memory instructions: bits of [`global::STRAP_OPTIONS`].
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimit(u32);

/// Counts of a kernel on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Number of requests.
    pub requests: u32,
    /// Number of reservation fails.
    pub fails: u32,
    /// Peak number of memory instructions in flight.
    pub peak: u32,
}

impl MemoryLimit {
    /// Returns the handling that the straps request.
    #[must_use]
    pub const fn of(options: u32) -> Self {
        Self(options)
    }

    const fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    /// Returns whether the firmware sets limits.
    #[must_use]
    pub const fn is_asked_for(self) -> bool {
        self.has(option::LIMIT_MEMORY)
    }

    /// Returns whether hardware must hold nothing back while configurations are tried.
    #[must_use]
    pub const fn is_from_decision(self) -> bool {
        self.has(option::MEMORY_FROM_DECISION)
    }

    /// Returns the limit after an interval with these counts, 1 to 127. `before` is the limit in
    /// effect.
    #[must_use]
    pub fn limit(self, counted: Counted, before: u32) -> u32 {
        let Counted { requests, fails, peak } = counted;
        let each = fails.checked_div(requests).unwrap_or(0);
        let each = if self.has(option::LIMIT_WIDE) { each } else { each.min(MOST_FAILS_EACH) };
        let limit = match peak.checked_div(each) {
            Some(limit) => limit,
            None if self.has(option::LIMIT_GROWS) => before.saturating_add(1),
            None => memory::MOST_IN_FLIGHT,
        };
        limit.clamp(1, memory::MOST_IN_FLIGHT)
    }

    /// Updates the limits of all kernels with enough requests since their last check, on the first
    /// `sms` SMs.
    ///
    /// # Errors
    /// The bus failed.
    #[inline(never)]
    pub(crate) fn renew<B: TryBus>(self, bus: &mut B, sms: u16) -> Result<(), B::Error> {
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

    /// Updates the limits of the SM whose registers start at `base`.
    fn renew_sm<B: TryBus>(self, bus: &mut B, base: u32) -> Result<(), B::Error> {
        let mut slots = bus.try_read32(base + memory::READY)? & ALL_SLOTS;
        while slots != 0 {
            let of_slot = base + 4 * slots.trailing_zeros();
            slots &= slots.wrapping_sub(1);
            let counted = Counted {
                requests: bus.try_read32(of_slot + memory::REQUESTS)?,
                fails: bus.try_read32(of_slot + memory::FAILS)?,
                peak: bus.try_read32(of_slot + memory::PEAK)?,
            };
            let before = if self.has(option::LIMIT_GROWS) { bus.try_read32(of_slot + memory::LIMIT)? } else { 0 };
            bus.try_write32(of_slot + memory::LIMIT, self.limit(counted, before))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BIT_EXACT: MemoryLimit = MemoryLimit::of(option::LIMIT_MEMORY);
    const WIDE: MemoryLimit = MemoryLimit::of(option::LIMIT_MEMORY | option::LIMIT_WIDE);
    const GROWS: MemoryLimit = MemoryLimit::of(option::LIMIT_MEMORY | option::LIMIT_GROWS);

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
        // 12 bits of fails in 1,024 requests are at most three per request.
        assert_eq!(limit(BIT_EXACT, 1024, 80 * 1024, 96, 5), 32);
        assert_eq!(limit(WIDE, 1024, 80 * 1024, 96, 5), 1);
        assert_eq!([5, 126, 127].map(|before| limit(GROWS, 1024, 0, 96, before)), [6, 127, 127]);
    }

    proptest! {
        /// Limits are from 1 to 127 for any counts that the register block returns.
        #[test]
        fn limits_are_from_1_to_127(requests: u32, fails: u32, peak: u32, before: u32, options: u32) {
            let found = limit(MemoryLimit::of(options), requests, fails, peak, before);
            prop_assert!((1..=127).contains(&found), "{found}");
        }
    }
}
