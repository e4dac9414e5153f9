//! Execution: the fixed-latency units of an SM, from their input latches to their results.
//!
//! A unit takes an instruction from its latch in the next cycle in which it accepts one, and the
//! result arrives after the latency. Both are known when the instruction enters the latch. So the
//! result is scheduled then, and the latch is freed in time.
//!
//! An option limits the results of all units of the SM per cycle ([`ResultBuses`]). Then a unit
//! takes an instruction when its result has a bus, which is not known in advance.

use super::inflight::{Inflight, UNITS};
use super::operands::{MAX_SUB_CORES, PLACE};
use super::timing_wheel::{TimingWheel, UnitResult};
use super::{QUICK, RESULT_CYCLES};
use crate::config::UnitTiming;

/// Number of units other than the load/store unit: their [`PLACE`]s fill a lane of 8 bits per
/// sub-core.
const PLACES: usize = 8;
const LATCHES: usize = PLACES * MAX_SUB_CORES;

/// Execution units of an SM. Data used in every cycle comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Execution {
    /// Full latches: bit 8 x sub-core + place of the unit, here and below.
    full: u64,
    /// First cycle that has not been processed.
    seen: u64,
    /// Last cycle in which a latch is emptied.
    last: u64,
    mask: u64,
    /// Latches that are emptied, by cycle.
    emptied: Vec<u64>,
    results: TimingWheel,
    /// Timings by place.
    timings: [UnitTiming; PLACES],
    /// By latch, the first cycle in which its unit takes another instruction.
    free_at: [u64; LATCHES],
    /// Result buses; none: no limit.
    buses: Option<Box<ResultBuses>>,
}

/// Result buses of an SM's units, and the instructions that wait for one (sources.md D173).
#[derive(Clone, Debug)]
struct ResultBuses {
    count: u32,
    /// Number of reserved buses, by cycle.
    taken: Vec<u32>,
    /// Instruction in each latch.
    held: [(UnitResult, UnitTiming); LATCHES],
}

/// Order in which units request a bus, by [`PLACE`]: SP, DP, INT, SFU, branch, texture, tensor,
/// uniform, each for all sub-cores in turn, as in Accel-Sim.
const BUS_ORDER: [u32; PLACES] = [0, 3, 4, 1, 5, 6, 2, 7];

/// Bit of place 0 in every sub-core.
const EVERY_SUB_CORE: u64 = 0x0101_0101_0101_0101;

impl Execution {
    /// Creates units with these timings in each of `sub_cores`, and `result_buses` for all of them;
    /// 0: no limit.
    pub(super) fn new(timings: [UnitTiming; UNITS], sub_cores: u32, result_buses: u32) -> Self {
        let longest = |of: fn(&UnitTiming) -> u32| timings.iter().map(of).max().unwrap_or(1);
        let (latency, interval) = (longest(|t| t.latency), longest(|t| t.interval));
        let cycles = (interval as usize + 2).next_power_of_two();
        // A unit accepts an instruction per interval and holds it for its latency; one more waits
        // in its latch.
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
            buses: (result_buses > 0).then(|| {
                Box::new(ResultBuses {
                    count: result_buses,
                    taken: vec![0; (latency as usize + 1).next_power_of_two()],
                    held: [(UnitResult { warp: 0, dst: 0 }, QUICK); LATCHES],
                })
            }),
            results: TimingWheel::new(interval + latency + RESULT_CYCLES as u32 + 1, (in_flight * sub_cores) as u16),
        }
    }

    /// Lets units take the instructions that are due up to cycle `now`; cycles may have been
    /// skipped. Returns true if a latch was freed.
    #[inline]
    pub(super) fn begin(&mut self, now: u64) -> bool {
        if self.buses.is_some() {
            return self.begin_with_buses(now);
        }
        let mut emptied = 0;
        for cycle in self.seen..=now.min(self.last) {
            emptied |= std::mem::take(&mut self.emptied[(cycle & self.mask) as usize]);
        }
        self.seen = now + 1;
        self.full &= !emptied;
        emptied != 0
    }

    /// Lets units take instructions whose results have a bus, up to cycle `now`.
    #[cold]
    #[inline(never)]
    fn begin_with_buses(&mut self, now: u64) -> bool {
        let Some(buses) = &mut self.buses else { return false };
        let mut emptied = 0;
        let slots = buses.taken.len() as u64;
        for cycle in self.seen.max((now + 1).saturating_sub(slots))..=now {
            // The results reserved for this cycle have arrived.
            buses.taken[(cycle & (slots - 1)) as usize] = 0;
        }
        let mut cycle = self.seen;
        while cycle <= now.min(self.last) {
            let due = std::mem::take(&mut self.emptied[(cycle & self.mask) as usize]);
            for place in BUS_ORDER {
                let mut units = due & EVERY_SUB_CORE << place;
                while units != 0 {
                    let latch = units.trailing_zeros() as usize & (LATCHES - 1);
                    units &= units - 1;
                    let (result, UnitTiming { latency, interval }) = buses.held[latch];
                    let out = cycle + u64::from(latency);
                    let taken = &mut buses.taken[(out & (slots - 1)) as usize];
                    if *taken < buses.count {
                        *taken += 1;
                        self.results.add(out + RESULT_CYCLES, result);
                        self.free_at[latch] = cycle + u64::from(interval);
                        emptied |= 1 << latch;
                    } else {
                        self.emptied[((cycle + 1) & self.mask) as usize] |= 1 << latch;
                        self.last = self.last.max(cycle + 1);
                    }
                }
            }
            cycle += 1;
        }
        self.seen = now + 1;
        self.full &= !emptied;
        emptied != 0
    }

    /// Full latches of units other than the load/store unit: a lane of 8 bits per sub-core, a bit
    /// per [`PLACE`].
    #[inline]
    pub(super) fn full(&self) -> u64 {
        self.full
    }

    /// True if the latch of a unit other than the load/store unit, given by its [`PLACE`], is full.
    #[inline]
    pub(super) fn is_full(&self, sub_core: usize, place: u8) -> bool {
        self.full >> latch(sub_core, place) & 1 != 0
    }

    /// Puts an instruction into its unit's latch, which must be free, in cycle `now`.
    #[inline(always)]
    pub(super) fn accept(&mut self, sub_core: usize, place: u8, inst: &Inflight, now: u64) {
        let latch = latch(sub_core, place);
        let UnitTiming { latency, interval } = if inst.quick { QUICK } else { self.timings[latch & (PLACES - 1)] };
        let taken = self.free_at[latch].max(now + 1);
        self.full |= 1 << latch;
        self.emptied[(taken & self.mask) as usize] |= 1 << latch;
        self.last = self.last.max(taken);
        let (result, timing) = (UnitResult { warp: inst.warp, dst: inst.dst }, UnitTiming { latency, interval });
        if self.buses.is_some() {
            return self.hold(latch, result, timing);
        }
        self.free_at[latch] = taken + u64::from(interval);
        self.results.add(taken + u64::from(latency) + RESULT_CYCLES, result);
    }

    /// Holds the instruction in a latch until its unit and a bus are free.
    #[cold]
    #[inline(never)]
    fn hold(&mut self, latch: usize, result: UnitResult, timing: UnitTiming) {
        if let Some(buses) = &mut self.buses {
            buses.held[latch] = (result, timing);
        }
    }

    /// Takes one of the results that arrive in cycle `now`.
    #[inline]
    pub(super) fn take_result(&mut self, now: u64) -> Option<UnitResult> {
        self.results.take(now)
    }

    /// First cycle from `now` on in which a result arrives, or a unit may take an instruction at an
    /// unknown cycle.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let result = self.results.next(now);
        if self.buses.is_none() {
            return result;
        }
        let due = (now..=self.last).find(|cycle| self.emptied[(cycle & self.mask) as usize] != 0);
        result.into_iter().chain(due).min()
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
    use std::collections::BTreeMap;

    /// Reference unit: a latch, from which the unit takes the instruction once its interval is
    /// over.
    #[derive(Default)]
    struct Plain {
        latch: Option<u8>,
        free_at: u64,
        results: Vec<(u64, u8)>,
    }

    /// Reference units of an SM with result buses. In each cycle every unit, in the order of
    /// requests, may take the instruction in its latch. It needs the end of its interval and a free
    /// bus for the result.
    #[derive(Default)]
    struct PlainBuses {
        /// Number of the instruction, by sub-core and place.
        latches: BTreeMap<(usize, usize), u8>,
        free_at: BTreeMap<(usize, usize), u64>,
        out: Vec<u64>,
        results: Vec<(u64, u8)>,
    }

    impl PlainBuses {
        fn cycle(&mut self, now: u64, buses: usize, timings: &[UnitTiming; PLACES]) {
            for place in BUS_ORDER.map(|place| place as usize) {
                for sub_core in 0..MAX_SUB_CORES {
                    let unit = (sub_core, place);
                    let UnitTiming { latency, interval } = timings[place];
                    let out = now + u64::from(latency);
                    let busy = self.free_at.get(&unit).is_some_and(|&free| free > now);
                    let bus = self.out.iter().filter(|&&other| other == out).count() < buses;
                    if let Some(&number) = self.latches.get(&unit).filter(|_| !busy && bus) {
                        self.latches.remove(&unit);
                        self.free_at.insert(unit, now + u64::from(interval));
                        self.out.push(out);
                        self.results.push((out + RESULT_CYCLES, number));
                    }
                }
            }
        }
    }

    proptest! {
        /// With few buses, instructions wait for one as in the reference units.
        #[test]
        fn results_wait_for_a_bus(
            buses in 1usize..5,
            sub_cores in 1usize..=MAX_SUB_CORES,
            steps in prop::collection::vec(any::<u64>(), 1..80),
        ) {
            let mut by_unit = [QUICK; UNITS];
            let mut timings = [QUICK; PLACES];
            for (unit, place) in PLACE.iter().take(UNITS).enumerate() {
                by_unit[unit] = UnitTiming { latency: 1 + unit as u32 % 4, interval: 1 + unit as u32 % 3 };
                if let Some(at) = timings.get_mut(usize::from(*place)) {
                    *at = by_unit[unit];
                }
            }
            let mut execution = Execution::new(by_unit, sub_cores as u32, buses as u32);
            let mut plain = PlainBuses::default();
            let mut number = 0u8;
            for (now, entering) in (0u64..).zip(steps) {
                let mut arrived = vec![];
                while let Some(result) = execution.take_result(now) {
                    arrived.push(result.warp);
                }
                arrived.sort_unstable();
                let mut expected: Vec<u8> = plain.results.iter().filter(|(at, _)| *at == now).map(|(_, number)| *number).collect();
                expected.sort_unstable();
                prop_assert_eq!(&arrived, &expected);
                prop_assert!(arrived.len() <= buses);
                // A cycle in which nothing can happen may be skipped.
                let sleeps = now > 0 && execution.next_event(now).is_none_or(|next| next > now);
                plain.cycle(now, buses, &timings);
                if !sleeps {
                    execution.begin(now);
                    for sub_core in 0..sub_cores {
                        for place in 0..PLACES {
                            prop_assert_eq!(execution.is_full(sub_core, place as u8), plain.latches.contains_key(&(sub_core, place)));
                            let free = !plain.latches.contains_key(&(sub_core, place));
                            if free && entering >> (sub_core * PLACES + place) & 1 == 1 {
                                execution.accept(sub_core, place as u8, &Inflight { warp: number, ..Inflight::EMPTY }, now);
                                plain.latches.insert((sub_core, place), number);
                                number = number.wrapping_add(1);
                            }
                        }
                    }
                }
            }
        }

        /// Each instruction is taken and its result arrives as in the reference unit, with any
        /// cycles skipped.
        #[test]
        fn behaves_as_a_latch_and_a_unit(
            (latency, interval) in (1u32..9, 1u32..7),
            steps in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 1..100),
        ) {
            let unit = 5;
            let place = PLACE[unit];
            let mut timings = [QUICK; UNITS];
            timings[unit] = UnitTiming { latency, interval };
            let mut execution = Execution::new(timings, 1, 0);
            let mut plain = Plain::default();
            for (now, (look, enter, quick)) in (0u64..).zip(steps) {
                let number = now as u8;
                if let Some(taken) = plain.latch.filter(|_| plain.free_at <= now) {
                    let timing = if taken & 1 == 1 { QUICK } else { timings[unit] };
                    plain.free_at = now + u64::from(timing.interval);
                    plain.results.push((now + u64::from(timing.latency) + RESULT_CYCLES, taken));
                    plain.latch = None;
                }
                // The test looks for a result in every cycle, as an SM does that sleeps until the
                // next one.
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
