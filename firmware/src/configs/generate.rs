//! All maximal TB vectors of a kernel set: what algorithm 1 of Nasef 2023 returns, without its tree.
//!
//! The thesis builds a tree with one leaf per feasible prefix, walks it back by parent pointers and prunes the vectors that
//! leave room for another TB. Here an odometer steps through the counts of all kernels but the last two, and for these two
//! a staircase is walked: with `a` TBs of the last but one, `b` is the most of the last that fits beside them, and `a'` the
//! most of the last but one beside `b`. `(a', b)` is maximal in both, every `a..a'` would leave room, and the next stair
//! starts at `a' + 1`. So each pair costs a constant number of divisions and appears once; only the odometer's kernels
//! remain to be checked for room. The order is lexicographic. Corrections: sources.md D16 to D20.

use super::{MAX_KERNELS, TbVector};
use crate::resources::Resources;

/// One kernel of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Demand of one of its TBs.
    pub demand: Resources,
    /// Most TBs of it per SM, whatever fits (e.g. TBs that it has left); 255 for no cap.
    pub cap: u8,
}

impl Candidate {
    /// Most TBs that fit into `rest`.
    fn most(&self, rest: &Resources) -> u8 {
        u8::try_from(rest.max_tbs(&self.demand)).unwrap_or(u8::MAX).min(self.cap)
    }
}

/// Which maximal vectors are candidates for profiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Every kernel has at least one TB (sources.md D19).
    pub require_all_present: bool,
}

impl Rules {
    /// Whether a vector over `kernels` kernels is admitted: never one without TBs, and with two kernels or more never one
    /// with TBs of a single kernel (Nasef 2023, section 3.2.1).
    #[must_use]
    pub fn admit(&self, vector: &TbVector, kernels: usize) -> bool {
        vector.present() >= self.least_present(kernels)
    }

    /// How many of so many kernels a vector has at least one TB of.
    pub(crate) fn least_present(self, kernels: usize) -> usize {
        (if self.require_all_present { kernels } else { kernels.min(2) }).max(1)
    }
}

/// Iterator over all maximal vectors of up to [`MAX_KERNELS`] kernels, in lexicographic order, each once. Kernels beyond that
/// number are ignored.
#[derive(Clone, Debug)]
pub struct Generator<'a> {
    outer: &'a [Candidate],
    inner: Inner<'a>,
    capacity: Resources,
    /// What the odometer's kernels leave.
    rest: Resources,
    vector: TbVector,
    /// Where the next stair starts; none when the prefix is exhausted.
    stair: Option<u8>,
}

/// The innermost kernels.
#[derive(Clone, Copy, Debug)]
enum Inner<'a> {
    None,
    One(&'a Candidate),
    Two(&'a Candidate, &'a Candidate),
}

impl<'a> Generator<'a> {
    /// The maximal vectors of `kernels` on an SM with `capacity`.
    #[must_use]
    pub fn new(capacity: Resources, kernels: &'a [Candidate]) -> Self {
        let kernels = kernels.get(..MAX_KERNELS).unwrap_or(kernels);
        let (outer, inner) = match kernels {
            [] => (kernels, Inner::None),
            [one] => (&[][..], Inner::One(one)),
            [outer @ .., first, last] => (outer, Inner::Two(first, last)),
        };
        Self { outer, inner, capacity, rest: capacity, vector: TbVector::default(), stair: Some(0) }
    }

    /// Steps the odometer to the next feasible prefix.
    fn next_prefix(&mut self) -> bool {
        for turn in (0..self.outer.len()).rev() {
            // The rightmost count goes up by one; if that does not fit, it goes back to 0 and its left neighbour goes up.
            let cap = self.outer.get(turn).map_or(0, |kernel| kernel.cap);
            if let Some(raised) = self.vector.get(turn).checked_add(1).filter(|raised| *raised <= cap) {
                self.vector.set(turn, raised);
                if let Some(rest) = self.after_prefix() {
                    self.rest = rest;
                    self.stair = Some(0);
                    return true;
                }
            }
            self.vector.set(turn, 0);
        }
        false
    }

    /// What the prefix leaves, none if it does not fit.
    fn after_prefix(&self) -> Option<Resources> {
        self.outer.iter().zip(self.vector.0).try_fold(self.capacity, |rest, (kernel, tbs)| rest.minus(&kernel.demand, tbs.into()))
    }

    /// The next maximal pair beside the current prefix: its counts, and what they leave.
    fn next_pair(&mut self, first: &Candidate, last: &Candidate) -> Option<(u8, u8, Resources)> {
        let start = self.stair?;
        self.stair = None;
        let beside_first = self.rest.minus(&first.demand, start.into()).filter(|_| start <= first.cap)?;
        let b = last.most(&beside_first);
        let beside_last = self.rest.minus(&last.demand, b.into())?;
        let a = first.most(&beside_last);
        self.stair = a.checked_add(1);
        Some((a, b, beside_last.minus(&first.demand, a.into())?))
    }

    /// Whether none of the odometer's kernels could take another TB.
    fn prefix_is_maximal(&self, left: &Resources) -> bool {
        let mut prefix = self.outer.iter().zip(self.vector.0);
        prefix.all(|(kernel, tbs)| tbs >= kernel.cap || !left.fits(&kernel.demand))
    }
}

impl Iterator for Generator<'_> {
    type Item = TbVector;

    #[inline(never)]
    fn next(&mut self) -> Option<TbVector> {
        match self.inner {
            Inner::None => None,
            Inner::One(kernel) => {
                self.stair.take()?;
                Some(TbVector::single(0, kernel.most(&self.capacity)))
            }
            Inner::Two(first, last) => loop {
                match self.next_pair(first, last) {
                    Some((a, b, left)) if self.prefix_is_maximal(&left) => {
                        let mut vector = self.vector;
                        vector.set(self.outer.len(), a);
                        vector.set(self.outer.len().saturating_add(1), b);
                        return Some(vector);
                    }
                    Some(_) => {}
                    None if self.next_prefix() => {}
                    None => return None,
                }
            },
        }
    }
}
