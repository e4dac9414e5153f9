//! GPUDuet's throughput controller in firmware: the number of extra TBs of a kernel, from the
//! chip's utilization (Lin et al. 2018, section 6.4 and table 3; sources.md D165 and D181).
//!
//! The rule is that of the hardware:
//!
//! * While no resource is used much, a kernel has as many extra TBs as there is space for.
//! * If a resource is saturated, it has none.
//! * In between, the number rises by one at a time until a resource saturates. It then stays until
//!   no resource is used much again.
//!
//! Only the timing differs: the firmware acts when it is free, with a delay. The mechanism is
//! independent of the policy, and keeps no state here. The allowed number, and whether its rise has
//! ended, are in the register that sets it, and belong to the kernel.

use mias_registers::bus::{TryBus, read, write};
use mias_registers::{CONTEXT_ARRAYS, CONTEXT_COUNTS, KERNEL_SLOTS, context_allowed, context_bound, fault, feature, global, interrupt};

/// Slots of the map, one bit each.
const ALL_SLOTS: u32 = (1 << KERNEL_SLOTS) - 1;

/// Limits per resource in percent of its maximum: below the first it is not used much, above the
/// second it is saturated (Lin et al. 2018, table 3).
const LIMITS: [(u32, u32); CONTEXT_COUNTS] = [(60, 80), (60, 80), (60, 90), (60, 90), (60, 80), (50, 70)];

/// Utilization in percent below which the L1 may store contexts (Lin et al. 2018, section 6.4).
const IDLE_L1_PERCENT: u32 = 3;

/// Utilization of a resource: a count and its maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Measured count.
    pub used: u32,
    /// Maximum of the count.
    pub of: u32,
}

impl Share {
    /// Returns whether the utilization is above `percent`.
    #[must_use]
    pub fn exceeds(self, percent: u32) -> bool {
        100 * u64::from(self.used) > u64::from(percent) * u64::from(self.of)
    }

    /// Returns whether the utilization is below `percent`.
    #[must_use]
    pub fn is_below(self, percent: u32) -> bool {
        100 * u64::from(self.used) < u64::from(percent) * u64::from(self.of)
    }
}

/// Utilization of the schedulers, the L1s, the interconnect to the L2 and back, the L2 and DRAM.
pub type Busy = [Share; CONTEXT_COUNTS];

/// Returns the utilization class: [`context_allowed::UNDERUTILIZED`], [`context_allowed::MODERATE`]
/// or [`context_allowed::SATURATED`].
fn class(busy: &Busy) -> u32 {
    let parts = || busy.iter().zip(LIMITS);
    if parts().any(|(share, (_, most))| share.exceeds(most)) {
        context_allowed::SATURATED
    } else if parts().all(|(share, (least, _))| share.is_below(least)) {
        context_allowed::UNDERUTILIZED
    } else {
        context_allowed::MODERATE
    }
}

/// Returns the allowance of a kernel after an interval with this utilization: [`context_allowed`],
/// its number within [`context_bound::EXTRA`] of `bound`.
///
/// `before` is the previous allowance.
#[must_use]
pub fn decide(before: u32, bound: u32, busy: &Busy) -> u32 {
    let class = class(busy);
    let (most, held) = (bound & context_bound::EXTRA, (before & context_allowed::EXTRA).min(bound & context_bound::EXTRA));
    let mut stopped = before & context_allowed::STOPPED;
    let extra = match class {
        context_allowed::UNDERUTILIZED => {
            stopped = 0;
            most
        }
        context_allowed::MODERATE if stopped != 0 => held,
        context_allowed::MODERATE => most.min(held.saturating_add(1)),
        // More than none and less than the bound: it was raised step by step, so the last step
        // caused the saturation.
        _ if stopped != 0 || held > 0 && held < most => {
            stopped = context_allowed::STOPPED;
            held
        }
        _ => 0,
    };
    let [_, l1, ..] = *busy;
    let needs_l1 = bound & context_bound::NEEDS_L1 != 0;
    let lent = needs_l1 && class != context_allowed::SATURATED && (l1.is_below(IDLE_L1_PERCENT) || before & context_allowed::IN_L1 != 0);
    let extra = if needs_l1 && !lent { 0 } else { extra };
    extra | if lent { context_allowed::IN_L1 } else { 0 } | stopped | class << context_allowed::CLASS_SHIFT
}

/// Starts the intervals.
///
/// # Errors
/// The bus failed.
#[inline(never)]
pub(crate) fn start<B: TryBus>(bus: &mut B) -> Result<(), B::Error> {
    if read(bus, global::FEATURES)? & feature::OVERSUBSCRIPTION == 0 {
        return write(bus, global::FAULT_SET, fault::NO_OVERSUBSCRIPTION);
    }
    let interval = read(bus, global::STRAP_CONTEXT_INTERVAL)?;
    write(bus, global::CONTEXT_INTERVAL, interval)?;
    let enabled = read(bus, global::INT_ENABLE)?;
    write(bus, global::INT_ENABLE, enabled | interrupt::OVERSUBSCRIPTION)
}

/// Checks the finished intervals, and sets the allowances of their kernels.
///
/// # Errors
/// The bus failed.
#[inline(never)]
pub(crate) fn look<B: TryBus>(bus: &mut B) -> Result<(), B::Error> {
    let due = read(bus, global::CONTEXT_DUE)? & ALL_SLOTS;
    if due == 0 {
        return Ok(());
    }
    let mut busy = Busy::default();
    for (share, capacity) in busy.iter_mut().zip((global::CONTEXT_CAPACITY..).step_by(4)) {
        share.of = bus.try_read32(capacity)?;
    }
    let mut slots = due;
    while slots != 0 {
        let of_slot = 4 * slots.trailing_zeros();
        slots &= slots.wrapping_sub(1);
        for (share, counted) in busy.iter_mut().zip(CONTEXT_ARRAYS) {
            share.used = bus.try_read32(counted + of_slot)?;
        }
        let bound = bus.try_read32(global::CONTEXT_BOUND + of_slot)?;
        let before = bus.try_read32(global::CONTEXT_ALLOWED + of_slot)?;
        bus.try_write32(global::CONTEXT_ALLOWED + of_slot, decide(before, bound, &busy))?;
    }
    // Last, because the counts stay until then.
    write(bus, global::CONTEXT_DUE, due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const SCHEDULER: usize = 0;
    const L1: usize = 1;
    const DRAM: usize = 5;

    /// Returns all resources at 1 % except one, in hundredths of a percent.
    fn busy(part: usize, used: u32) -> Busy {
        let mut busy = [Share { used: 100, of: 10_000 }; CONTEXT_COUNTS];
        busy[part].used = used;
        busy
    }

    /// Utilization classes at the limits of Lin et al. 2018, table 3: less than, and more than.
    #[test]
    fn table_3() {
        let thresholds = [(60, 80), (60, 80), (60, 90), (60, 90), (60, 80), (50, 70)];
        for (part, (least, most)) in thresholds.into_iter().enumerate() {
            let of = |used| class(&busy(part, used));
            assert_eq!(of(100 * least - 1), context_allowed::UNDERUTILIZED, "{part}");
            assert_eq!([of(100 * least), of(100 * most)], [context_allowed::MODERATE; 2], "{part}");
            assert_eq!(of(100 * most + 1), context_allowed::SATURATED, "{part}");
        }
    }

    /// Returns the extra TBs after each check of a sequence of DRAM utilizations, in percent.
    fn allowed(bound: u32, uses: &[u32]) -> Vec<u32> {
        let step = |word: &mut u32, percent: &u32| {
            *word = decide(*word, bound, &busy(DRAM, 100 * percent));
            Some(*word & context_allowed::EXTRA)
        };
        uses.iter().scan(0, step).collect()
    }

    /// Lin et al. 2018, section 6.4, by hand: the bound at once, none, one more at a time until a
    /// resource is saturated.
    #[test]
    fn extra_tbs_are_raised_kept_and_taken_away() {
        assert_eq!(allowed(6, &[10, 20]), [6, 6]);
        assert_eq!(allowed(6, &[90, 90, 60, 60]), [0, 0, 1, 2]);
        assert_eq!(allowed(3, &[60; 5]), [1, 2, 3, 3, 3]);
        assert_eq!(allowed(6, &[60, 60, 60, 75, 60, 75]), [1, 2, 3, 3, 3, 3]);
        assert_eq!(allowed(6, &[10, 75, 60]), [6, 0, 1]);
        assert_eq!(allowed(0, &[10, 60]), [0, 0]);
        assert_eq!(allowed(6, &[60, 75, 75, 10, 75, 60, 60, 75]), [1, 1, 1, 6, 0, 1, 2, 2]);
    }

    /// Lin et al. 2018, section 6.4: the L1 is used if its own utilization is below 3 %, and no
    /// resource is saturated.
    #[test]
    fn the_l1_is_taken_when_idle() {
        let bound = 2 | context_bound::NEEDS_L1;
        let said = |before, busy: &Busy| decide(before, bound, busy) & (context_allowed::EXTRA | context_allowed::IN_L1);
        assert_eq!(said(0, &busy(L1, 300)), 0);
        assert_eq!(said(0, &busy(L1, 299)), 2 | context_allowed::IN_L1);
        assert_eq!(said(2 | context_allowed::IN_L1, &busy(L1, 300)), 2 | context_allowed::IN_L1);
        assert_eq!(said(2 | context_allowed::IN_L1, &busy(DRAM, 7_100)), 0);
        assert_eq!(decide(0, 2, &busy(SCHEDULER, 0)) & context_allowed::IN_L1, 0, "it needs none");
    }

    proptest! {
        /// Allowances are within the bound for any counts that the register block returns.
        #[test]
        fn extras_are_within_the_bound(before: u32, bound: u32, counted: [(u32, u32); CONTEXT_COUNTS]) {
            let busy = counted.map(|(used, of)| Share { used, of });
            let word = decide(before, bound, &busy);
            prop_assert!(word & context_allowed::EXTRA <= bound & context_bound::EXTRA, "{word:#x}");
            prop_assert!(word & context_allowed::IN_L1 == 0 || bound & context_bound::NEEDS_L1 != 0, "{word:#x}");
            prop_assert!((1..=3).contains(&(word >> context_allowed::CLASS_SHIFT)), "{word:#x}");
            let saturated = busy.iter().zip([80, 80, 90, 90, 80, 70]).any(|(share, most)| {
                100 * u128::from(share.used) > most * u128::from(share.of)
            });
            prop_assert_eq!(word >> context_allowed::CLASS_SHIFT == context_allowed::SATURATED, saturated);
        }
    }
}
