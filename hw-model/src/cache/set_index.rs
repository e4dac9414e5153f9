//! Set index functions of a line number: low bits, IPOLY or XOR.
//!
//! IPOLY is the irreducible-polynomial hash of Rau (1991), named by GPGPU-Sim (sources.md D67). XOR
//! combines the low bits with some higher ones, as GPGPU-Sim does for the L1 of its Fermi
//! (sources.md D121). IPOLY also spreads addresses over slices (`memory/address.rs`). Both are
//! linear over GF(2): every bit above the low ones adds a constant.
//!
//! IPOLY reads a line number as a polynomial over GF(2), one coefficient per bit. Its index is the
//! remainder modulo a primitive polynomial of degree log2(sets), one for each power of two from 2
//! to 4,096 (`POLYNOMIALS`). GPGPU-Sim's tables are for 16, 32 and 64 sets and end at 13, 15 and 19
//! bits above the linear index; so do these. The others use `UPPER_BITS`.

use crate::config::SetIndex;

/// Primitive polynomials over GF(2) by degree, from 1 to 12, with one bit per coefficient. Those of
/// degree 4 to 6 are GPGPU-Sim's. The others have the fewest terms of their degree, and are the
/// lowest of those.
const POLYNOMIALS: [u32; 12] = [
    0b11,
    0b111,
    0b1011,
    0b1_0011,
    0b10_0101,
    0b100_0011,
    0b1000_0011,
    0b1_0001_1101,
    0b10_0001_0001,
    0b100_0000_1001,
    0b1000_0000_0101,
    0b1_0000_0101_0011,
];

const _: () = assert!(SetIndex::MOST_IPOLY_SETS == 1 << POLYNOMIALS.len());

/// Number of bits above the linear index that are hashed where GPGPU-Sim has no table (assumption:
/// 8 TB of lines of 128 bytes with 16 sets or more).
const UPPER_BITS: u32 = 32;

/// Set bit to which [`SetIndex::Xor`] adds each bit of the line number, from `XOR_FROM` on.
const XOR_TO: [Option<u32>; 7] = [Some(0), Some(1), Some(2), None, Some(3), None, Some(4)];

/// First bit of the line number that is added: bit 13 of the byte address.
const XOR_FROM: u32 = 6;

/// Map from line numbers to sets.
#[derive(Clone, Debug)]
pub struct SetIndexer {
    set_mask: u64,
    set_bits: u32,
    /// Contribution of each byte of the bits above the linear index; no table for linear.
    tables: Vec<[u16; 256]>,
}

impl SetIndexer {
    /// Creates an indexer for `sets` sets, a power of two.
    ///
    /// [`SetIndex::Ipoly`] is defined for up to 4,096 sets, which
    /// [`crate::config::GpuConfig::check`] ensures, and is linear for more.
    pub fn new(kind: SetIndex, sets: u32) -> Self {
        let set_bits = sets.trailing_zeros();
        let added = match kind {
            SetIndex::Linear => Vec::new(),
            SetIndex::Ipoly => ipoly(sets),
            SetIndex::Xor => xor(sets),
        };
        let sum =
            |byte: &[u16], value: usize| byte.iter().enumerate().fold(0, |sum, (bit, added)| sum ^ (added * (value >> bit & 1) as u16));
        let tables = added.chunks(8).map(|byte| std::array::from_fn(|value| sum(byte, value)));
        SetIndexer { set_mask: u64::from(sets) - 1, set_bits, tables: tables.collect() }
    }

    /// Set of `line`, a byte address divided by the line size.
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

/// Contribution of each bit above the linear index: x^set_bits modulo the polynomial, then one
/// power more per bit.
fn ipoly(sets: u32) -> Vec<u16> {
    let known = sets.trailing_zeros().checked_sub(1).and_then(|at| POLYNOMIALS.get(at as usize));
    let Some(&polynomial) = known else { return Vec::new() };
    let mut remainder = polynomial ^ sets;
    let power = |_| {
        let added = remainder as u16;
        remainder <<= 1;
        if remainder & sets != 0 {
            remainder ^= polynomial;
        }
        added
    };
    (0..upper_bits(sets)).map(power).collect()
}

/// Set bit that each bit above the linear index flips.
fn xor(sets: u32) -> Vec<u16> {
    let unused = XOR_FROM.saturating_sub(sets.trailing_zeros());
    let to = XOR_TO.map(|to| to.map_or(0, |bit| 1 << bit));
    std::iter::repeat_n(0, unused as usize).chain(to).collect()
}

/// Number of bits above the linear index that the hash for `sets` sets uses.
fn upper_bits(sets: u32) -> u32 {
    match sets {
        16 => 13,
        32 => 15,
        64 => 19,
        _ => UPPER_BITS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Long division over GF(2), independent of the masks above.
    fn remainder(mut value: u64, polynomial: u64) -> u64 {
        let degree = 63 - polynomial.leading_zeros();
        while value >> degree != 0 {
            value ^= polynomial << ((63 - value.leading_zeros()) - degree);
        }
        value
    }

    /// Test case: sets, their polynomial as coefficients' powers, and bits above the linear index.
    fn case(degree: u32) -> (u32, u64, u32) {
        let powers: &[u32] = match degree {
            1 => &[1, 0],
            2 => &[2, 1, 0],
            3 => &[3, 1, 0],
            4 => &[4, 1, 0],
            5 => &[5, 2, 0],
            6 => &[6, 1, 0],
            7 => &[7, 1, 0],
            8 => &[8, 4, 3, 2, 0],
            9 => &[9, 4, 0],
            10 => &[10, 3, 0],
            11 => &[11, 2, 0],
            _ => &[12, 6, 4, 1, 0],
        };
        let upper = match degree {
            4 => 13,
            5 => 15,
            6 => 19,
            _ => 32,
        };
        (1 << degree, powers.iter().map(|power| 1 << power).sum(), upper)
    }

    /// The powers of x take every nonzero value before they return to 1.
    #[test]
    fn the_polynomials_are_primitive() {
        for degree in 1..=12 {
            let (sets, polynomial, _) = case(degree);
            let mut power = remainder(2, polynomial);
            let mut order = 1;
            while power != 1 {
                power = remainder(power << 1, polynomial);
                order += 1;
                assert!(order < sets, "degree {degree}");
            }
            assert_eq!(order, sets - 1, "degree {degree}");
        }
    }

    #[test]
    fn one_set_takes_all() {
        assert!((0..100).all(|line| SetIndexer::new(SetIndex::Ipoly, 1).set(line * 977) == 0));
    }

    proptest! {
        #[test]
        fn ipoly_is_the_remainder(degree in 1u32..=12, line: u64) {
            let (sets, polynomial, upper) = case(degree);
            let line = line & ((1 << (upper + degree)) - 1);
            prop_assert_eq!(SetIndexer::new(SetIndex::Ipoly, sets).set(line) as u64, remainder(line, polynomial));
        }

        /// For fixed upper bits the map is a bijection on the linear index (sources.md D111).
        #[test]
        fn ipoly_is_a_bijection_for_fixed_upper_bits(degree in 1u32..=12, upper: u32) {
            let sets = 1u32 << degree;
            let indexer = SetIndexer::new(SetIndex::Ipoly, sets);
            let mut seen = vec![false; sets as usize];
            for low in 0..u64::from(sets) {
                seen[indexer.set(u64::from(upper) * u64::from(sets) + low)] = true;
            }
            prop_assert!(seen.iter().all(|&s| s));
        }

        /// A power-of-two stride accesses every set equally often, within the reach of the hash.
        #[test]
        fn ipoly_spreads_power_of_two_strides(degree in 1u32..=12, stride in 0u32..32, base: u64) {
            let (sets, _, upper) = case(degree);
            let reach = upper + degree;
            let stride = stride % (upper + 1);
            // The base is aligned, so the walk changes only log2(sets) neighboring bits.
            let base = (base & ((1 << reach) - 1)) >> (stride + degree) << (stride + degree);
            let indexer = SetIndexer::new(SetIndex::Ipoly, sets);
            let mut count = vec![0; sets as usize];
            for i in 0..u64::from(sets) {
                count[indexer.set(base + (i << stride))] += 1;
            }
            prop_assert!(count.iter().all(|&c| c == 1), "stride 2^{}: {:?}", stride, count);
        }
    }

    proptest! {
        /// Comparison with the byte-address bits in sources.md D121.
        #[test]
        fn xor_takes_five_bits_of_the_address(address: u64) {
            let bit = |at: u32| address >> at & 1;
            let upper = bit(13) | bit(14) << 1 | bit(15) << 2 | bit(17) << 3 | bit(19) << 4;
            for (sets, lower) in [(32, address >> 7 & 31), (64, address >> 7 & 63)] {
                prop_assert_eq!(SetIndexer::new(SetIndex::Xor, sets).set(address >> 7) as u64, lower ^ upper);
            }
        }
    }

    #[test]
    fn linear_is_the_low_bits() {
        let indexer = SetIndexer::new(SetIndex::Linear, 4);
        assert_eq!((0..8).map(|line| indexer.set(line + 4 * 977)).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
    }
}
