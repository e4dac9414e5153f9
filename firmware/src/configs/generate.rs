//! All maximal TB vectors of a set of kernels: the result of algorithm 1 of Nasef 2023, without its
//! tree.
//!
//! The thesis builds a tree with one leaf per feasible prefix and walks it back by parent pointers.
//! It then prunes the vectors that leave space for another TB. This module uses an odometer and a
//! staircase instead.
//!
//! The odometer steps through the counts of all kernels but the last two. The staircase covers
//! these two. Let the last kernel but one have `a` TBs. Then `b` is the most TBs of the last that
//! also fit, and `a'` the most of the last but one that fit with `b`. `(a', b)` is maximal in both,
//! every `a..a'` would leave space, and the next stair starts at `a' + 1`. Each pair therefore
//! costs a constant number of divisions and appears once. Only the odometer's kernels remain to be
//! checked for space. The order is lexicographic. Corrections: sources.md D16 to D20.

use super::{MAX_KERNELS, TbVector};
use crate::resources::Resources;

/// A kernel of the set, with its TB demand and cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Demand of one TB.
    pub demand: Resources,
    /// Most TBs per SM regardless of space, for example the remaining TBs; 255 for no cap.
    pub cap: u8,
}

/// A set of up to [`MAX_KERNELS`] kernels, in launch order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels {
    demands: [Resources; MAX_KERNELS],
    caps: [u8; MAX_KERNELS],
    count: u8,
    /// Least number of kernels with a TB in an admitted configuration.
    pub(super) least: u8,
}

impl Kernels {
    /// The empty set.
    pub(super) const NONE: Self = Self { demands: [Resources::NONE; MAX_KERNELS], caps: [0; MAX_KERNELS], count: 0, least: 0 };

    /// Replaces the set and returns false if nothing changed. Kernels beyond [`MAX_KERNELS`] are
    /// ignored.
    pub(super) fn replace(&mut self, least: u8, kernels: impl Iterator<Item = Candidate>) -> bool {
        let (mut count, mut same) = (0_u8, true);
        for ((demand, cap), kernel) in self.demands.iter_mut().zip(&mut self.caps).zip(kernels) {
            same &= *demand == kernel.demand && *cap == kernel.cap;
            (*demand, *cap) = (kernel.demand, kernel.cap);
            count = count.saturating_add(1);
        }
        // An empty set has no known configurations.
        same &= count != 0 && self.count == count && self.least == least;
        (self.count, self.least) = (count, least);
        !same
    }

    /// Empties the set.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Returns the demand and the cap of a kernel; none beyond the last.
    fn get(&self, index: usize) -> Option<(&Resources, u8)> {
        self.demands.get(index).zip(self.caps.get(index).copied())
    }

    /// Returns the first `count` kernels.
    fn first(&self, count: usize) -> impl Iterator<Item = (&Resources, u8)> {
        self.demands.iter().zip(self.caps).take(count)
    }
}

/// Returns the most TBs of a demand that fit into `rest`, at most `cap`.
fn most(rest: &Resources, demand: &Resources, cap: u8) -> u8 {
    u8::try_from(rest.max_tbs(demand)).unwrap_or(u8::MAX).min(cap)
}

/// Rules that select the maximal vectors to profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Requires at least one TB of every kernel (sources.md D19).
    pub require_all_present: bool,
}

impl Rules {
    /// Returns whether a vector over `kernels` kernels is admitted (Nasef 2023, section 3.2.1).
    ///
    /// A vector without TBs is never admitted. With two kernels or more, a vector with TBs of a
    /// single kernel is not either.
    #[must_use]
    pub fn admit(&self, vector: &TbVector, kernels: usize) -> bool {
        vector.present() >= self.least_present(kernels)
    }

    /// Returns the least number of kernels with a TB in a vector over `kernels` kernels.
    pub fn least_present(self, kernels: usize) -> usize {
        (if self.require_all_present { kernels } else { kernels.min(2) }).max(1)
    }
}

/// Position of a walk over the maximal vectors of a set of kernels.
///
/// It stores neither the kernels nor the SM. The caller passes the same ones in every step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Resources that the odometer's kernels leave.
    rest: Resources,
    /// Counts of the odometer.
    vector: TbVector,
    /// Start of the next stair; none when the prefix is exhausted.
    stair: Option<u8>,
    /// Whether every vector has been found.
    over: bool,
}

/// Result of one step of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A maximal vector.
    Found(TbVector),
    /// No vector, but more may follow.
    Nothing,
    /// The end of the walk.
    Over,
}

impl Place {
    /// A finished walk over no kernel.
    pub(super) const NONE: Self = Self { rest: Resources::NONE, vector: TbVector([0; MAX_KERNELS]), stair: None, over: false };

    /// Starts a walk at the first vector on an SM with `capacity`.
    pub(super) const fn first(capacity: Resources) -> Self {
        Self { rest: capacity, stair: Some(0), ..Self::NONE }
    }

    /// Takes one step: at most one pair of counts, or one turn of the odometer.
    #[inline(never)]
    pub(super) fn step(&mut self, capacity: &Resources, kernels: &Kernels) -> Step {
        if self.over {
            return Step::Over;
        }
        let outer = usize::from(kernels.count).wrapping_sub(2);
        let (Some(first), Some(last)) = (kernels.get(outer), kernels.get(outer.wrapping_add(1))) else {
            self.over = true;
            let one = kernels.get(0).filter(|_| kernels.count == 1);
            return one.map_or(Step::Over, |(demand, cap)| Step::Found(TbVector::single(0, most(capacity, demand, cap))));
        };
        match self.next_pair(first, last) {
            Some((a, b, left)) if self.prefix_is_maximal(kernels, outer, &left) => {
                let mut vector = self.vector;
                vector.set(outer, a);
                vector.set(outer.saturating_add(1), b);
                Step::Found(vector)
            }
            Some(_) => Step::Nothing,
            None => {
                self.over = !self.next_prefix(capacity, kernels, outer);
                Step::Nothing
            }
        }
    }

    /// Steps the odometer to the next feasible prefix.
    fn next_prefix(&mut self, capacity: &Resources, kernels: &Kernels, outer: usize) -> bool {
        for turn in (0..outer).rev() {
            // The rightmost count goes up by one. If that does not fit, it returns to 0 and its
            // left neighbor goes up.
            let cap = kernels.caps.get(turn).map_or(0, |cap| *cap);
            if let Some(raised) = self.vector.get(turn).checked_add(1).filter(|raised| *raised <= cap) {
                self.vector.set(turn, raised);
                if let Some(rest) = self.after_prefix(capacity, kernels, outer) {
                    self.rest = rest;
                    self.stair = Some(0);
                    return true;
                }
            }
            self.vector.set(turn, 0);
        }
        false
    }

    /// Returns the resources that the prefix leaves; none if it does not fit.
    fn after_prefix(&self, capacity: &Resources, kernels: &Kernels, outer: usize) -> Option<Resources> {
        let mut prefix = kernels.first(outer).zip(self.vector.0);
        prefix.try_fold(*capacity, |rest, ((demand, _), tbs)| rest.minus(demand, tbs.into()))
    }

    /// Returns the counts of the next maximal pair for the current prefix, and the resources that
    /// they leave.
    fn next_pair(&mut self, first: (&Resources, u8), last: (&Resources, u8)) -> Option<(u8, u8, Resources)> {
        let start = self.stair?;
        self.stair = None;
        let beside_first = self.rest.minus(first.0, start.into()).filter(|_| start <= first.1)?;
        let b = most(&beside_first, last.0, last.1);
        let beside_last = self.rest.minus(last.0, b.into())?;
        let a = most(&beside_last, first.0, first.1);
        self.stair = a.checked_add(1);
        Some((a, b, beside_last.minus(first.0, a.into())?))
    }

    /// Returns whether none of the odometer's kernels could take another TB.
    fn prefix_is_maximal(&self, kernels: &Kernels, outer: usize, left: &Resources) -> bool {
        let mut prefix = kernels.first(outer).zip(self.vector.0);
        prefix.all(|((demand, cap), tbs)| tbs >= cap || !left.fits(demand))
    }
}

/// Iterator over all maximal vectors of up to [`MAX_KERNELS`] kernels, in lexicographic order, each
/// once.
///
/// Kernels beyond that number are ignored.
#[derive(Clone, Debug)]
pub struct Generator {
    capacity: Resources,
    kernels: Kernels,
    place: Place,
}

impl Generator {
    /// Creates the iterator for `kernels` on an SM with `capacity`.
    #[must_use]
    pub fn new(capacity: Resources, kernels: &[Candidate]) -> Self {
        let mut known = Kernels::NONE;
        known.replace(0, kernels.iter().copied());
        Self { capacity, kernels: known, place: Place::first(capacity) }
    }
}

impl Iterator for Generator {
    type Item = TbVector;

    fn next(&mut self) -> Option<TbVector> {
        loop {
            match self.place.step(&self.capacity, &self.kernels) {
                Step::Found(vector) => return Some(vector),
                Step::Nothing => {}
                Step::Over => return None,
            }
        }
    }
}
