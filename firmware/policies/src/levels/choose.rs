//! Choice of the next launch (sources.md D201).
//!
//! The criteria, in this order:
//!
//! 1. The launch was passed over the maximum number of times. The oldest of such launches is next.
//! 2. The highest priority.
//! 3. The most even demand for issue slots and DRAM among the kernels that then run together.
//! 4. The least demand for the SM resource that they then use most.
//! 5. The oldest launch.
//!
//! **No launch starves.** A launch is passed over when a launch that entered the window later is
//! admitted earlier. A launch that was passed over K times is next. Older launches were passed over
//! at least as often. The oldest launch at the limit is therefore the oldest of all, and passes
//! over no other. So a launch is passed over at most K times. A launch with `a` launches before it
//! in the queue is among the next a + K + 1, if kernels end.

use super::{Mix, Traits};

/// A launch in the window of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Entry of the launch in the window.
    pub entry: u8,
    /// Number of earlier launches, modulo 2^32.
    pub number: u32,
    /// Number of times that the launch was passed over.
    pub passed: u32,
    /// Priority, larger is more urgent.
    pub priority: u32,
    /// Known demand of the launch.
    pub traits: Traits,
}

impl Candidate {
    /// Returns whether the launch is older. The window is short, so wrapped numbers compare
    /// correctly.
    fn is_older(&self, other: &Self) -> bool {
        other.number.wrapping_sub(self.number) as i32 > 0
    }
}

/// Returns the next launch to run with `running`; none without a candidate.
///
/// No launch is passed over more than `patience` times.
#[must_use]
pub fn choose(candidates: &[Candidate], running: &Mix, patience: u32) -> Option<Candidate> {
    let mut best: Option<(&Candidate, [u32; 2])> = None;
    for candidate in candidates {
        let together = running.with(&candidate.traits);
        let company = [together.imbalance(), together.crowding()];
        if best.is_none_or(|(other, of_other)| comes_before((candidate, company), (other, of_other), patience)) {
            best = Some((candidate, company));
        }
    }
    best.map(|(candidate, _)| *candidate)
}

/// Returns whether the first launch precedes the second. It is a total order if all numbers differ.
fn comes_before((one, company): (&Candidate, [u32; 2]), (other, of_other): (&Candidate, [u32; 2]), patience: u32) -> bool {
    let is_due = |candidate: &Candidate| candidate.passed >= patience;
    match (is_due(one), is_due(other)) {
        (true, true) => return one.is_older(other),
        (is, other) if is != other => return is,
        _ => {}
    }
    if one.priority != other.priority {
        return one.priority > other.priority;
    }
    let ([imbalance, crowding], [of_other, others_crowding]) = (company, of_other);
    if imbalance != of_other {
        return imbalance < of_other;
    }
    if crowding != others_crowding {
        return crowding < others_crowding;
    }
    one.is_older(other)
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, LaunchCounts};
    use super::*;
    use mias_firmware::gpu::GpuProperties;
    use mias_firmware::quantity::SectorRate;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::vec::Vec;

    fn traits(dram: u32, share: u16) -> Traits {
        let gpu = GpuProperties { sm_count: 1, schedulers: 1, dram_sectors: SectorRate::from_bits(1 << 16), ..GpuProperties::NONE };
        let kind = Kind::of(LaunchCounts { warp_insts: 16 - dram, dram_sectors: dram }, &gpu).unwrap();
        Traits { kind, shares: [share, 0, 0, 0] }
    }

    fn candidate(number: u32, dram: u32) -> Candidate {
        Candidate { entry: number as u8, number, passed: 0, priority: 0, traits: traits(dram, 0) }
    }

    fn next(candidates: &[Candidate], running: &[u32]) -> u32 {
        let crowd = running.iter().fold(Mix::default(), |crowd, &dram| crowd.with(&traits(dram, 0)));
        choose(candidates, &crowd, 4).unwrap().number
    }

    /// By hand: the running kernel needs DRAM, so the compute-bound launch is next. With two
    /// compute-bound kernels, the launch that needs most DRAM is next.
    #[test]
    fn the_most_complementary_is_next() {
        let [computes, half, waits] = [candidate(2, 1), candidate(1, 8), candidate(3, 14)];
        let all = [computes, half, waits];
        assert_eq!(next(&all, &[15]), 2);
        assert_eq!(next(&all, &[1]), 3);
        assert_eq!(next(&all, &[1, 1]), 3);
        assert_eq!(next(&all, &[1, 15]), 1, "what is even stays even with what is halfway");
        assert_eq!(next(&all, &[]), 1, "nobody to go with: the oldest");
        assert_eq!(choose(&[], &Mix::default(), 4), None);
    }

    #[test]
    fn priority_comes_before_company_and_patience_before_priority() {
        let urgent = Candidate { priority: 1, ..candidate(9, 15) };
        assert_eq!(next(&[candidate(1, 1), urgent], &[15]), 9);
        let due = |number| Candidate { passed: 4, ..candidate(number, 15) };
        assert_eq!(next(&[due(7), urgent, due(3)], &[15]), 3);
    }

    /// Two unknown kernels: the running kernel needs threads, so the launch that needs registers
    /// fits it better.
    #[test]
    fn of_equal_kinds_the_one_that_takes_least_of_what_is_scarce() {
        let of = |number, shares| Candidate { traits: Traits { kind: Kind::UNKNOWN, shares }, ..candidate(number, 8) };
        let running = Mix::default().with(&Traits { kind: Kind::UNKNOWN, shares: [256, 64, 0, 32] });
        let all = [of(1, [256, 128, 0, 16]), of(2, [64, 256, 0, 16]), of(3, [256, 256, 0, 16])];
        assert_eq!(choose(&all, &running, 4).map(|next| next.number), Some(2));
    }

    #[test]
    fn numbers_may_wrap() {
        assert_eq!(next(&[candidate(1, 8), candidate(u32::MAX, 8)], &[]), u32::MAX);
    }

    /// The queue as in hardware: a window of the first launches, in the order of arrival, with
    /// counts of how often each was passed over.
    struct Window {
        waiting: VecDeque<Candidate>,
        shown: Vec<Candidate>,
        admitted: Vec<Candidate>,
    }

    impl Window {
        fn admit(&mut self, running: &Mix, patience: u32, size: usize) -> bool {
            while self.shown.len() < size {
                let Some(one) = self.waiting.pop_front() else { break };
                self.shown.push(one);
            }
            let Some(next) = choose(&self.shown, running, patience) else { return false };
            self.shown.retain(|one| one.number != next.number);
            for one in self.shown.iter_mut().filter(|one| one.number < next.number) {
                one.passed += 1;
            }
            self.admitted.push(next);
            true
        }
    }

    proptest! {
        /// For any arrivals and running kernels: no launch is passed over more than K times, a
        /// launch with `a` launches before it is among the next a + K + 1, and all are admitted
        /// once.
        #[test]
        fn nobody_starves(
            launches in proptest::collection::vec((0..=16_u32, 0..=256_u16, 0..3_u32), 1..60),
            running in proptest::collection::vec(0..=16_u32, 0..4),
            patience in 0..10_u32,
            size in 1..=16_usize,
        ) {
            let of = |(at, &(dram, share, priority)): (usize, &(u32, u16, u32))| {
                Candidate { priority, traits: traits(dram, share), ..candidate(at as u32, dram) }
            };
            let waiting: VecDeque<Candidate> = launches.iter().enumerate().map(of).collect();
            let mut window = Window { waiting, shown: Vec::new(), admitted: Vec::new() };
            let crowd = running.iter().fold(Mix::default(), |crowd, &dram| crowd.with(&traits(dram, 100)));
            while window.admit(&crowd, patience, size) {}
            prop_assert_eq!(window.admitted.len(), launches.len());
            for (place, one) in window.admitted.iter().enumerate() {
                prop_assert!(one.passed <= patience, "{} passed over {} times", one.number, one.passed);
                prop_assert!(place as u32 <= one.number + patience);
                let over = window.admitted[..place].iter().filter(|other| other.number > one.number).count();
                prop_assert!(over as u32 <= patience);
            }
            if patience == 0 || size == 1 {
                prop_assert!(window.admitted.windows(2).all(|pair| pair[0].number < pair[1].number));
            }
        }

        /// Ten identical launches run in the order of arrival.
        #[test]
        fn identical_ones_keep_their_order(count in 1..16_u32, dram in 0..=16_u32, running in proptest::collection::vec(0..=16_u32, 0..4)) {
            let all: Vec<Candidate> = (0..count).rev().map(|number| candidate(number, dram)).collect();
            prop_assert_eq!(next(&all, &running), 0);
        }
    }
}
