//! Which of a memory instruction's sectors are asked for at once: one; or, where caches have no sectors, those of a line.
//!
//! Of a line, half or a quarter is asked for if the others are not needed, as GPGPU-Sim's coalescer does for compute capability 2.0
//! (sources.md D121). What goes past the L1 is asked for by sectors in any case. Sectors are taken from the highest address down, as the peer does.

use mias_warp_trace::KernelTrace;

/// What is asked for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first sector: byte address / 32.
    pub(super) sector: u64,
    /// Bytes of the sector; all ones where caches have no sectors.
    pub(super) byte_mask: u32,
    /// Sectors after the first.
    pub(super) more_sectors: u8,
    /// Sectors of the pattern that it takes.
    pub(super) taken: u32,
}

/// The highest of the `left` lowest sectors of a pattern that begins at `pattern`, and `base` sectors above address 0; with the others of its
/// line, if lines of `2^fetch_bits` sectors are fetched.
#[inline]
pub(super) fn highest(trace: &KernelTrace, pattern: u32, left: u32, base: u64, fetch_bits: u32) -> Piece {
    let last = trace.sector(pattern + left - 1);
    let sector = base + u64::from(last.delta);
    if fetch_bits == 0 {
        return Piece { sector, byte_mask: last.byte_mask, more_sectors: 0, taken: 1 };
    }
    let line = sector >> fetch_bits;
    let below = (0..left).rev().map(|at| base + u64::from(trace.sector(pattern + at).delta));
    let mut taken = 0;
    let mut used = 0u32;
    for sector in below.take_while(|sector| sector >> fetch_bits == line) {
        taken += 1;
        used |= 1 << (sector - (line << fetch_bits));
    }
    let (first, sectors) = needed(used, 1 << fetch_bits);
    Piece { sector: (line << fetch_bits) + u64::from(first), byte_mask: u32::MAX, more_sectors: (sectors - 1) as u8, taken }
}

/// The part of a line of `sectors` of which some are `used` that has to be asked for: halves of which nothing is used are left out, once and
/// once more. Its first sector, and how many.
fn needed(used: u32, mut sectors: u32) -> (u32, u32) {
    let mut first = 0;
    while sectors > 1 {
        let half = (1 << (sectors / 2)) - 1;
        let (lower, upper) = (used >> first & half, used >> (first + sectors / 2) & half);
        if lower != 0 && upper != 0 {
            break;
        }
        sectors /= 2;
        first += if lower == 0 { sectors } else { 0 };
    }
    (first, sectors)
}

/// How many pieces the `sectors` sectors of a pattern make.
#[inline]
pub(super) fn count(trace: &KernelTrace, pattern: u32, sectors: u32, base: u64, fetch_bits: u32) -> u32 {
    if fetch_bits == 0 {
        return sectors;
    }
    let (mut left, mut pieces) = (sectors, 0);
    while left > 0 {
        left -= highest(trace, pattern, left, base, fetch_bits).taken;
        pieces += 1;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The smallest aligned power of two that holds all that is used.
        #[test]
        fn no_smaller_part_would_do(used in 1u32..16) {
            let parts = [(0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (2, 2), (0, 4)];
            let holds = |&(first, sectors): &(u32, u32)| used & !(((1 << sectors) - 1) << first) == 0;
            prop_assert_eq!(Some(needed(used, 4)), parts.into_iter().find(holds));
        }
    }
}
