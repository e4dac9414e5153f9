//! Sectors of a memory instruction that one request covers: one, or those of a line in caches
//! without sectors.
//!
//! Half or a quarter of a line is requested if the other sectors are not needed, as GPGPU-Sim's
//! coalescer does for compute capability 2.0 (sources.md D121). Requests past the L1 are always by
//! sector. Sectors are taken from the highest address down, as in Accel-Sim.

use mias_warp_trace::KernelTrace;

/// Sectors of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// First sector: byte address / 32.
    pub(super) sector: u64,
    /// Bytes of the sector; all ones in caches without sectors.
    pub(super) byte_mask: u32,
    /// Number of sectors after the first.
    pub(super) more_sectors: u8,
    /// Number of the pattern's sectors that the request covers.
    pub(super) taken: u32,
}

/// Piece with the highest of the `left` lowest sectors of a pattern that begins at `pattern`,
/// `base` sectors above address 0. It includes the other sectors of its line if lines of
/// `2^fetch_bits` sectors are fetched.
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

/// First sector and number of sectors of the part of a line that must be requested: unused halves
/// are left out twice. `used` is the mask of used sectors.
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

/// Number of pieces of a pattern's `sectors` sectors.
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
        /// The part is the smallest aligned power of two that contains all used sectors.
        #[test]
        fn no_smaller_part_would_do(used in 1u32..16) {
            let parts = [(0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (2, 2), (0, 4)];
            let holds = |&(first, sectors): &(u32, u32)| used & !(((1 << sectors) - 1) << first) == 0;
            prop_assert_eq!(Some(needed(used, 4)), parts.into_iter().find(holds));
        }
    }
}
