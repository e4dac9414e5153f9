//! The small wide integer in which scores are compared exactly.
//!
//! Bounds, for a map of 256 SMs and a window below 2^17 cycles: sums of cycles, stalls and misses are below 2^25, of
//! instructions below 2^32, of outstanding misses below 2^33; replicas and SMs are at most 2^8. The largest numerator is
//! Factor's `I * n * T` < 2^(32 + 8 + 33) = 2^73, the largest denominator Linear's `C * N * 2^16 + coef * (A * N - n * T)` <
//! 2^(25 + 8 + 16) + 2^(32 + 41) < 2^74: both fit 96 bits. A product of two 96-bit numbers fits 192 bits, whatever they are,
//! so a comparison by cross multiplication cannot overflow.

use core::cmp::Ordering;

/// An unsigned 96-bit integer, least significant word first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct U96([u32; 3]);

impl U96 {
    /// Zero.
    pub const ZERO: Self = Self([0; 3]);

    /// The product of a 64-bit and a 32-bit number: always fits.
    #[must_use]
    pub const fn product(a: u64, b: u32) -> Self {
        let low = (a & 0xFFFF_FFFF) * b as u64;
        let high = (a >> 32) * b as u64 + (low >> 32);
        Self([low as u32, high as u32, (high >> 32) as u32])
    }

    /// The sum, at most the largest value.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        let mut carry = 0_u64;
        let words = zip_words(self, other, |a, b| {
            let sum = u64::from(a) + u64::from(b) + carry;
            carry = sum >> 32;
            sum as u32
        });
        if carry == 0 { words } else { Self([u32::MAX; 3]) }
    }

    /// The difference, at least 0.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        let mut borrow = false;
        let words = zip_words(self, other, |a, b| {
            let (once, under) = a.overflowing_sub(b);
            let (twice, under_again) = once.overflowing_sub(u32::from(borrow));
            borrow = under || under_again;
            twice
        });
        if borrow { Self::ZERO } else { words }
    }

    /// The value, for reports.
    #[must_use]
    pub fn to_u128(self) -> u128 {
        let Self([low, middle, high]) = self;
        u128::from(high) << 64 | u128::from(middle) << 32 | u128::from(low)
    }
}

impl From<u64> for U96 {
    fn from(value: u64) -> Self {
        Self::product(value, 1)
    }
}

impl Ord for U96 {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for U96 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn zip_words(a: U96, b: U96, mut word: impl FnMut(u32, u32) -> u32) -> U96 {
    let (U96([a0, a1, a2]), U96([b0, b1, b2])) = (a, b);
    U96([word(a0, b0), word(a1, b1), word(a2, b2)])
}

/// The 192-bit product, most significant word first so that the words compare as the numbers do.
fn wide_product(a: U96, b: U96) -> [u32; 6] {
    let mut words = [0_u32; 6];
    for (shift, x) in a.0.into_iter().enumerate() {
        let mut carry = 0_u64;
        let mut places = words.iter_mut().skip(shift);
        for (y, place) in b.0.into_iter().zip(places.by_ref()) {
            // At most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
            let sum = u64::from(x) * u64::from(y) + u64::from(*place) + carry;
            *place = sum as u32;
            carry = sum >> 32;
        }
        if let Some(place) = places.next() {
            *place = carry as u32;
        }
    }
    words.reverse();
    words
}

/// Compares `a * b` with `c * d` exactly. One copy in the image: it is the only wide multiplication there.
#[inline(never)]
#[must_use]
pub fn compare_products(a: U96, b: U96, c: U96, d: U96) -> Ordering {
    wide_product(a, b).cmp(&wide_product(c, d))
}
