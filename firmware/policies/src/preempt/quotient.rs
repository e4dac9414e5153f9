//! Ratios of what is counted, without a 64-bit division: two digits of 16 bits, each by the divider for 32 (Knuth 1997, section 4.3.1,
//! algorithm D).

/// `a * b / d`, rounded down; the largest number where that is beyond, and where `d` is 0.
#[must_use]
pub fn mul_div(a: u32, b: u32, d: u32) -> u32 {
    let product = u64::from(a) * u64::from(b);
    // Most are so short.
    if product >> 32 == 0 {
        return (product as u32).checked_div(d).unwrap_or(u32::MAX);
    }
    // Else the quotient takes no more than 32 bits.
    if (product >> 32) as u32 >= d {
        return u32::MAX;
    }
    let shift = d.leading_zeros();
    // The upper half is below `d`: nothing is shifted out.
    let (product, d) = (product << shift, d << shift);
    let low = product as u32;
    let (first, rest) = digit((product >> 32) as u32, low >> 16, d);
    let (second, _) = digit(rest, low & 0xFFFF, d);
    first << 16 | second
}

/// `(a + b) / d` of two wide sums and a ratio of them: both halved until they fit.
#[must_use]
pub fn narrow(a: u64, b: u64) -> (u32, u32) {
    let shift = 32_u32.saturating_sub((a | b).leading_zeros());
    ((a >> shift) as u32, (b >> shift) as u32)
}

/// One digit of a quotient: `top * 2^16 + next` over `d`, whose highest bit is set and which is above `top`; and what is left.
fn digit(top: u32, next: u32, d: u32) -> (u32, u32) {
    let (upper, lower) = (d >> 16, d & 0xFFFF);
    let mut quotient = top.checked_div(upper).unwrap_or(0);
    let mut rest = top.wrapping_sub(quotient.wrapping_mul(upper));
    // At most 2 too large: `upper` has its highest bit.
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

    /// Numbers of any length.
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

        /// Digits that are estimated too large are those of divisors just above a power of two.
        #[test]
        fn quotients_near_the_largest_are_exact(a in u32::MAX - 3.., b in any_length(), d in 0x7FFF_0000_u32..0x8001_FFFF) {
            prop_assert_eq!(mul_div(a, b, d), exact(a, b, d));
        }

        /// Both fit, and no more is lost than has to be.
        #[test]
        fn ratios_are_kept(a: u64, b: u64) {
            let (x, y) = narrow(a, b);
            let shift = (0..=32).find(|shift| a.max(b) >> shift <= u64::from(u32::MAX)).unwrap();
            prop_assert_eq!((u64::from(x), u64::from(y)), (a >> shift, b >> shift));
        }
    }
}
