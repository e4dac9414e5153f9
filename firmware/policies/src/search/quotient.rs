//! Quotients of counts in parts of 2^14: accurate enough to compare kernels, by a 32-bit division.

/// Fraction bits of a quotient.
pub const QUOTIENT_BITS: u32 = 14;

/// The quotient 1.
pub const ONE: u32 = 1 << QUOTIENT_BITS;

/// Largest quotient, just below 16.
pub const MOST: u32 = (16 << QUOTIENT_BITS) - 1;

/// Largest numerator that fits 32 bits with the fraction.
const MOST_NUMERATOR: u64 = (1 << (u32::BITS - QUOTIENT_BITS)) - 1;

/// Returns a ratio, at most [`MOST`]; none over 0.
///
/// Both numbers are shifted to fit 32 bits. The result is accurate to a part in four thousand, or
/// to a part of 2^13.
#[must_use]
pub fn quotient(number: u64, over: u64) -> Option<u32> {
    let shift = (u64::BITS - over.leading_zeros()).saturating_sub(QUOTIENT_BITS);
    // At most 18 bits, and at most 14.
    let (number, over) = ((number >> shift).min(MOST_NUMERATOR) as u32, (over >> shift) as u32);
    (number << QUOTIENT_BITS).checked_div(over).map(|quotient| quotient.min(MOST))
}

/// Returns the ratio of two quotients.
#[must_use]
pub(crate) fn over(quotient: u32, by: u32) -> u32 {
    (quotient.min(MOST) << QUOTIENT_BITS).checked_div(by).unwrap_or(MOST).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A quotient is accurate to a part in four thousand if it is below 16, for operands of any
        /// size.
        #[test]
        fn a_quotient_is_one(over in 1..1_u64 << 60, shift in 0..60_u32, number in 0..1_u64 << 60) {
            let (number, over) = (number >> shift, (over >> shift).max(1));
            let exact = (u128::from(number) << QUOTIENT_BITS) / u128::from(over);
            let found = u128::from(quotient(number, over).expect("over something"));
            if exact < 15 << QUOTIENT_BITS {
                prop_assert!(found.abs_diff(exact) <= 4 + (exact >> 12), "{} is not {}", found, exact);
            } else {
                prop_assert!(found >= 14 << QUOTIENT_BITS);
            }
            prop_assert!(found <= u128::from(MOST));
        }

        #[test]
        fn quotients_divide(a in 0..MOST, b in 1..MOST) {
            let exact = (u64::from(a) << QUOTIENT_BITS) / u64::from(b);
            prop_assert_eq!(u64::from(over(a, b)), exact.min(MOST.into()));
        }
    }

    #[test]
    fn nothing_is_over_nothing() {
        assert_eq!((quotient(7, 0), quotient(0, 7), over(ONE, 0)), (None, Some(0), MOST));
    }
}
