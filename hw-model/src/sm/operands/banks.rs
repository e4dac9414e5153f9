//! Register banks and collectors of an SM, with all sub-cores processed at once.
//!
//! A round of operand collection takes a dozen operations on words of the host, instead of a loop
//! over sub-cores, banks and collectors. Each sub-core has a lane of 8 bits. A word holds two of
//! its banks, 4 bits each, which count the remaining reads of a collector: at most 4, so a lane's
//! highest bit is never set and sums carry into no other lane. Flags of collectors are in the
//! lane's lowest bits: bit `c` is that of collector `c`.

use super::{MAX_COLLECTORS, MAX_SUB_CORES};

/// Bits of a bank, and banks of a lane.
const BANK_BITS: u32 = 4;
const LANE_BANKS: u32 = 2;
/// log2 of the bits of a lane.
const LANE_SHIFT: u32 = 3;
/// Number of words for the maximum number of banks of a sub-core.
pub(super) const MAX_WORDS: usize = 4;

/// Highest bit of every lane, and all other bits.
pub(in crate::sm) const TOPS: u64 = 0x8080_8080_8080_8080;
pub(in crate::sm) const BELOW: u64 = !TOPS;
/// Bit 0 of every bank.
const ALL_OPEN: u64 = 0x1111_1111_1111_1111;

/// Collector of an SM: bit 8 x sub-core + collector.
pub(super) type Flag = u32;

/// Sub-core and collector of a flag.
#[inline]
pub(super) fn owner(flag: Flag) -> (usize, usize) {
    ((flag >> LANE_SHIFT) as usize & (MAX_SUB_CORES - 1), flag as usize & (MAX_COLLECTORS - 1))
}

/// All bits of a sub-core's lane.
#[inline]
pub(super) fn lane(sub_core: usize) -> u64 {
    0xff << ((sub_core & (MAX_SUB_CORES - 1)) << LANE_SHIFT)
}

/// Register banks and collectors. Most GPUs use only the first elements of every array.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Banks {
    /// Flags of the occupied collectors, and of those whose instruction is for the load/store unit.
    busy: u64,
    for_mem: u64,
    /// True if a round may change anything.
    active: bool,
    bank_mask: u32,
    /// Requested latch per collector number: in its sub-core's lane the bit of the unit's
    /// [`PLACE`](super::PLACE); none for the load/store unit.
    wanted: [u64; MAX_COLLECTORS],
    /// Per pair of banks, bit 0 of every bank without a result write in this cycle.
    open: [u64; MAX_WORDS],
    /// Remaining reads, per pair of banks and collector number.
    reads: [[u64; MAX_COLLECTORS]; MAX_WORDS],
    /// Age order: `older[a][b]` has lanes of ones where collector `b` is older than `a`.
    older: [[u64; MAX_COLLECTORS]; MAX_COLLECTORS],
}

impl Banks {
    /// Creates 1, 2, 4 or 8 `banks` per sub-core.
    pub(super) fn new(banks: u32) -> Self {
        Banks {
            reads: [[0; MAX_COLLECTORS]; MAX_WORDS],
            open: [ALL_OPEN; MAX_WORDS],
            older: [[0; MAX_COLLECTORS]; MAX_COLLECTORS],
            busy: 0,
            for_mem: 0,
            wanted: [0; MAX_COLLECTORS],
            active: false,
            bank_mask: banks - 1,
        }
    }

    /// Writes register `reg` of `warp`, in bank (reg + warp) mod banks, in this cycle. False if the
    /// bank already has a write.
    #[inline]
    pub(super) fn write(&mut self, sub_core: usize, warp: u8, reg: u16) -> bool {
        let bank = (u32::from(reg) + u32::from(warp)) & self.bank_mask;
        let open = &mut self.open[(bank / LANE_BANKS) as usize & (MAX_WORDS - 1)];
        let bit = 1 << (((sub_core as u32) << LANE_SHIFT) + BANK_BITS * (bank % LANE_BANKS));
        let free = *open & bit != 0;
        *open &= !bit;
        free
    }

    /// Clears the result writes of the cycle.
    #[inline]
    pub(super) fn end_writes(&mut self) {
        self.open = [ALL_OPEN; MAX_WORDS];
    }

    /// Number of words of the banks.
    #[inline]
    pub(super) fn words(&self) -> u32 {
        (self.bank_mask + 1).div_ceil(LANE_BANKS)
    }

    /// True if a round may change anything: not if every occupied collector waits for a latch.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Flags of the collectors with all operands read and a free latch.
    ///
    /// There are at most `N` collectors and `W` pairs of banks per sub-core, here and below. `full`
    /// has the full latches, a lane per sub-core with a bit per [`PLACE`](super::PLACE).
    /// `mem_full_lanes` has lanes of ones where the latch of the load/store unit is full.
    #[inline]
    pub(super) fn leaving<const N: usize, const W: usize>(&self, full: u64, mem_full_lanes: u64) -> u64 {
        let mut may = 0;
        for at in 0..N {
            // A collector waits for its reads, or for a full latch.
            let waits = self.reads[..W].iter().fold(self.wanted[at] & full, |waits, word| waits | word[at]);
            let to_flag = (1 << LANE_SHIFT) - 1 - at;
            // A sum's highest bit stays clear only if the lane's other bits are zero.
            may |= (!(((waits & BELOW) + BELOW) | waits) & TOPS) >> to_flag;
        }
        may & self.busy & !(self.for_mem & mem_full_lanes)
    }

    /// Frees the collector.
    #[inline]
    pub(super) fn left(&mut self, flag: Flag) {
        self.busy &= !(1 << flag);
    }

    /// Records that a latch is free again; an instruction that waited for it may leave.
    #[inline]
    pub(super) fn latch_emptied(&mut self) {
        self.active |= self.busy != 0;
    }

    /// Lets every open bank serve its oldest request. `none_left`: no collector was
    /// [`Banks::leaving`].
    #[inline]
    pub(super) fn serve<const N: usize, const W: usize>(&mut self, none_left: bool) {
        let reads = self.reads[..W].iter().fold(0, |reads, word| word[..N].iter().fold(reads, |reads, word| reads | word));
        if reads == 0 {
            self.active = !none_left;
            return;
        }
        for (reads, open) in self.reads[..W].iter_mut().zip(&self.open) {
            let wanted: [u64; N] = std::array::from_fn(|at| (reads[at] | reads[at] >> 1 | reads[at] >> 2) & open);
            for at in 0..N {
                let mut served = wanted[at];
                for (wanted, older) in wanted.iter().zip(&self.older[at]) {
                    served &= !(wanted & older);
                }
                reads[at] -= served;
            }
        }
    }

    /// Puts an instruction with these [`bank_reads`] for the unit in `place` into the sub-core's
    /// first free collector, which must exist. Returns the collector, and the sub-core's occupied
    /// collectors.
    #[inline]
    pub(super) fn collect<const N: usize, const W: usize>(&mut self, sub_core: usize, reads: u32, place: u8) -> (usize, u8) {
        let lane = (sub_core << LANE_SHIFT) as u32;
        let at = (!(self.busy >> lane)).trailing_zeros() as usize & (N - 1);
        self.busy |= 1 << (lane + at as u32);
        self.active = true;
        for (word, reads) in self.reads[..W].iter_mut().zip(reads.to_le_bytes()) {
            word[at] |= u64::from(reads) << lane;
        }
        let ones = 0xff << lane;
        let flag = 1 << (lane + at as u32);
        // The load/store unit's place is beyond the lane.
        let wanted = 1u64 << place;
        self.wanted[at] = self.wanted[at] & !ones | (wanted & 0xff) << lane;
        self.for_mem = self.for_mem & !flag | (wanted >> 8) << (lane + at as u32);
        for other in 0..N {
            self.older[at][other] |= ones;
        }
        for other in 0..N {
            self.older[other][at] &= !ones;
        }
        (at, (self.busy >> lane) as u8 & ((1 << MAX_COLLECTORS) - 1))
    }
}

/// Register banks of `sources`, for warp 0: a count of four bits per bank, repeated to fill 32
/// bits. `banks` is 1, 2, 4 or 8.
pub(in crate::sm) fn bank_reads(sources: &[u8], banks: u32) -> u32 {
    let reads: u32 = sources.iter().map(|&reg| 1 << (BANK_BITS * (u32::from(reg) & (banks - 1)))).sum();
    (0..8 / banks).map(|copy| reads << (BANK_BITS * banks * copy)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Register r of warp w is in bank (r + w) mod banks for every warp; issue rotates the
        /// reads of warp 0 accordingly.
        #[test]
        fn reads_turn_with_the_warp(sources in prop::collection::vec(any::<u8>(), 0..=4), shift in 0u32..4, warp in 0u8..128) {
            let banks = 1 << shift;
            let mut expected = 0;
            for &reg in &sources {
                expected += 1 << (4 * ((u32::from(reg) + u32::from(warp)) % banks));
            }
            let turned = bank_reads(&sources, banks).rotate_left(4 * u32::from(warp)) & (u32::MAX >> (32 - 4 * banks));
            prop_assert_eq!(turned, expected);
        }
    }
}
