//! Which set a line belongs to: its low bits, or the irreducible-polynomial hash of Rau (1991) that GPGPU-Sim calls
//! IPOLY (sources.md D67), or those low bits xor some higher ones, as GPGPU-Sim hashes the L1 of its Fermi (sources.md D121). IPOLY spreads
//! addresses over slices, too (`memory/address.rs`). Both are linear over GF(2): every bit above the low ones adds a constant.
//!
//! Read a line number as a polynomial over GF(2), one coefficient per bit. Its index is the remainder modulo a primitive
//! polynomial of degree log2(sets), one for each power of two from 2 to 4,096 (`POLYNOMIALS`). GPGPU-Sim's tables are for 16, 32
//! and 64 sets, and stop at 13, 15 and 19 bits above the linear index; so do these. The others take `UPPER_BITS`.

use crate::config::SetIndex;

/// Primitive polynomials over GF(2) by degree, from 1 to 12: a bit per coefficient. Those of degree 4 to 6 are GPGPU-Sim's. Of a
/// degree's primitive polynomials these have the fewest terms, and of those with as many the lowest.
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

/// Bits above the linear index that are hashed where GPGPU-Sim has no table (assumption: 8 TB of lines of 128 bytes with 16 sets or more).
const UPPER_BITS: u32 = 32;

/// The bit of the set that [`SetIndex::Xor`] adds a bit of the line number to, from `XOR_FROM` on.
const XOR_TO: [Option<u32>; 7] = [Some(0), Some(1), Some(2), None, Some(3), None, Some(4)];

/// The first bit of the line number that is added: bit 13 of the byte address.
const XOR_FROM: u32 = 6;

/// Maps line numbers to sets.
#[derive(Clone, Debug)]
pub struct SetIndexer {
    set_mask: u64,
    set_bits: u32,
    /// What each byte of the bits above the linear index adds to it; no table for linear.
    tables: Vec<[u16; 256]>,
}

impl SetIndexer {
    /// An indexer for `sets` sets, a power of two; [`SetIndex::Ipoly`] is defined for up to 4,096
    /// ([`crate::config::GpuConfig::check`] sees to that) and is linear for more.
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

/// For each bit above the linear index, what it adds: x^set_bits modulo the polynomial, then one power more per bit.
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

/// For each bit above the linear index, the bit of the set that it flips.
fn xor(sets: u32) -> Vec<u16> {
    let unused = XOR_FROM.saturating_sub(sets.trailing_zeros());
    let to = XOR_TO.map(|to| to.map_or(0, |bit| 1 << bit));
    std::iter::repeat_n(0, unused as usize).chain(to).collect()
}

/// Bits above the linear index that the hash for so many sets takes.
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

    /// Long division over GF(2), with nothing in common with the masks above.
    fn remainder(mut value: u64, polynomial: u64) -> u64 {
        let degree = 63 - polynomial.leading_zeros();
        while value >> degree != 0 {
            value ^= polynomial << ((63 - value.leading_zeros()) - degree);
        }
        value
    }

    /// A case: sets, their polynomial as coefficients' powers, and bits above the linear index.
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

    /// The powers of x go through all that is not 0 before they come to 1 again.
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

        /// Any power-of-two stride meets every set equally often, as long as the address stays in the hash's reach.
        #[test]
        fn ipoly_spreads_power_of_two_strides(degree in 1u32..=12, stride in 0u32..32, base: u64) {
            let (sets, _, upper) = case(degree);
            let reach = upper + degree;
            let stride = stride % (upper + 1);
            // Aligned, so that the walk changes only log2(sets) neighbouring bits.
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
        /// By the bits of the byte address, as sources.md D121 has them.
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
