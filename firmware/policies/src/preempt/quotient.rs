//! Ratios of counts without a 64-bit division: two digits of 16 bits, each by the 32-bit divider
//! (Knuth 1997, section 4.3.1, algorithm D).

/// Returns `a * b / d`, rounded down and saturating; the largest number if `d` is 0.
#[must_use]
pub fn mul_div(a: u32, b: u32, d: u32) -> u32 {
    let product = u64::from(a) * u64::from(b);
    // The usual case of a short product.
    if product >> 32 == 0 {
        return (product as u32).checked_div(d).unwrap_or(u32::MAX);
    }
    // Otherwise the quotient fits 32 bits.
    if (product >> 32) as u32 >= d {
        return u32::MAX;
    }
    let shift = d.leading_zeros();
    // The upper half is below `d`, so no bit is shifted out.
    let (product, d) = (product << shift, d << shift);
    let low = product as u32;
    let (first, rest) = digit((product >> 32) as u32, low >> 16, d);
    let (second, _) = digit(rest, low & 0xFFFF, d);
    first << 16 | second
}

/// Halves two wide sums until both fit 32 bits, which keeps their ratio.
#[must_use]
pub fn narrow(a: u64, b: u64) -> (u32, u32) {
    let shift = 32_u32.saturating_sub((a | b).leading_zeros());
    ((a >> shift) as u32, (b >> shift) as u32)
}

/// Returns one digit of a quotient, `top * 2^16 + next` over `d`, and the remainder. The highest
/// bit of `d` is set, and `d` is above `top`.
fn digit(top: u32, next: u32, d: u32) -> (u32, u32) {
    let (upper, lower) = (d >> 16, d & 0xFFFF);
    let mut quotient = top.checked_div(upper).unwrap_or(0);
    let mut rest = top.wrapping_sub(quotient.wrapping_mul(upper));
    // At most 2 too large, because `upper` has its highest bit set.
    for _ in 0..2 {
        if rest >> 16 == 0 && (quotient >> 16 != 0 || quotient.wrapping_mul(lower) > (rest << 16 | next)) {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(upper);
        }
    }
    (quotient, (top << 16 | next).wrapping_sub(quotient.wrapping_mul(d)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates numbers of any length.
    fn any_length() -> impl Strategy<Value = u32> {
        (any::<u32>(), 0..32_u32).prop_map(|(bits, shift)| bits >> shift)
    }

    fn exact(a: u32, b: u32, d: u32) -> u32 {
        let quotient = (u128::from(a) * u128::from(b)).checked_div(d.into());
        quotient.map_or(u32::MAX, |quotient| quotient.min(u32::MAX.into()) as u32)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn quotients_are_exact(a in any_length(), b in any_length(), d in any_length()) {
            prop_assert_eq!(mul_div(a, b, d), exact(a, b, d));
        }

        /// Digits are estimated too large for divisors just above a power of two.
        #[test]
        fn quotients_near_the_largest_are_exact(a in u32::MAX - 3.., b in any_length(), d in 0x7FFF_0000_u32..0x8001_FFFF) {
            prop_assert_eq!(mul_div(a, b, d), exact(a, b, d));
        }

        /// Both narrowed sums fit 32 bits, and only the necessary bits are lost.
        #[test]
        fn ratios_are_kept(a: u64, b: u64) {
            let (x, y) = narrow(a, b);
            let shift = (0..=32).find(|shift| a.max(b) >> shift <= u64::from(u32::MAX)).unwrap();
            prop_assert_eq!((u64::from(x), u64::from(y)), (a >> shift, b >> shift));
        }
    }
}
