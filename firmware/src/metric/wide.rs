//! 96-bit numbers in which scores are compared exactly, in the style of the crate [`fixed`], which
//! has no 96-bit type.
//!
//! The product of two takes 9 multiplications of 32 bits; that of two 128-bit numbers takes 16.
//!
//! Bounds, for a map of 256 SMs and a window below 2^17 cycles: sums of cycles, stalls and misses
//! are below 2^25, of instructions below 2^32, of outstanding misses below 2^33. Replicas and SMs
//! are at most 2^8. The largest numerator is Factor's `I * n * T` < 2^(32 + 8 + 33) = 2^73. The
//! largest denominator is Linear's `C * N * 2^16 + coef * (A * N - n * T)` < 2^(25 + 8 + 16) +
//! 2^(32 + 41) < 2^74. Both fit 96 bits. A product of any two 96-bit numbers fits 192 bits, so a
//! comparison by cross multiplication cannot overflow.

use core::cmp::Ordering;
use core::marker::PhantomData;

use fixed::types::extra::{U0, Unsigned};
use fixed::{FixedU32, FixedU64};

/// Unsigned 96-bit number with `Frac` fraction bits, as in [`FixedU64`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedU96<Frac> {
    high: u32,
    low: u64,
    fraction: PhantomData<Frac>,
}

/// Unsigned 96-bit integer.
pub type U96 = FixedU96<U0>;

impl U96 {
    /// The number 1.
    pub const ONE: Self = Self::new(0, 1);
}

impl<Frac: Unsigned> FixedU96<Frac> {
    /// The number 0.
    pub const ZERO: Self = Self::new(0, 0);

    #[inline(always)]
    const fn new(high: u32, low: u64) -> Self {
        Self { high, low, fraction: PhantomData }
    }

    /// Returns the integer with the same bits.
    #[inline(always)]
    #[must_use]
    pub const fn to_bits(self) -> U96 {
        U96::new(self.high, self.low)
    }

    /// Returns the product of a 64-bit integer and a 32-bit number with these fraction bits, which
    /// always fits.
    #[inline(always)]
    #[must_use]
    pub fn product(a: u64, b: impl Into<FixedU32<Frac>>) -> Self {
        let b = u64::from(b.into().to_bits());
        let low = (a & 0xFFFF_FFFF) * b;
        let high = (a >> 32) * b + (low >> 32);
        Self::new((high >> 32) as u32, high << 32 | low & 0xFFFF_FFFF)
    }

    /// Returns the sum, clamped to the largest value.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        let sum = self.wrapping_add(other);
        if (sum.high, sum.low) < (self.high, self.low) { Self::new(u32::MAX, u64::MAX) } else { sum }
    }

    /// Returns the sum, modulo 2^96. The caller ensures that it fits.
    #[inline(always)]
    #[must_use]
    pub fn wrapping_add(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self::new(self.high.wrapping_add(other.high).wrapping_add(u32::from(carry)), low)
    }

    /// Returns the difference, at least 0.
    #[inline(always)]
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let (high, once) = self.high.overflowing_sub(other.high);
        let (high, twice) = high.overflowing_sub(u32::from(borrow));
        if once || twice { Self::ZERO } else { Self::new(high, low) }
    }

    /// Returns the value, clamped to the largest of 64 bits.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_to_64(self) -> FixedU64<Frac> {
        FixedU64::from_bits(if self.high == 0 { self.low } else { u64::MAX })
    }

    /// Returns the bits, for reports.
    #[must_use]
    pub fn to_u128(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// Returns the words, least significant first.
    #[inline(always)]
    const fn words(self) -> [u32; 3] {
        [self.low as u32, (self.low >> 32) as u32, self.high]
    }

    /// Returns the lower two words.
    #[inline(always)]
    const fn low_words(self) -> [u32; 2] {
        [self.low as u32, (self.low >> 32) as u32]
    }
}

impl From<u64> for U96 {
    #[inline(always)]
    fn from(low: u64) -> Self {
        Self::new(0, low)
    }
}

impl<Frac: Unsigned> From<FixedU64<Frac>> for FixedU96<Frac> {
    #[inline(always)]
    fn from(low: FixedU64<Frac>) -> Self {
        Self::new(0, low.to_bits())
    }
}

impl<Frac: Unsigned> From<FixedU32<Frac>> for FixedU96<Frac> {
    #[inline(always)]
    fn from(low: FixedU32<Frac>) -> Self {
        Self::new(0, low.to_bits().into())
    }
}

impl<Frac: Unsigned + Eq> Ord for FixedU96<Frac> {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.high.cmp(&other.high).then(self.low.cmp(&other.low))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if (self.high, self.low) < (other.high, other.low) { other } else { self }
    }
}

impl<Frac: Unsigned + Eq> PartialOrd for FixedU96<Frac> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns `a * b + x + y` as low and high word. It is at most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 -
/// 1, so it always fits.
#[inline(always)]
fn multiply_add(a: u32, b: u32, x: u32, y: u32) -> (u32, u32) {
    let sum = u64::from(a) * u64::from(b) + u64::from(x) + u64::from(y);
    (sum as u32, (sum >> 32) as u32)
}

/// Returns `a * b + x` for two words each.
#[inline(always)]
fn row2(a: [u32; 2], b: u32, x: [u32; 2]) -> (u32, [u32; 2]) {
    let (low, carry) = multiply_add(a[0], b, x[0], 0);
    let (middle, high) = multiply_add(a[1], b, x[1], carry);
    (low, [middle, high])
}

/// Returns `a * b + x` for three words each.
#[inline(always)]
fn row3(a: [u32; 3], b: u32, x: [u32; 3]) -> (u32, [u32; 3]) {
    let [a0, a1, a2] = a;
    let (low, carry) = multiply_add(a0, b, x[0], 0);
    let (next, carry) = multiply_add(a1, b, x[1], carry);
    let (middle, high) = multiply_add(a2, b, x[2], carry);
    (low, [next, middle, high])
}

/// Returns the 128-bit product of numbers below 2^64, least significant word first.
#[inline(always)]
fn product2(a: [u32; 2], b: [u32; 2]) -> [u32; 4] {
    let (w0, rest) = row2(a, b[0], [0; 2]);
    let (w1, [w2, w3]) = row2(a, b[1], rest);
    [w0, w1, w2, w3]
}

/// Returns the 192-bit product, least significant word first.
#[inline(always)]
fn product3(a: [u32; 3], b: [u32; 3]) -> [u32; 6] {
    let (w0, rest) = row3(a, b[0], [0; 3]);
    let (w1, rest) = row3(a, b[1], rest);
    let (w2, [w3, w4, w5]) = row3(a, b[2], rest);
    [w0, w1, w2, w3, w4, w5]
}

/// Compares two numbers of equally many words, least significant first.
#[inline(always)]
fn compare<const N: usize>(left: [u32; N], right: [u32; N]) -> Ordering {
    for (a, b) in left.iter().rev().zip(right.iter().rev()) {
        if a != b {
            return a.cmp(b);
        }
    }
    Ordering::Equal
}

/// Compares `a * b` with `c * d` exactly.
#[must_use]
pub fn compare_products(a: U96, b: U96, c: U96, d: U96) -> Ordering {
    Fraction { numerator: a, denominator: d }.cmp(&Fraction { numerator: c, denominator: b })
}

/// Numerator over a positive denominator, compared by value: 1/2 equals 2/4.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    /// Numerator of the fraction.
    pub numerator: U96,
    /// Denominator of the fraction, at least 1.
    pub denominator: U96,
}

impl Fraction {
    /// The smallest fraction, 0.
    pub const LEAST: Self = Self { numerator: U96::ZERO, denominator: U96::ONE };

    /// Creates `numerator / denominator` of numbers with the same fraction bits, which cancel. A
    /// denominator of 0 counts as the smallest positive one.
    #[inline(always)]
    #[must_use]
    pub fn new<Frac: Unsigned>(numerator: FixedU96<Frac>, denominator: FixedU96<Frac>) -> Self {
        let denominator = denominator.to_bits();
        Self::over_positive(numerator.to_bits(), if denominator == U96::ZERO { U96::ONE } else { denominator })
    }

    /// Creates a fraction with a denominator that the caller knows to be positive.
    #[inline(always)]
    #[must_use]
    pub const fn over_positive<Frac: Unsigned>(numerator: FixedU96<Frac>, denominator: FixedU96<Frac>) -> Self {
        Self { numerator: numerator.to_bits(), denominator: denominator.to_bits() }
    }

    /// Compares fractions whose numerators and denominators are below 2^32. The upper words are
    /// ignored.
    #[inline(always)]
    #[must_use]
    pub fn compare_narrow(&self, other: &Self) -> Ordering {
        let product = |a: U96, b: U96| u64::from(a.low as u32) * u64::from(b.low as u32);
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }

    /// Compares numbers of any size.
    #[inline(never)]
    fn compare_wide(&self, other: &Self) -> Ordering {
        let (a, b) = (self.numerator.words(), other.denominator.words());
        let (c, d) = (other.numerator.words(), self.denominator.words());
        compare(product3(a, b), product3(c, d))
    }
}

impl Ord for Fraction {
    /// Compares by cross multiplication, with no more multiplications than the numbers' sizes need.
    /// The image has one copy, because these are its only wide multiplications.
    #[inline(never)]
    fn cmp(&self, other: &Self) -> Ordering {
        if self.numerator.high | self.denominator.high | other.numerator.high | other.denominator.high != 0 {
            return self.compare_wide(other);
        }
        let (a, b) = (self.numerator.low_words(), other.denominator.low_words());
        let (c, d) = (other.numerator.low_words(), self.denominator.low_words());
        compare(product2(a, b), product2(c, d))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}
