//! The configurations that may be tried, found once and kept: a first round samples them, a second round looks up those that it wants.
//!
//! What is kept is a prefix of the generator's stream, and the place where the stream goes on. With room for the whole stream nothing is
//! generated twice; beyond the room the rest is generated again whenever it is asked for. So what comes out never depends on what is kept,
//! nor on when it was found: [`Pool::step`] may be called at any time, any number of times.

use super::generate::{Kernels, Place, Step};
use super::{Candidate, TbVector};
use crate::resources::Resources;

/// The admitted configurations of a set of kernels on one machine. Room for one and a half times `C` of them: those that two rounds try,
/// and some to choose the second round from.
#[derive(Clone, Debug)]
pub struct Pool<const C: usize> {
    kernels: Kernels,
    /// Behind what is kept.
    tail: Tail,
    /// Vectors of four bytes, one after the other.
    kept: [[u8; 6]; C],
}

/// A walk over what is not kept: where it stands, and the position of the configuration that it finds next.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    place: Place,
    next: u32,
}

impl<const C: usize> Pool<C> {
    /// Configurations that there is room for.
    const ROOM: u32 = (C * 6 / size_of::<TbVector>()) as u32;

    /// Of no kernel.
    pub const EMPTY: Self = Self { kernels: Kernels::NONE, tail: Tail { place: Place::NONE, next: 0 }, kept: [[0; 6]; C] };

    /// Makes it the pool of no kernel: to be called when the machine changes.
    pub fn forget(&mut self) {
        self.kernels.clear();
    }

    /// Makes it the pool of these kernels, at most [`super::MAX_KERNELS`], on an SM with `capacity`: of configurations with TBs of `least` of
    /// them or more. What was found before stays if it was about the same.
    #[inline(never)]
    pub fn set(&mut self, capacity: &Resources, least: usize, kernels: impl Iterator<Item = Candidate>) {
        if self.kernels.replace(least as u8, kernels) {
            self.tail = Tail { place: Place::first(*capacity), next: 0 };
        }
    }

    /// One step of the search on an SM with `capacity`, of bounded time; false if there is nothing left to find, or no room to keep it.
    pub fn step(&mut self, capacity: &Resources) -> bool {
        let Some(room) = self.kept.as_flattened_mut().as_chunks_mut().0.get_mut(self.tail.next as usize) else { return false };
        match self.tail.step(capacity, &self.kernels) {
            Step::Found(vector) => *room = vector.0,
            Step::Nothing => {}
            Step::Over => return false,
        }
        true
    }

    /// Finds all that there is room for, and says how many there are in all.
    #[inline(never)]
    pub fn fill(&mut self, capacity: &Resources) -> u32 {
        while self.step(capacity) {}
        let mut tail = self.tail;
        if tail.next >= Self::ROOM {
            self.beyond(u32::MAX, capacity, &mut tail);
        }
        tail.next
    }

    /// The walk over what is not kept, from its beginning.
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// The configuration at a position, once it is filled; none if there are not as many. Behind what is kept a walk goes on to it, and
    /// does not go back.
    #[inline(always)]
    pub fn at(&self, position: u32, capacity: &Resources, tail: &mut Tail) -> Option<TbVector> {
        if position < self.tail.next {
            return self.kept.as_flattened().as_chunks().0.get(position as usize).copied().map(TbVector);
        }
        self.beyond(position, capacity, tail)
    }

    #[inline(never)]
    fn beyond(&self, position: u32, capacity: &Resources, tail: &mut Tail) -> Option<TbVector> {
        loop {
            match tail.step(capacity, &self.kernels) {
                Step::Found(vector) if tail.next > position => return Some(vector),
                Step::Found(_) | Step::Nothing => {}
                Step::Over => return None,
            }
        }
    }
}

impl Tail {
    /// One step. What has TBs of too few kernels is nothing.
    #[inline(never)]
    fn step(&mut self, capacity: &Resources, kernels: &Kernels) -> Step {
        let step = self.place.step(capacity, kernels);
        if let Step::Found(vector) = step {
            if vector.present() < usize::from(kernels.least) {
                return Step::Nothing;
            }
            self.next = self.next.saturating_add(1);
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configs::Generator;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// What an SM has, kernels, and how many of them a configuration holds.
    type Space = (Resources, Vec<Candidate>, usize);

    fn space() -> impl Strategy<Value = Space> {
        let candidate = |(threads, registers, cap)| Candidate { demand: Resources { threads, registers, shared_bytes: 0, tbs: 1 }, cap };
        let kernels = proptest::collection::vec((0..6_u32, 0..6_u32, prop_oneof![Just(255_u8), 0..5_u8]).prop_map(candidate), 0..=4);
        (1..24_u32, 1..24_u32, 1..12_u32, kernels, 0..=4_usize)
            .prop_map(|(threads, registers, tbs, kernels, least)| (Resources { threads, registers, shared_bytes: 9, tbs }, kernels, least))
    }

    /// The admitted ones, generated at once.
    fn at_once((capacity, kernels, least): &Space) -> Vec<TbVector> {
        Generator::new(*capacity, kernels).filter(|vector| vector.present() >= *least).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// However the search is cut into parts, whatever was searched before: what comes out is what the generator yields at once, at
        /// every position, looked up from any position on; with room for 6 of them and with room for 96.
        #[test]
        fn what_is_kept_is_what_is_generated(
            spaces in proptest::collection::vec((space(), 0..40_usize), 1..4),
            from in 0..40_u32,
            every in 1..5_usize,
        ) {
            fn check<const C: usize>(
                spaces: &[(Space, usize)], from: u32, every: usize,
            ) -> Result<(), TestCaseError> {
                let mut pool = Pool::<C>::EMPTY;
                for (space, steps) in spaces {
                    let (capacity, kernels, least) = space;
                    // The machine is another one.
                    pool.forget();
                    for _ in 0..*steps {
                        pool.set(capacity, *least, kernels.iter().copied());
                        pool.step(capacity);
                    }
                    pool.set(capacity, *least, kernels.iter().copied());
                    let expected = at_once(space);
                    prop_assert_eq!(pool.fill(capacity) as usize, expected.len());
                    prop_assert!(pool.tail.next as usize == expected.len().min(3 * C / 2));
                    let mut tail = pool.tail();
                    for position in (from..from + 60).step_by(every) {
                        prop_assert_eq!(pool.at(position, capacity, &mut tail), expected.get(position as usize).copied());
                    }
                }
                Ok(())
            }
            check::<4>(&spaces, from, every)?;
            check::<64>(&spaces, from, every)?;
        }
    }

    /// Other kernels, another cap or another rule begin anew; the same ones go on.
    #[test]
    fn the_same_kernels_are_not_searched_again() {
        let capacity = Resources { threads: 8, registers: 0, shared_bytes: 0, tbs: 8 };
        let kernel = |threads, cap| Candidate { demand: Resources { threads, registers: 0, shared_bytes: 0, tbs: 1 }, cap };
        let mut pool = Pool::<16>::EMPTY;
        let mut found = |least, kernels: [Candidate; 2]| {
            pool.set(&capacity, least, kernels.into_iter());
            let before = pool.tail.next;
            pool.fill(&capacity);
            (before, pool.tail.next)
        };
        // 0 to 8 TBs of the first, the rest of the second.
        assert_eq!(found(1, [kernel(1, 255), kernel(1, 255)]), (0, 9));
        assert_eq!(found(1, [kernel(1, 255), kernel(1, 255)]), (9, 9));
        assert_eq!(found(2, [kernel(1, 255), kernel(1, 255)]), (0, 7));
        // 0 to 4 TBs of the first.
        assert_eq!(found(2, [kernel(1, 4), kernel(1, 255)]), (0, 4));
        // 1 or 2 or 3 TBs of two threads each, the rest of the second.
        assert_eq!(found(2, [kernel(2, 255), kernel(1, 255)]), (0, 3));
    }
}
