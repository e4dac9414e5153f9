//! Exact ordinary least squares of one variable on another: sums are integers, and only the two
//! results are rounded, once.

use mias_firmware::metric::wide::{U96, compare_products};
use std::cmp::Ordering;

/// Sample of one SM in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallSample {
    /// A: outstanding misses accumulated over the memory-stalled cycles; below 2^25 (sources.md
    /// D34).
    pub outstanding_misses: u32,
    /// M: memory-stalled cycles; below 2^17.
    pub memory_stall_cycles: u32,
}

/// Maximum number of samples for which the arithmetic below cannot overflow.
const MOST_SAMPLES: usize = 1 << 16;

/// Fitted line M = slope A + intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Slope in 2^-16, rounded to the nearest; halves away from zero.
    pub slope_q16: i64,
    /// M at A = 0, in cycles, rounded to the nearest; halves away from zero.
    pub intercept: i64,
    /// Fraction of the variance of M that the line explains, in permille, rounded to the nearest.
    pub r2_permille: u32,
}

/// Fits the line of least squares; `None` if A is the same in all samples, or there are more than
/// 65,536 of them.
///
/// With sums over n samples: slope = (n sum AM - sum A sum M) / (n sum AA - (sum A)^2). Each
/// product is below 2^(2 * 16 + 2 * 25) = 2^82. So 128 bits hold everything except the product of
/// two of them, which is compared in 192 bits.
pub fn fit(samples: &[StallSample]) -> Option<Line> {
    if samples.len() > MOST_SAMPLES {
        return None;
    }
    let n = samples.len() as i128;
    let sum = |term: fn(i128, i128) -> i128| -> i128 {
        samples.iter().map(|s| term(s.outstanding_misses.into(), s.memory_stall_cycles.into())).sum()
    };
    let (a, m) = (sum(|a, _| a), sum(|_, m| m));
    let covariance = n * sum(|a, m| a * m) - a * m;
    let (spread_a, spread_m) = (n * sum(|a, _| a * a) - a * a, n * sum(|_, m| m * m) - m * m);
    if spread_a == 0 {
        return None;
    }
    let slope_q16 = i64::try_from(round_div(covariance << 16, spread_a)).ok()?;
    // (sum M - slope sum A) / n, with the exact slope.
    let (m_part, a_part) = (m.checked_mul(spread_a)?, covariance.checked_mul(a)?);
    let intercept = i64::try_from(round_div(m_part - a_part, spread_a.checked_mul(n)?)).ok()?;
    Some(Line { slope_q16, intercept, r2_permille: permille(covariance.unsigned_abs(), spread_a as u128, spread_m as u128) })
}

/// Returns 1000 c^2 / (a b), rounded: the largest p with (2 p - 1) a b <= 2000 c^2. Any line
/// explains a constant M.
fn permille(covariance: u128, spread_a: u128, spread_m: u128) -> u32 {
    if spread_m == 0 {
        return 1000;
    }
    let explained = |p: u32| {
        let (left, right) = (wide(u128::from(2 * p - 1) * spread_a), wide(2000 * covariance));
        compare_products(left, wide(spread_m), right, wide(covariance)) != Ordering::Greater
    };
    (1..=1000).take_while(|&p| explained(p)).last().unwrap_or(0)
}

/// Converts a number below 2^95 to the firmware's wide integer.
fn wide(value: u128) -> U96 {
    const LOW_BITS: u32 = 31;
    let (high, low) = ((value >> LOW_BITS) as u64, value as u64 & ((1 << LOW_BITS) - 1));
    U96::product(high, 1_u32 << LOW_BITS).saturating_add(U96::from(low))
}

/// Returns the quotient by a positive divisor, rounded to the nearest; halves away from zero.
fn round_div(dividend: i128, divisor: i128) -> i128 {
    let magnitude = (dividend.unsigned_abs() + divisor.unsigned_abs() / 2) / divisor.unsigned_abs();
    if dividend < 0 { -(magnitude as i128) } else { magnitude as i128 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn samples(points: &[(u32, u32)]) -> Vec<StallSample> {
        points.iter().map(|&(outstanding_misses, memory_stall_cycles)| StallSample { outstanding_misses, memory_stall_cycles }).collect()
    }

    #[test]
    fn a_population_worked_out_by_hand() {
        // n = 5, sums A 15, M 20, AA 55, AM 66, MM 86: covariance 330 - 300 = 30, spreads 275 - 225
        // = 50 and 430 - 400 = 30. Slope 30 / 50 = 0.6, intercept 4 - 0.6 * 3 = 2.2, R2 = 900 /
        // 1500 = 0.6.
        let line = fit(&samples(&[(1, 2), (2, 4), (3, 5), (4, 4), (5, 5)])).unwrap();
        assert_eq!(line, Line { slope_q16: 39_322, intercept: 2, r2_permille: 600 });
    }

    #[test]
    fn a_falling_line_has_a_negative_slope() {
        let line = fit(&samples(&[(0, 10), (2, 9), (4, 8)])).unwrap();
        assert_eq!(line, Line { slope_q16: -(1 << 15), intercept: 10, r2_permille: 1000 });
    }

    #[test]
    fn without_a_difference_there_is_no_line() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&samples(&[(7, 1), (7, 3)])), None);
        assert_eq!(fit(&samples(&[(7, 3), (9, 3)])).unwrap(), Line { slope_q16: 0, intercept: 3, r2_permille: 1000 });
    }

    #[test]
    fn the_largest_counters_fit() {
        let (a, m) = ((1 << 25) - 1, (1 << 17) - 1);
        let line = fit(&samples(&[[(0, 0), (a, m)].as_slice(); MOST_SAMPLES / 2].concat())).unwrap();
        // (2^17 - 1) / (2^25 - 1) is about 2^-8 minus 3e-8.
        assert_eq!(line, Line { slope_q16: 256, intercept: 0, r2_permille: 1000 });
    }

    proptest! {
        /// Points on a line yield that line in any order.
        #[test]
        fn points_on_a_line_give_the_line(slope in 0_u32..100, intercept in 0_u32..1000, xs in proptest::collection::vec(0_u32..1000, 2..50)) {
            prop_assume!(xs.iter().any(|x| *x != xs[0]));
            let points: Vec<(u32, u32)> = xs.iter().map(|&x| (x, slope * x + intercept)).collect();
            let line = fit(&samples(&points)).unwrap();
            prop_assert_eq!(line, Line { slope_q16: i64::from(slope) << 16, intercept: intercept.into(), r2_permille: 1000 });
        }

        /// The residuals of least squares sum to zero and are orthogonal to A, here to within
        /// rounding. Moving the slope either way by more than its rounding leaves a larger sum of
        /// squares.
        #[test]
        fn no_other_slope_leaves_less(points in proptest::collection::vec((0_u32..5000, 0_u32..5000), 3..40)) {
            prop_assume!(points.iter().any(|p| p.0 != points[0].0));
            let line = fit(&samples(&points)).unwrap();
            let n = points.len() as f64;
            let mean = |of: fn(&(u32, u32)) -> u32| points.iter().map(|p| f64::from(of(p))).sum::<f64>() / n;
            let (mean_a, mean_m) = (mean(|p| p.0), mean(|p| p.1));
            let squares = |slope: f64| points.iter().map(|p| {
                (f64::from(p.1) - mean_m - slope * (f64::from(p.0) - mean_a)).powi(2)
            }).sum::<f64>();
            let slope = line.slope_q16 as f64 / 65_536.0;
            let step = 2.0 / 65_536.0;
            prop_assert!(squares(slope) <= squares(slope + step) && squares(slope) <= squares(slope - step));
            let r2 = 1.0 - squares(slope) / squares(0.0).max(f64::MIN_POSITIVE);
            prop_assert!(squares(0.0) == 0.0 || (r2 * 1000.0 - f64::from(line.r2_permille)).abs() < 0.51);
        }
    }
}
