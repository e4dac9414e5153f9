//! Stored pool of the admitted configurations. A first round samples it, and a second round looks
//! up positions in it.
//!
//! The pool stores a prefix of the generator's stream and the position at which the stream
//! continues. If the whole stream fits, nothing is generated twice. The rest beyond the capacity is
//! generated again on every request. The result therefore depends neither on the stored part nor on
//! the time of the search. [`Pool::step`] may be called at any time, any number of times.

use super::generate::{Kernels, Place, Step};
use super::{Candidate, TbVector};
use crate::resources::Resources;

/// Admitted configurations of a set of kernels on one GPU, with a capacity of one and a half
/// times `C`.
///
/// The capacity covers the configurations that two rounds try, and candidates for the second round.
#[derive(Clone, Debug)]
pub struct Pool<const C: usize> {
    kernels: Kernels,
    /// Walk over the configurations after the stored ones.
    tail: Tail,
    /// Vectors of four bytes each, stored contiguously.
    kept: [[u8; 6]; C],
}

/// Walk over the configurations that are not stored: its state, and the position of the next
/// configuration.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    place: Place,
    next: u32,
}

impl<const C: usize> Pool<C> {
    /// Number of configurations that the pool can store.
    const ROOM: u32 = (C * 6 / size_of::<TbVector>()) as u32;

    /// A pool of no kernel.
    pub const EMPTY: Self = Self { kernels: Kernels::NONE, tail: Tail { place: Place::NONE, next: 0 }, kept: [[0; 6]; C] };

    /// Empties the pool. Call it when the GPU changes.
    pub fn forget(&mut self) {
        self.kernels.clear();
    }

    /// Sets the kernels of the pool, at most [`super::MAX_KERNELS`], on an SM with `capacity`.
    ///
    /// The pool then has configurations with TBs of `least` kernels or more. The earlier result
    /// stays if the kernels and `least` are the same.
    #[inline(never)]
    pub fn set(&mut self, capacity: &Resources, least: usize, kernels: impl Iterator<Item = Candidate>) {
        if self.kernels.replace(least as u8, kernels) {
            self.tail = Tail { place: Place::first(*capacity), next: 0 };
        }
    }

    /// Takes one step of the search on an SM with `capacity`, in bounded time.
    ///
    /// Returns false if nothing is left to find, or the pool is full.
    pub fn step(&mut self, capacity: &Resources) -> bool {
        let Some(room) = self.kept.as_flattened_mut().as_chunks_mut().0.get_mut(self.tail.next as usize) else { return false };
        match self.tail.step(capacity, &self.kernels) {
            Step::Found(vector) => *room = vector.0,
            Step::Nothing => {}
            Step::Over => return false,
        }
        true
    }

    /// Fills the pool to its capacity, and returns the number of all configurations.
    #[inline(never)]
    pub fn fill(&mut self, capacity: &Resources) -> u32 {
        while self.step(capacity) {}
        let mut tail = self.tail;
        if tail.next >= Self::ROOM {
            self.beyond(u32::MAX, capacity, &mut tail);
        }
        tail.next
    }

    /// Returns a walk over the configurations that are not stored, at its start.
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// Returns the configuration at a position of a filled pool; none beyond the last.
    ///
    /// Beyond the stored part, `tail` walks forward to the position and never back.
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
    /// Takes one step. A vector with TBs of too few kernels counts as nothing found.
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

    /// Capacity of an SM, kernels, and the least number of kernels in a configuration.
    type Space = (Resources, Vec<Candidate>, usize);

    fn space() -> impl Strategy<Value = Space> {
        let candidate = |(threads, registers, cap)| Candidate { demand: Resources { threads, registers, shared_bytes: 0, tbs: 1 }, cap };
        let kernels = proptest::collection::vec((0..6_u32, 0..6_u32, prop_oneof![Just(255_u8), 0..5_u8]).prop_map(candidate), 0..=4);
        (1..24_u32, 1..24_u32, 1..12_u32, kernels, 0..=4_usize)
            .prop_map(|(threads, registers, tbs, kernels, least)| (Resources { threads, registers, shared_bytes: 9, tbs }, kernels, least))
    }

    /// Returns the admitted configurations, generated at once.
    fn at_once((capacity, kernels, least): &Space) -> Vec<TbVector> {
        Generator::new(*capacity, kernels).filter(|vector| vector.present() >= *least).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The pool yields the generator's configurations at every position, for any division of
        /// the search into steps and any earlier search. The lookups start at any position, with a
        /// capacity of 6 and of 96.
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
                    // A different GPU.
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

    /// Other kernels, another cap or another rule restart the search. The same ones continue it.
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
