//! Paired comparison of two policies on the same groups (own; sources.md D189). It gives the
//! geometric mean of their ratios, and its 95 % interval by Student's t on the logarithms.
//!
//! Pairing removes the differences between groups. Groups with a common kernel are not independent,
//! which the interval ignores: it is too narrow if one kernel decides.

use super::statistics::{arithmetic, geometric};
use crate::table::change;

/// Two-sided 95 % points of Student's t with 1 to 30 degrees of freedom; beyond, that of 30 is
/// conservative.
const T_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
    2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Ratio of two policies over groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Number of groups.
    pub count: usize,
    /// Geometric mean of the ratios.
    pub mean: f64,
    /// Ends of the 95 % interval of the mean; `None` for a single group.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// Computes the ratio of paired values, all positive; `None` without pairs, or if a value is
    /// not positive.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let ratios: Vec<f64> = pairs.iter().map(|(value, other)| value / other).collect();
        if !ratios.iter().all(|ratio| *ratio > 0.0) {
            return None;
        }
        let (count, mean) = (ratios.len(), geometric(&ratios)?);
        let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        let middle = arithmetic(&logarithms)?;
        let squares: f64 = logarithms.iter().map(|value| (value - middle).powi(2)).sum();
        let interval = count.checked_sub(2).map(|at| {
            let freedom = (count - 1) as f64;
            let half = T_95[at.min(T_95.len() - 1)] * (squares / freedom / count as f64).sqrt();
            ((middle - half).exp(), (middle + half).exp())
        });
        Some(Ratio { count, mean, interval })
    }

    /// Formats as a change, with a question mark unless the interval excludes 1.
    pub fn told(&self) -> String {
        format!("{}{}", change(self.mean), if self.is_apart_from_one() { "" } else { " ?" })
    }

    /// Returns whether the interval excludes 1.
    pub fn is_apart_from_one(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ratios 1, 2 and 4: logarithms 0, ln 2 and 2 ln 2 with a deviation of ln 2. t of two degrees
    /// of freedom is 4.303, over the root of 3.
    #[test]
    fn a_worked_example() {
        let ratio = Ratio::of(&[(1.0, 1.0), (6.0, 3.0), (2.0, 0.5)]).unwrap();
        let half = 4.303 * 2f64.ln() / 3f64.sqrt();
        let (low, high) = ratio.interval.unwrap();
        assert!(ratio.count == 3 && (ratio.mean - 2.0).abs() < 1e-12);
        assert!((low - 2.0 * (-half).exp()).abs() < 1e-9 && (high - 2.0 * half.exp()).abs() < 1e-9, "{low} {high}");
        assert!(!ratio.is_apart_from_one());
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        assert_eq!([Ratio::of(&[]), Ratio::of(&[(0.0, 1.0)]), Ratio::of(&[(1.0, 0.0), (1.0, 1.0)])], [None; 3]);
        assert_eq!(Ratio::of(&[(3.0, 2.0)]), Some(Ratio { count: 1, mean: 1.5, interval: None }));
        let same = Ratio::of(&[(1.1, 1.0); 4]).unwrap();
        assert!(same.is_apart_from_one() && same.interval.is_some_and(|(low, high)| (high - low).abs() < 1e-9));
    }

    /// Coverage of the interval over 24 groups with approximately normal logarithms (the sum of 12
    /// uniform numbers less 6).
    #[test]
    fn intervals_cover() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let covered = (0..2_000).filter(|_| {
            let mut pair = || (0.1 * (0..12).map(|_| uniform()).sum::<f64>() - 0.6).exp() * 1.2;
            let pairs: Vec<(f64, f64)> = (0..24).map(|_| (pair(), 1.0)).collect();
            Ratio::of(&pairs).and_then(|ratio| ratio.interval).is_some_and(|(low, high)| (low..=high).contains(&1.2))
        });
        // 95 % of 2,000 with a deviation of 9.7; the margin is four deviations.
        let covered = covered.count();
        assert!((1_861..=1_939).contains(&covered), "{covered}");
    }

    proptest! {
        /// Swapping inverts the ratio and its interval. The interval contains the mean. A common
        /// factor has no effect.
        #[test]
        fn inverse_and_unit_free(pairs in prop::collection::vec((0.1f64..10.0, 0.1f64..10.0), 2..40), unit in 0.01f64..100.0) {
            let ratio = Ratio::of(&pairs).unwrap();
            let turned = Ratio::of(&pairs.iter().map(|(value, other)| (*other, *value)).collect::<Vec<_>>()).unwrap();
            let scaled = Ratio::of(&pairs.iter().map(|(value, other)| (unit * value, unit * other)).collect::<Vec<_>>()).unwrap();
            let ((low, high), (other_low, other_high)) = (ratio.interval.unwrap(), turned.interval.unwrap());
            prop_assert!(low <= ratio.mean && ratio.mean <= high);
            prop_assert!((ratio.mean * turned.mean - 1.0).abs() < 1e-9 && (low * other_high - 1.0).abs() < 1e-9);
            prop_assert!((high * other_low - 1.0).abs() < 1e-9 && (scaled.mean / ratio.mean - 1.0).abs() < 1e-9);
        }
    }
}
