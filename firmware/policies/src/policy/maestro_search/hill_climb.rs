//! Sharing every SM in place of dividing them: the other way that a search can try, measured in steps of the same two windows (Zhao et al. 2018,
//! section 7.5, on Park et al. 2017; sources.md D153).
//!
//! The score is the sum over kernels of their IPC over that on the even split. The even split has as many as there are kernels.

use crate::search::Search;
use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::policy::Next;

/// Most vectors that are tried beside the first: assumption, all neighbours of three kernels twice.
pub const MOST_CLIMBS: u8 = 12;

/// Fraction bits of a kernel's part of a score.
const PART_BITS: u32 = 14;
/// A part below 2^4: 18 bits of instructions.
const MOST_INSTRUCTIONS: u32 = (1 << 18) - 1;

/// The best of what all SMs may have, and what it is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HillClimb {
    /// The best vector tried so far, its score, and that of the shares.
    best: TbVector,
    shared: u32,
    divided: u32,
    /// Neighbours tried, and which one is next.
    climbs: u8,
    pub(super) neighbour: u8,
}

impl HillClimb {
    /// Nothing tried.
    pub const NONE: Self = Self { best: TbVector([0; MAX_KERNELS]), shared: 0, divided: 0, climbs: 0, neighbour: 0 };

    /// Notes how good the shares are, as just measured, and tries a vector on all SMs.
    pub(super) fn begin(&mut self, search: &mut Search, vector: TbVector) -> Next {
        (self.best, self.divided) = (vector, score(search));
        search.on_all = Some(vector);
        Next::Measure
    }

    /// Tries another one, or settles if there were enough.
    pub(super) fn try_neighbour(&mut self, search: &mut Search, vector: TbVector) -> Next {
        self.climbs = self.climbs.saturating_add(1);
        if self.climbs > MOST_CLIMBS {
            return self.settle(search);
        }
        search.on_all = Some(vector);
        Next::Measure
    }

    /// Takes the vector just measured if it is the best so far, and begins with its neighbours.
    pub(super) fn keep_if_better(&mut self, search: &Search) {
        let score = score(search);
        if let Some(vector) = search.on_all.filter(|_| score > self.shared) {
            (self.best, self.shared, self.neighbour) = (vector, score, 0);
        }
    }

    /// The better of the best vector and the shares stays; at a tie the shares.
    pub(super) fn settle(&self, search: &mut Search) -> Next {
        search.on_all = (self.shared > self.divided).then_some(self.best);
        search.settle()
    }

    /// The best vector so far.
    #[must_use]
    pub fn best(&self) -> TbVector {
        self.best
    }

    /// Scores of the shares and of the best vector, in parts of 2^14; 0 if not measured.
    #[must_use]
    pub fn scores(&self) -> [u32; 2] {
        [self.divided, self.shared]
    }
}

/// The sum over kernels of what they did in the window over what they did in that of the even split, which is as long.
fn score(search: &Search) -> u32 {
    let kernels = search.counts.iter().zip(&search.even).take(search.shares.kernels());
    kernels.fold(0, |sum: u32, (counts, even)| sum.saturating_add(part(counts.instructions, even.instructions())))
}

/// A number of instructions over another, at most 16: both are cut to as many bits as 32 have room for.
fn part(instructions: u32, even: u32) -> u32 {
    let shift = (u32::BITS - even.leading_zeros()).saturating_sub(PART_BITS);
    let part = (instructions >> shift).min(MOST_INSTRUCTIONS) << PART_BITS;
    part.checked_div(even >> shift).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Right to a part in four thousand, where it is below 16.
        #[test]
        fn a_part_is_a_quotient(even in 1..u32::MAX, instructions: u32) {
            let exact = (u64::from(instructions) << PART_BITS) / u64::from(even);
            prop_assume!(exact < 15 << PART_BITS);
            let found = u64::from(part(instructions, even));
            prop_assert!(found.abs_diff(exact) <= 4 + (exact >> 12), "{} is not {}", found, exact);
        }
    }

    #[test]
    fn what_did_nothing_makes_no_part() {
        assert_eq!((part(u32::MAX, 0), part(0, 7)), (0, 0));
    }
}
