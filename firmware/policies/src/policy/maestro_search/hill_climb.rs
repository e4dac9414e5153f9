//! Hill climbing over configurations that share every SM, as the alternative to dividing the SMs
//! (Zhao et al. 2018, section 7.5, on Park et al. 2017; sources.md D153).
//!
//! It is measured in steps of the same two windows. The score is the sum over kernels of their IPC
//! over their IPC on the even split. The even split has a score equal to the number of kernels.

use crate::search::Search;
use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::policy::Next;

/// Most vectors tried after the first. Assumption: all neighbors of three kernels twice.
pub const MOST_CLIMBS: u8 = 12;

/// Fraction bits of a kernel's part of a score.
const PART_BITS: u32 = 14;
/// Most instructions in a part below 2^4: 18 bits.
const MOST_INSTRUCTIONS: u32 = (1 << 18) - 1;

/// Best shared configuration, and its reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HillClimb {
    /// Best vector so far, its score, and the score of the shares.
    best: TbVector,
    shared: u32,
    divided: u32,
    /// Number of neighbors tried, and the index of the next one.
    climbs: u8,
    pub(super) neighbor: u8,
}

impl HillClimb {
    /// A climb without any trial.
    pub const NONE: Self = Self { best: TbVector([0; MAX_KERNELS]), shared: 0, divided: 0, climbs: 0, neighbor: 0 };

    /// Records the score of the shares in the last window, and tries a vector on all SMs.
    pub(super) fn begin(&mut self, search: &mut Search, vector: TbVector) -> Next {
        (self.best, self.divided) = (vector, score(search));
        search.on_all = Some(vector);
        Next::Measure
    }

    /// Tries another vector, or settles after enough trials.
    pub(super) fn try_neighbor(&mut self, search: &mut Search, vector: TbVector) -> Next {
        self.climbs = self.climbs.saturating_add(1);
        if self.climbs > MOST_CLIMBS {
            return self.settle(search);
        }
        search.on_all = Some(vector);
        Next::Measure
    }

    /// Keeps the last vector if it is the best so far, and starts with its neighbors.
    pub(super) fn keep_if_better(&mut self, search: &Search) {
        let score = score(search);
        if let Some(vector) = search.on_all.filter(|_| score > self.shared) {
            (self.best, self.shared, self.neighbor) = (vector, score, 0);
        }
    }

    /// Settles on the better of the best vector and the shares; at a tie on the shares.
    pub(super) fn settle(&self, search: &mut Search) -> Next {
        search.on_all = (self.shared > self.divided).then_some(self.best);
        search.settle()
    }

    /// Returns the best vector so far.
    #[must_use]
    pub fn best(&self) -> TbVector {
        self.best
    }

    /// Returns the scores of the shares and of the best vector, in parts of 2^14; 0 if not
    /// measured.
    #[must_use]
    pub fn scores(&self) -> [u32; 2] {
        [self.divided, self.shared]
    }
}

/// Returns the sum over kernels of their instructions in the window over those in the even split's
/// window of equal length.
fn score(search: &Search) -> u32 {
    let kernels = search.counts.iter().zip(&search.even).take(search.shares.kernels());
    kernels.fold(0, |sum: u32, (counts, even)| sum.saturating_add(part(counts.instructions, even.instructions())))
}

/// Returns a ratio of instructions, at most 16. Both are shifted so that the division fits 32 bits.
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
        /// A part of a score is accurate to a part in four thousand, if it is below 16.
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
