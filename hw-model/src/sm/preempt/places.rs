//! Allocation of an SM's registers and shared memory to TBs in contiguous ranges, since a TB
//! receives its range whole (Shieh 2016, sections 2.1 and 3.2).
//!
//! A TB takes the lowest ranges that are long enough. A kernel for which others were preempted
//! takes *positions*. Its n-th position begins at n times the demand of one of its TBs, in
//! registers and in shared memory alike. So capacity that becomes free in any order is never
//! fragmented for that kernel.

use super::super::Resources;
use mias_registers::preempt::{MAX_PLACES, MAX_POSITIONS};

/// Contiguous range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u32,
}

impl Span {
    fn end(self) -> u32 {
        self.start + self.length
    }

    fn meets(self, other: Span) -> bool {
        self.start < other.end() && other.start < self.end()
    }
}

/// Ranges of a TB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    registers: Span,
    shared: Span,
}

impl Ranges {
    /// First register of the range.
    pub(super) fn first_register(self) -> u32 {
        self.registers.start
    }

    /// First byte of shared memory of the range.
    pub(super) fn first_shared(self) -> u32 {
        self.shared.start
    }

    fn meets(self, other: Ranges) -> bool {
        self.registers.meets(other.registers) || self.shared.meets(other.shared)
    }
}

/// Allocated ranges of an SM.
#[derive(Clone, Debug)]
pub(super) struct Places {
    registers: u32,
    shared: u32,
    /// Ranges by position.
    taken: [Option<Ranges>; MAX_PLACES],
}

impl Places {
    /// Creates the ranges of an SM with resources `all`.
    pub(super) fn new(all: &Resources) -> Self {
        Places { registers: all.registers, shared: all.shared_bytes, taken: [None; MAX_PLACES] }
    }

    /// Ranges of the TB in a position.
    pub(super) fn of(&self, place: usize) -> Option<Ranges> {
        self.taken.get(place).copied().flatten()
    }

    /// Lowest position without a TB.
    pub(super) fn free_place(&self) -> Option<usize> {
        self.taken.iter().position(Option::is_none)
    }

    pub(super) fn take(&mut self, place: usize, ranges: Ranges) {
        self.taken[place] = Some(ranges);
    }

    pub(super) fn give_back(&mut self, place: usize) {
        self.taken[place] = None;
    }

    /// Ranges of the `position`-th position of a kernel whose TBs take `demand`; none if it does
    /// not exist.
    pub(super) fn position(&self, position: usize, demand: &Resources) -> Option<Ranges> {
        let span = |each: u32, all: u32| {
            let start = each.checked_mul(position as u32)?;
            (start.checked_add(each)? <= all).then_some(Span { start, length: each })
        };
        let ranges = Ranges { registers: span(demand.registers, self.registers)?, shared: span(demand.shared_bytes, self.shared)? };
        (position < MAX_POSITIONS).then_some(ranges)
    }

    /// Validation: ranges are within the SM and do not overlap.
    ///
    /// # Panics
    /// If a check fails.
    pub(super) fn check(&self) {
        for (place, ranges) in self.taken.iter().enumerate().filter_map(|(place, ranges)| Some((place, (*ranges)?))) {
            assert!(ranges.registers.end() <= self.registers && ranges.shared.end() <= self.shared, "place {place} is within the SM");
            let others = self.taken.iter().enumerate().filter(|(other, _)| *other != place).filter_map(|(_, ranges)| *ranges);
            others.for_each(|other| assert!(!other.meets(ranges), "place {place} is its TB's alone"));
        }
    }

    /// True if these ranges are free.
    pub(super) fn is_free(&self, ranges: Ranges) -> bool {
        self.taken.iter().flatten().all(|taken| !taken.meets(ranges))
    }

    /// Lowest free ranges for a TB of `demand` that do not overlap `blocked`.
    pub(super) fn find(&self, demand: &Resources, blocked: &[Ranges]) -> Option<Ranges> {
        let all = || self.taken.iter().flatten().chain(blocked);
        let registers = lowest(demand.registers, self.registers, || all().map(|ranges| ranges.registers))?;
        let shared = lowest(demand.shared_bytes, self.shared, || all().map(|ranges| ranges.shared))?;
        Some(Ranges { registers, shared })
    }
}

/// Lowest range of `length` below `end` that does not overlap `taken`.
fn lowest<I: Iterator<Item = Span>>(length: u32, end: u32, taken: impl Fn() -> I) -> Option<Span> {
    let starts = std::iter::once(0).chain(taken().map(Span::end));
    let fits = |start: &u32| {
        let span = Span { start: *start, length };
        start.checked_add(length).is_some_and(|last| last <= end) && taken().all(|other| !other.meets(span))
    };
    starts.filter(fits).min().map(|start| Span { start, length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn demand(registers: u32, shared_bytes: u32) -> Resources {
        Resources { threads: 32, registers, shared_bytes, tbs: 1 }
    }

    /// Shieh 2016, figure 3.2: four TBs on an SM, and a kernel whose TB takes as much as two of
    /// them. TBs 1 and 2 leave, then 0 and 3.
    #[test]
    fn figure_3_2() {
        let running = demand(1000, 0);
        let preempting = demand(2000, 0);
        let start = || {
            let mut places = Places::new(&demand(4000, 1 << 10));
            for place in 0..4 {
                let ranges = places.find(&running, &[]).expect("there is room");
                assert_eq!(ranges.first_register(), 1000 * place as u32);
                places.take(place, ranges);
            }
            places
        };
        // Naive allocation takes any free range. One TB fits.
        let mut naive = start();
        naive.give_back(1);
        naive.give_back(2);
        let found = naive.find(&preempting, &[]).expect("the middle is free");
        assert_eq!(found.first_register(), 1000);
        naive.take(1, found);
        naive.give_back(0);
        naive.give_back(3);
        assert_eq!(naive.find(&preempting, &[]), None);
        // Aligned: two fit.
        let mut aligned = start();
        let positions = [0, 1].map(|position| aligned.position(position, &preempting).expect("it has two"));
        assert_eq!(aligned.position(2, &preempting), None);
        aligned.give_back(1);
        aligned.give_back(2);
        assert!(positions.iter().all(|ranges| !aligned.is_free(*ranges)));
        aligned.give_back(0);
        assert!(aligned.is_free(positions[0]) && !aligned.is_free(positions[1]));
        aligned.take(0, positions[0]);
        aligned.give_back(3);
        assert!(aligned.is_free(positions[1]));
    }

    proptest! {
        /// For any order in which TBs of one kernel leave, as many of another finally fit as an
        /// empty SM holds, if they take its positions. First-fit allocation never holds more
        /// (docs/porting/guarantees.md, invariant 36).
        #[test]
        fn the_order_does_not_matter(
            first in (1u32..60, 0u32..60),
            second in (1u32..60, 0u32..60),
            order in Just((0..MAX_PLACES).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let (running, preempting) = (demand(first.0, first.1), demand(second.0, second.1));
            let all = Resources { threads: 32 * 32, registers: 256, shared_bytes: 256, tbs: 32 };
            let most = |demand: &Resources| all.count(demand).min(MAX_PLACES as u32);
            let mut results = Vec::new();
            for aligned in [false, true] {
                let mut places = Places::new(&all);
                for place in 0..most(&running) as usize {
                    let ranges = places.find(&running, &[]).expect("an empty SM holds as many");
                    places.take(place, ranges);
                }
                let mut here = 0;
                for &leaves in &order {
                    places.give_back(leaves);
                    loop {
                        let positions = (0..MAX_POSITIONS).filter_map(|position| places.position(position, &preempting));
                        let found = if aligned { positions.into_iter().find(|r| places.is_free(*r)) } else { places.find(&preempting, &[]) };
                        // Positions of the other kind are numbered separately here.
                        let Some(ranges) = found.filter(|_| here < most(&preempting)) else { break };
                        let Some(place) = (0..MAX_PLACES).find(|place| places.of(*place).is_none() && !order[order.iter().position(|o| *o == leaves).unwrap_or(0) + 1..].contains(place)) else { break };
                        places.take(place, ranges);
                        here += 1;
                    }
                }
                results.push(here);
            }
            prop_assert_eq!(results[1], most(&preempting));
            prop_assert!(results[0] <= results[1]);
        }
    }
}
