//! Which launch is next (sources.md D201).
//!
//! In this order: one that was passed over as often as any may be, the oldest of such; the highest priority; who makes those that run together ask most evenly for
//! issue slots and DRAM; who with them takes least of the resource of an SM that they take most of; the oldest.
//!
//! **No launch starves.** A launch is passed over when one that came into the window later is admitted before it. Whoever was passed over K times is next, and those that
//! are older were passed over at least as often, so that the oldest of such is the oldest of all and passes over nobody. So a launch is passed over at most K times, and one
//! that has a launches before it in the queue is among the next a + K + 1, if kernels end.

use super::{Mix, Traits};

/// A launch in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its entry.
    pub entry: u8,
    /// How many came before it, modulo 2^32.
    pub number: u32,
    /// How often it was passed over.
    pub passed: u32,
    /// Larger is more urgent.
    pub priority: u32,
    /// What is known of it.
    pub traits: Traits,
}

impl Candidate {
    /// Whether it came before another; the window is short, whatever the numbers.
    fn is_older(&self, other: &Self) -> bool {
        other.number.wrapping_sub(self.number) as i32 > 0
    }
}

/// The next launch to run beside `running`, none of no candidate. Nobody is passed over more often than `patience` times.
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

/// Whether the one comes before the other. A total order where no two have the same number.
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

    /// By hand: what runs asks for DRAM, so the one that computes is next; beside two of a kind that computes, the one that asks for most DRAM.
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

    /// Two of which nothing is known: registers, of which the running kernel takes none, go better with its threads.
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

    /// The queue as hardware has it: a window of the first, in the order in which they came, and who is passed over counts it.
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
        /// Whatever comes and runs: nobody is passed over more than K times, who has a before it is among the next a + K + 1, and all are admitted once.
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

        /// Ten that are the same run in the order in which they came.
        #[test]
        fn identical_ones_keep_their_order(count in 1..16_u32, dram in 0..=16_u32, running in proptest::collection::vec(0..=16_u32, 0..4)) {
            let all: Vec<Candidate> = (0..count).rev().map(|number| candidate(number, dram)).collect();
            prop_assert_eq!(next(&all, &running), 0);
        }
    }
}
