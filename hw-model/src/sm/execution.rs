//! Execution: the fixed-latency units of an SM, from the latches before them to the results they leave.
//!
//! An instruction that enters a unit's latch is taken by the unit in the next cycle in which the unit takes one, and its result arrives
//! so many cycles later: all of that is known when it enters the latch. So the result is scheduled then, and what is left to do is
//! to free the latch in time.

use super::calendar::{Calendar, UnitResult};
use super::inflight::{Inflight, UNITS};
use super::operands::{MAX_SUB_CORES, PLACE};
use super::{QUICK, RESULT_CYCLES};
use crate::config::UnitTiming;

/// Units other than the load/store unit: their [`PLACE`]s fill a lane of 8 bits per sub-core.
const PLACES: usize = 8;
const LATCHES: usize = PLACES * MAX_SUB_CORES;

/// The units of an SM. What every cycle looks at comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Execution {
    /// Latches that are full: bit 8 x sub-core + place of the unit, here and below.
    full: u64,
    /// Cycles before this one have been seen.
    seen: u64,
    /// The last cycle in which a latch is emptied.
    last: u64,
    mask: u64,
    /// By cycle, the latches that are emptied in it.
    emptied: Vec<u64>,
    results: Calendar,
    /// By place.
    timings: [UnitTiming; PLACES],
    /// By latch, the first cycle in which its unit takes another instruction.
    free_at: [u64; LATCHES],
}

impl Execution {
    /// Units of these timings in each of `sub_cores`.
    pub(super) fn new(timings: [UnitTiming; UNITS], sub_cores: u32) -> Self {
        let longest = |of: fn(&UnitTiming) -> u32| timings.iter().map(of).max().unwrap_or(1);
        let (latency, interval) = (longest(|t| t.latency), longest(|t| t.interval));
        let cycles = (interval as usize + 2).next_power_of_two();
        // A unit accepts an instruction per interval and holds it for its latency; one more waits in its latch.
        let in_flight: u32 = timings.iter().map(|t| (t.latency + RESULT_CYCLES as u32).div_ceil(t.interval) + 2).sum();
        let mut by_place = [QUICK; PLACES];
        for (timing, place) in timings.iter().zip(PLACE) {
            if let Some(at) = by_place.get_mut(usize::from(place)) {
                *at = *timing;
            }
        }
        Execution {
            timings: by_place,
            full: 0,
            free_at: [0; LATCHES],
            emptied: vec![0; cycles],
            mask: cycles as u64 - 1,
            seen: 0,
            last: 0,
            results: Calendar::new(interval + latency + RESULT_CYCLES as u32 + 1, (in_flight * sub_cores) as u16),
        }
    }

    /// Units take the instructions that are due up to cycle `now`; cycles may have been left out. Whether a latch has become free.
    #[inline]
    pub(super) fn begin(&mut self, now: u64) -> bool {
        let mut emptied = 0;
        for cycle in self.seen..=now.min(self.last) {
            emptied |= std::mem::take(&mut self.emptied[(cycle & self.mask) as usize]);
        }
        self.seen = now + 1;
        self.full &= !emptied;
        emptied != 0
    }

    /// Latches of units other than the load/store unit that are full: a lane of 8 bits per sub-core, a bit per [`PLACE`].
    #[inline]
    pub(super) fn full(&self) -> u64 {
        self.full
    }

    /// Whether the latch of a unit other than the load/store unit, given by its [`PLACE`], is full.
    #[inline]
    pub(super) fn is_full(&self, sub_core: usize, place: u8) -> bool {
        self.full >> latch(sub_core, place) & 1 != 0
    }

    /// An instruction enters its unit's latch, which must be free, in cycle `now`.
    #[inline]
    pub(super) fn accept(&mut self, sub_core: usize, place: u8, inst: &Inflight, now: u64) {
        let latch = latch(sub_core, place);
        let UnitTiming { latency, interval } = if inst.quick { QUICK } else { self.timings[latch & (PLACES - 1)] };
        let taken = self.free_at[latch].max(now + 1);
        self.free_at[latch] = taken + u64::from(interval);
        self.full |= 1 << latch;
        self.emptied[(taken & self.mask) as usize] |= 1 << latch;
        self.last = self.last.max(taken);
        self.results.add(taken + u64::from(latency) + RESULT_CYCLES, UnitResult { warp: inst.warp, dst: inst.dst });
    }

    /// One of the results that arrive in cycle `now`.
    #[inline]
    pub(super) fn take_result(&mut self, now: u64) -> Option<UnitResult> {
        self.results.take(now)
    }

    /// The first cycle from `now` on in which a result arrives.
    pub(super) fn next_result(&self, now: u64) -> Option<u64> {
        self.results.next(now)
    }
}

#[inline]
fn latch(sub_core: usize, place: u8) -> usize {
    (PLACES * sub_core + usize::from(place)) & (LATCHES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The unit as one would build it: a latch, and each cycle the unit takes what is in it if its interval is over.
    #[derive(Default)]
    struct Plain {
        latch: Option<u8>,
        free_at: u64,
        results: Vec<(u64, u8)>,
    }

    proptest! {
        /// Each instruction is taken when the unit built plainly takes it, and its result arrives when the plain one's does, whichever
        /// cycles are left out.
        #[test]
        fn behaves_as_a_latch_and_a_unit(
            (latency, interval) in (1u32..9, 1u32..7),
            steps in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 1..100),
        ) {
            let unit = 5;
            let place = PLACE[unit];
            let mut timings = [QUICK; UNITS];
            timings[unit] = UnitTiming { latency, interval };
            let mut execution = Execution::new(timings, 1);
            let mut plain = Plain::default();
            for (now, (look, enter, quick)) in (0u64..).zip(steps) {
                let number = now as u8;
                if let Some(taken) = plain.latch.filter(|_| plain.free_at <= now) {
                    let timing = if taken & 1 == 1 { QUICK } else { timings[unit] };
                    plain.free_at = now + u64::from(timing.interval);
                    plain.results.push((now + u64::from(timing.latency) + RESULT_CYCLES, taken));
                    plain.latch = None;
                }
                // A result is looked for in every cycle, as an SM does that sleeps until the next one.
                let mut arrived = vec![];
                while let Some(result) = execution.take_result(now) {
                    arrived.push(result.warp);
                }
                arrived.sort_unstable();
                let mut expected: Vec<u8> = plain.results.iter().filter(|(at, _)| *at == now).map(|(_, number)| *number).collect();
                expected.sort_unstable();
                prop_assert_eq!(arrived, expected);
                if !look {
                    continue;
                }
                execution.begin(now);
                prop_assert_eq!(execution.is_full(0, place), plain.latch.is_some());
                if enter && plain.latch.is_none() {
                    let warp = number & !1 | u8::from(quick);
                    plain.latch = Some(warp);
                    execution.accept(0, place, &Inflight { warp, quick, ..Inflight::EMPTY }, now);
                }
            }
        }
    }
}
