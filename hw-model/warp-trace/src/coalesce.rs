//! Address coalescing of lane addresses.
//!
//! Off-chip accesses become 32-byte sectors, shared-memory accesses become passes, and constant
//! loads become words.
//!
//! Since Maxwell, every off-chip access consists of 32-byte sectors, served in ascending address
//! order (sources.md D60). Shared memory has 32 banks of 4 bytes; lanes that read the same word of
//! a bank are served together. Constant memory serves one address after the other (sources.md
//! D113).

use crate::SectorRef;

/// Bytes per sector.
pub const SECTOR_BYTES: u64 = 32;

/// Banks of shared memory, each 4 bytes wide (sources.md D60).
const SHARED_BANKS: usize = 32;

/// Collects the sectors that `lanes` touch, in ascending order, with their byte masks.
///
/// `lanes` are byte addresses of accesses of `width` bytes. `sectors` is cleared first. Returns the
/// lowest sector, or none if no lane is active.
pub(super) fn coalesce(lanes: &[u64], width: u32, sectors: &mut Vec<SectorRef>, scratch: &mut Vec<(u64, u32)>) -> Option<u64> {
    sectors.clear();
    if let Some(base) = coalesce_ascending(lanes, width, sectors) {
        return Some(base);
    }
    sectors.clear();
    scratch.clear();
    for &address in lanes {
        let mut at = address;
        let end = address.saturating_add(u64::from(width.max(1)));
        while at < end {
            let sector = at / SECTOR_BYTES;
            let stop = end.min((sector + 1) * SECTOR_BYTES);
            let low = (at % SECTOR_BYTES) as u32;
            let count = (stop - at) as u32;
            let mask = (u64::MAX >> (64 - count)) << low;
            scratch.push((sector, mask as u32));
            at = stop;
        }
    }
    scratch.sort_unstable();
    let base = scratch.first()?.0;
    for &(sector, mask) in scratch.iter() {
        let delta = u32::try_from(sector - base).unwrap_or(u32::MAX);
        match sectors.last_mut() {
            Some(last) if last.delta == delta => last.byte_mask |= mask,
            _ => sectors.push(SectorRef { delta, byte_mask: mask }),
        }
    }
    Some(base)
}

/// Fast path of [`coalesce`] for lanes that ascend and touch one sector each. Returns none for
/// other accesses and leaves `sectors` unspecified.
fn coalesce_ascending(lanes: &[u64], width: u32, sectors: &mut Vec<SectorRef>) -> Option<u64> {
    let (width, base) = (u64::from(width.max(1)), lanes.first()? / SECTOR_BYTES);
    if width > SECTOR_BYTES {
        return None;
    }
    let bytes = u64::MAX >> (64 - width);
    let (mut last, mut byte_mask) = (base, 0u32);
    for &address in lanes {
        let (sector, low) = (address / SECTOR_BYTES, address % SECTOR_BYTES);
        if sector < last || low + width > SECTOR_BYTES {
            return None;
        }
        if sector > last {
            sectors.push(SectorRef { delta: (last - base) as u32, byte_mask });
            u32::try_from(sector - base).ok()?;
            (last, byte_mask) = (sector, 0);
        }
        byte_mask |= (bytes << low) as u32;
    }
    sectors.push(SectorRef { delta: (last - base) as u32, byte_mask });
    Some(base)
}

/// Number of passes of a shared-memory access, at least 1: the largest number of distinct 4-byte
/// words in one bank.
///
/// A wide access counts all its words, so 16 contiguous bytes per lane take four passes and a
/// 16-byte broadcast takes one. `lanes` are byte addresses within shared memory, `width` bytes
/// each.
pub fn shared_passes(lanes: &[u64], width: u32) -> u32 {
    // A bitmap of the touched words, one row of 32 banks after the other, covers most accesses
    // without sorting.
    const ROWS: usize = 64;
    let words_per_lane = u64::from(width.div_ceil(4).max(1));
    let lowest = lanes.iter().fold(u64::MAX, |low, &address| low.min(address / 4)) / SHARED_BANKS as u64 * SHARED_BANKS as u64;
    let highest = lanes.iter().fold(0, |high, &address| high.max(address / 4)) + words_per_lane - 1;
    if lanes.is_empty() || highest - lowest >= (ROWS * SHARED_BANKS) as u64 {
        return shared_passes_anywhere(lanes, words_per_lane);
    }
    let mut rows = [0u32; ROWS];
    for &address in lanes {
        for word in address / 4 - lowest..address / 4 - lowest + words_per_lane {
            rows[(word / SHARED_BANKS as u64) as usize] |= 1 << (word % SHARED_BANKS as u64);
        }
    }
    let used = &rows[..=((highest - lowest) / SHARED_BANKS as u64) as usize];
    let touched: u32 = used.iter().map(|row| row.count_ones()).sum();
    let banks = used.iter().fold(0, |all, row| all | row);
    if touched == banks.count_ones() {
        return 1;
    }
    (0..SHARED_BANKS).map(|bank| used.iter().map(|row| row >> bank & 1).sum()).max().unwrap_or(1)
}

/// Number of distinct 4-byte words at which the lanes of a constant load begin, 0 if no lane is
/// active.
///
/// Each word is one request (sources.md D113). Lanes that read different bytes of a word are one
/// request. So are lanes that read 8 or 16 bytes from the same address (both assumption).
pub fn constant_words(lanes: &[u64]) -> u32 {
    let word = |address: u64| address / 4;
    let first = |at: &usize| lanes[..*at].iter().all(|&before| word(before) != word(lanes[*at]));
    // Most constant loads read one word; a warp has at most 32 lanes.
    match lanes.first() {
        None => 0,
        Some(&one) if lanes.iter().all(|&lane| word(lane) == word(one)) => 1,
        Some(_) => (0..lanes.len()).filter(first).count() as u32,
    }
}

/// Fallback of [`shared_passes`] for lanes that are far apart or absent.
fn shared_passes_anywhere(lanes: &[u64], words_per_lane: u64) -> u32 {
    let mut words: Vec<u64> = lanes.iter().flat_map(|&address| (0..words_per_lane).map(move |i| address / 4 + i)).collect();
    words.sort_unstable();
    words.dedup();
    let mut per_bank = [0u32; SHARED_BANKS];
    for word in &words {
        per_bank[(word % SHARED_BANKS as u64) as usize] += 1;
    }
    per_bank.iter().copied().max().unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn sectors_of(lanes: &[u64], width: u32) -> (Option<u64>, Vec<SectorRef>) {
        let mut out = Vec::new();
        let base = coalesce(lanes, width, &mut out, &mut Vec::new());
        (base, out)
    }

    #[test]
    fn a_coalesced_warp_touches_four_full_sectors() {
        let lanes: Vec<u64> = (0..32).map(|i| 0x1000 + 4 * i).collect();
        let (base, sectors) = sectors_of(&lanes, 4);
        assert_eq!(base, Some(0x80));
        assert_eq!(sectors.len(), 4);
        assert!(sectors.iter().all(|s| s.byte_mask == u32::MAX));
    }

    #[test]
    fn no_lane_touches_nothing() {
        assert_eq!(sectors_of(&[], 4), (None, vec![]));
    }

    #[test]
    fn conflicts_follow_the_stride() {
        let strided = |stride: u64| -> Vec<u64> { (0..32).map(|i| i * 4 * stride).collect() };
        assert_eq!(shared_passes(&strided(1), 4), 1);
        assert_eq!(shared_passes(&strided(2), 4), 2);
        assert_eq!(shared_passes(&strided(32), 4), 32);
        assert_eq!(shared_passes(&strided(33), 4), 1);
        assert_eq!(shared_passes(&[64; 32], 4), 1, "a broadcast is one pass");
        let wide: Vec<u64> = (0..32).map(|i| 16 * i).collect();
        assert_eq!(shared_passes(&wide, 16), 4);
    }

    #[test]
    fn a_constant_load_asks_for_each_word_once() {
        let strided = |stride: u64| -> Vec<u64> { (0..32).map(|lane| 0x400 + stride * lane).collect() };
        assert_eq!(constant_words(&[]), 0);
        assert_eq!(constant_words(&strided(0)), 1, "uniform");
        assert_eq!(constant_words(&strided(1)), 8, "bytes, four to a word");
        assert_eq!([4, 8, 16, 256].map(|stride| constant_words(&strided(stride))), [32; 4], "a word or more apart");
        assert_eq!(constant_words(&[0, 4, 0, 4, 8]), 3);
    }

    proptest! {
        /// Comparison with a byte-by-byte reference, for lanes in any order and in ascending order.
        #[test]
        fn sectors_are_those_of_the_bytes_touched(
            lanes in prop::collection::vec((0u64..2, 0u64..600).prop_map(|(far, at)| (far << 40) + at), 1..=32),
            width in 0u32..40,
            ascend in any::<bool>(),
        ) {
            let mut lanes = lanes;
            if ascend {
                lanes.sort_unstable();
            }
            let mut bytes = BTreeMap::new();
            for at in lanes.iter().flat_map(|&lane| lane..lane + u64::from(width.max(1))) {
                *bytes.entry(at / SECTOR_BYTES).or_insert(0u32) |= 1 << (at % SECTOR_BYTES);
            }
            let base = *bytes.keys().next().unwrap();
            // Distances beyond 32 bits are not told apart.
            let delta = |sector: u64| u32::try_from(sector - base).unwrap_or(u32::MAX);
            let mut expected: Vec<SectorRef> = Vec::new();
            for (&sector, &byte_mask) in &bytes {
                match expected.last_mut().filter(|last| last.delta == delta(sector)) {
                    Some(last) => last.byte_mask |= byte_mask,
                    None => expected.push(SectorRef { delta: delta(sector), byte_mask }),
                }
            }
            prop_assert_eq!(sectors_of(&lanes, width), (Some(base), expected));
        }

        /// Number of distinct words, in any order of the lanes.
        #[test]
        fn constant_words_are_a_set(lanes in prop::collection::vec(0u64..200, 0..=32)) {
            let words: std::collections::BTreeSet<u64> = lanes.iter().map(|address| address >> 2).collect();
            prop_assert_eq!(constant_words(&lanes), words.len() as u32);
        }

        /// Agreement of the bitmap and the sorted list, for near and far addresses.
        #[test]
        fn two_ways_to_count_passes(base in 0u64..1 << 20, span in 1u64..20_000, offsets in prop::collection::vec(any::<u64>(), 0..32), width in prop::sample::select(vec![1u32, 4, 8, 16])) {
            let lanes: Vec<u64> = offsets.iter().map(|o| base + o % span).collect();
            prop_assert_eq!(shared_passes(&lanes, width), shared_passes_anywhere(&lanes, u64::from(width.div_ceil(4))));
        }

        /// Equality of the union of the masks and the set of touched bytes.
        #[test]
        fn masks_cover_exactly_the_bytes_touched(lanes in prop::collection::vec(0u64..4096, 0..32), width in prop::sample::select(vec![1u32, 2, 4, 8, 16])) {
            let mut expected: Vec<u64> = lanes.iter().flat_map(|&a| a..a + u64::from(width)).collect();
            expected.sort_unstable();
            expected.dedup();
            let (base, sectors) = sectors_of(&lanes, width);
            let mut got = Vec::new();
            for s in &sectors {
                for bit in (0..32).filter(|b| s.byte_mask >> b & 1 == 1) {
                    got.push((base.unwrap() + u64::from(s.delta)) * SECTOR_BYTES + bit);
                }
            }
            prop_assert_eq!(got, expected);
            prop_assert!(sectors.windows(2).all(|w| w[0].delta < w[1].delta));
        }
    }
}
