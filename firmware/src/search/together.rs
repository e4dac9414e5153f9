//! Sharing every SM in place of dividing them: the other way that a search can try, measured in steps of the same two windows (Zhao et al. 2018,
//! section 7.5, on Park et al. 2017; sources.md D153).
//!
//! The score is the sum over kernels of their IPC over that on the even split. The even split has as many as there are kernels.

use super::{Next, Search, Step};
use crate::configs::TbVector;

/// Most vectors that are tried beside the first: assumption, all neighbours of three kernels twice.
pub const MOST_CLIMBS: u8 = 12;

/// Fraction bits of a kernel's part of a score.
const PART_BITS: u32 = 14;
/// A part below 2^4: 18 bits of instructions.
const MOST_INSTRUCTIONS: u32 = (1 << 18) - 1;

impl Search {
    /// Notes how good the shares are, as just measured, and tries a vector on all SMs.
    pub fn try_together(&mut self, vector: TbVector) -> Next {
        self.apart = self.score();
        self.best_together = 0;
        self.best = vector;
        self.together = Some(vector);
        self.step = Step::Together;
        Next::Measure
    }

    /// Tries another one. None if there were enough.
    pub fn try_neighbour(&mut self, vector: TbVector) -> Option<Next> {
        self.climbs = self.climbs.saturating_add(1);
        self.together = Some(vector);
        (self.climbs <= MOST_CLIMBS).then_some(Next::Measure)
    }

    /// Takes the vector just measured if it is the best so far; whether it is.
    pub fn keep_if_better(&mut self) -> bool {
        let score = self.score();
        let better = score > self.best_together;
        if let Some(vector) = self.together.filter(|_| better) {
            (self.best, self.best_together) = (vector, score);
        }
        better
    }

    /// The better of the best vector and the shares stays; at a tie the shares.
    pub fn settle_for_the_better(&mut self) -> Next {
        self.together = (self.best_together > self.apart).then_some(self.best);
        self.settle()
    }

    /// The best vector so far.
    #[must_use]
    pub fn best(&self) -> TbVector {
        self.best
    }

    /// The vector that all SMs have; none: they are divided.
    #[must_use]
    pub fn together(&self) -> Option<TbVector> {
        self.together
    }

    /// Scores of the shares and of the best vector, in parts of 2^14; 0 if not measured.
    #[must_use]
    pub fn scores(&self) -> [u32; 2] {
        [self.apart, self.best_together]
    }

    /// The sum over kernels of what they did in the window over what they did in that of the even split, which is as long.
    fn score(&self) -> u32 {
        let kernels = self.counts.iter().zip(&self.even).take(self.shares.kernels());
        kernels.fold(0, |sum: u32, (counts, even)| sum.saturating_add(part(counts.instructions, even.instructions())))
    }
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
