//! Which set a line belongs to: its low bits, or the irreducible-polynomial hash of Rau (1991) that GPGPU-Sim calls
//! IPOLY (sources.md D67).
//!
//! Read a line number as a polynomial over GF(2), one coefficient per bit. Its index is the remainder modulo a primitive
//! polynomial of degree log2(sets): `x^4+x+1`, `x^5+x^2+1`, `x^6+x+1` for 16, 32 and 64 sets. GPGPU-Sim's tables stop at
//! 13, 15 and 19 bits above the linear index; so do these.

use crate::config::SetIndex;

/// Maps line numbers to sets.
#[derive(Clone, Debug)]
pub struct SetIndexer {
    set_mask: u64,
    set_bits: u32,
    /// What each byte of the bits above the linear index adds to it; no table for linear.
    tables: Vec<[u8; 256]>,
}

impl SetIndexer {
    /// An indexer for `sets` sets, a power of two; [`SetIndex::Ipoly`] is defined for 16, 32 and 64 sets
    /// ([`crate::config::GpuConfig::check`] sees to that) and is linear for other counts.
    pub fn new(kind: SetIndex, sets: u32) -> Self {
        let (polynomial, upper_bits) = match (kind, sets) {
            (SetIndex::Ipoly, 16) => (0b1_0011, 13),
            (SetIndex::Ipoly, 32) => (0b10_0101, 15),
            (SetIndex::Ipoly, 64) => (0b100_0011, 19),
            _ => (0, 0),
        };
        // For each bit of the index, the bits above the linear index that are added to it.
        let mut masks = [0u64; 6];
        // x^set_bits modulo the polynomial, then one power more per bit.
        let mut remainder: u32 = polynomial ^ sets;
        for upper in 0..upper_bits {
            for (bit, mask) in masks.iter_mut().enumerate() {
                *mask |= u64::from(remainder >> bit & 1) << upper;
            }
            remainder <<= 1;
            if remainder & sets != 0 {
                remainder ^= polynomial;
            }
        }
        let parity = |bits: u64| (bits.count_ones() & 1) as u8;
        let added = |upper: u64| masks.iter().enumerate().fold(0, |set, (bit, mask)| set | parity(upper & mask) << bit);
        let table = |byte: u32| std::array::from_fn(|value| added((value as u64) << (8 * byte)));
        let tables = (0..u32::div_ceil(upper_bits, 8)).map(table).collect();
        SetIndexer { set_mask: u64::from(sets) - 1, set_bits: sets.trailing_zeros(), tables }
    }

    /// The set of `line`, a byte address divided by the line size.
    #[inline]
    pub fn set(&self, line: u64) -> usize {
        let mut upper = line >> self.set_bits;
        let mut set = line & self.set_mask;
        for table in &self.tables {
            set ^= u64::from(table[(upper & 0xff) as usize]);
            upper >>= 8;
        }
        set as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Long division over GF(2), with nothing in common with the masks above.
    fn remainder(mut value: u64, polynomial: u64) -> u64 {
        let degree = 63 - polynomial.leading_zeros();
        while value >> degree != 0 {
            value ^= polynomial << ((63 - value.leading_zeros()) - degree);
        }
        value
    }

    const CASES: [(u32, u64, u32); 3] = [(16, 0b1_0011, 13), (32, 0b10_0101, 15), (64, 0b100_0011, 19)];

    proptest! {
        #[test]
        fn ipoly_is_the_remainder(case in 0usize..3, line: u64) {
            let (sets, polynomial, upper) = CASES[case];
            let line = line & ((1 << (upper + sets.trailing_zeros())) - 1);
            prop_assert_eq!(SetIndexer::new(SetIndex::Ipoly, sets).set(line) as u64, remainder(line, polynomial));
        }

        /// For fixed upper bits the map is a bijection on the linear index (sources.md D111).
        #[test]
        fn ipoly_is_a_bijection_for_fixed_upper_bits(case in 0usize..3, upper: u32) {
            let sets = CASES[case].0;
            let indexer = SetIndexer::new(SetIndex::Ipoly, sets);
            let mut seen = vec![false; sets as usize];
            for low in 0..u64::from(sets) {
                seen[indexer.set(u64::from(upper) * u64::from(sets) + low)] = true;
            }
            prop_assert!(seen.iter().all(|&s| s));
        }

        /// Any power-of-two stride meets every set equally often, as long as the address stays in the hash's reach.
        #[test]
        fn ipoly_spreads_power_of_two_strides(case in 0usize..3, stride in 0u32..13, base: u64) {
            let (sets, _, upper) = CASES[case];
            let indexer = SetIndexer::new(SetIndex::Ipoly, sets);
            let reach = upper + sets.trailing_zeros();
            prop_assume!(stride + sets.trailing_zeros() <= reach);
            // Aligned, so that the walk changes only log2(sets) neighbouring bits.
            let base = (base & ((1 << reach) - 1)) >> (stride + sets.trailing_zeros()) << (stride + sets.trailing_zeros());
            let mut count = vec![0; sets as usize];
            for i in 0..u64::from(sets) {
                count[indexer.set(base + (i << stride))] += 1;
            }
            prop_assert!(count.iter().all(|&c| c == 1), "stride 2^{}: {:?}", stride, count);
        }
    }

    #[test]
    fn linear_is_the_low_bits() {
        let indexer = SetIndexer::new(SetIndex::Linear, 4);
        assert_eq!((0..8).map(|line| indexer.set(line + 4 * 977)).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
    }
}
