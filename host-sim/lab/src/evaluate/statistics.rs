//! Means, quartiles and rank correlations; `None` if undefined: without values, for nonfinite
//! values, for equal ranks.

use std::cmp::Ordering;

/// Returns the arithmetic mean.
pub fn arithmetic(values: &[f64]) -> Option<f64> {
    let all_finite = values.iter().all(|value| value.is_finite());
    (!values.is_empty() && all_finite).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the geometric mean; all values must be positive.
pub fn geometric(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    arithmetic(&logarithms).map(f64::exp)
}

/// Returns the lower and the upper quartile, with linear interpolation: definition 7 of Hyndman and
/// Fan (1996), as in R and NumPy.
pub fn quartiles(values: &[f64]) -> Option<(f64, f64)> {
    arithmetic(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let place = part * (sorted.len() - 1) as f64;
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        below + (place - place.floor()) * (above - below)
    };
    Some((at(0.25), at(0.75)))
}

/// Agreement of two lists of values in the order of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concordance {
    /// Number of pairs ordered alike.
    pub concordant: u64,
    /// Number of pairs in opposite order.
    pub discordant: u64,
    /// Number of pairs equal in the first list only.
    pub tied_first: u64,
    /// Number of pairs equal in the second list only.
    pub tied_second: u64,
}

impl Concordance {
    /// Counts the pairs of two lists of the same length.
    pub fn of(first: &[f64], second: &[f64]) -> Self {
        let mut counts = Concordance::default();
        let both: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
        for (at, a) in both.iter().enumerate() {
            for b in &both[at + 1..] {
                match (a.0.total_cmp(&b.0), a.1.total_cmp(&b.1)) {
                    (Ordering::Equal, Ordering::Equal) => {}
                    (Ordering::Equal, _) => counts.tied_first += 1,
                    (_, Ordering::Equal) => counts.tied_second += 1,
                    (x, y) if x == y => counts.concordant += 1,
                    _ => counts.discordant += 1,
                }
            }
        }
        counts
    }

    /// Returns the sum of both counts.
    #[must_use]
    pub fn plus(self, other: Concordance) -> Self {
        Concordance {
            concordant: self.concordant + other.concordant,
            discordant: self.discordant + other.discordant,
            tied_first: self.tied_first + other.tied_first,
            tied_second: self.tied_second + other.tied_second,
        }
    }

    /// Returns Kendall's tau-b (Kendall 1945): 1 for the same order, -1 for the opposite.
    pub fn tau_b(self) -> Option<f64> {
        let ordered = (self.concordant + self.discordant) as f64;
        let product = (ordered + self.tied_first as f64) * (ordered + self.tied_second as f64);
        (product > 0.0).then(|| (self.concordant as f64 - self.discordant as f64) / product.sqrt())
    }

    /// Returns Goodman and Kruskal's gamma (1954), which ignores ties: the difference of concordant
    /// and discordant pairs over their sum, from -1 to 1.
    pub fn gamma(self) -> Option<f64> {
        let ordered = self.concordant + self.discordant;
        (ordered > 0).then(|| (self.concordant as f64 - self.discordant as f64) / ordered as f64)
    }
}

/// Returns Spearman's rho: the correlation of ranks; equal values share the mean of their ranks.
pub fn spearman(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.len() != second.len() {
        return None;
    }
    let (a, b) = (ranks(first), ranks(second));
    let (mean_a, mean_b) = (arithmetic(&a)?, arithmetic(&b)?);
    let sum = |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(&a, &b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let spread = sum(&|a, _| a * a) * sum(&|_, b| b * b);
    (spread > 0.0).then(|| sum(&|a, b| a * b) / spread.sqrt())
}

/// Returns the rank of each value, from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64, order: Ordering| values.iter().filter(|other| other.total_cmp(&value) == order).count() as f64;
    values.iter().map(|&value| below(value, Ordering::Less) + (below(value, Ordering::Equal) + 1.0) / 2.0).collect()
}

/// Returns the threshold that best separates values for which something holds from the others:
/// halfway between two values, the lowest of equally good ones; `None` without values.
pub fn threshold(values: &[(f64, bool)]) -> Option<f64> {
    let mut shares: Vec<f64> = values.iter().map(|value| value.0).collect();
    shares.sort_by(f64::total_cmp);
    shares.last()?;
    let between = shares.windows(2).map(|two| f64::midpoint(two[0], two[1]));
    let all = std::iter::once(0.0).chain(between).chain(shares.last().copied());
    let right = |threshold: f64| values.iter().filter(|&&(value, holds)| (value > threshold) == holds).count();
    all.map(|threshold| (right(threshold), threshold))
        .fold(None, |best: Option<(usize, f64)>, one| match best {
            Some(best) if best.0 >= one.0 => Some(best),
            _ => Some(one),
        })
        .map(|best| best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between 0.1 and 0.5, the value 0.6 is wrong; above 0.6, the value 0.5 is. The lower
    /// threshold is chosen.
    #[test]
    fn a_threshold_is_the_lowest_that_is_best() {
        assert_eq!(threshold(&[(0.1, false), (0.6, false), (0.5, true), (0.9, true)]), Some(0.3));
        assert_eq!(threshold(&[]), None);
    }
    use proptest::prelude::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    #[test]
    fn worked_examples() {
        assert!(close(arithmetic(&[1.0, 2.0, 6.0]), 3.0));
        assert!(close(geometric(&[1.0, 2.0, 4.0]), 2.0));
        // NumPy: quantile([1, 2, 3, 10], [0.25, 0.75]) is [1.75, 4.75].
        assert_eq!(quartiles(&[10.0, 2.0, 3.0, 1.0]), Some((1.75, 4.75)));
        assert_eq!(quartiles(&[5.0]), Some((5.0, 5.0)));
        // 1-2, 1-3, 1-4, 2-4, 3-4 concordant, 2-3 discordant.
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]);
        let counts = Concordance { concordant: 5, discordant: 1, tied_first: 0, tied_second: 0 };
        assert_eq!(Concordance::of(&a, &b), counts);
        assert!(close(counts.tau_b(), 4.0 / 6.0) && close(counts.gamma(), 4.0 / 6.0));
        // 1 - 6 * 2 / (4 * 15).
        assert!(close(spearman(&a, &b), 0.8));
        // One tie in the first: (2 - 0) / sqrt((2 + 1) * 2).
        let tied = Concordance::of(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]);
        assert_eq!(tied, Concordance { concordant: 2, discordant: 0, tied_first: 1, tied_second: 0 });
        assert!(close(tied.tau_b(), 2.0 / 6.0_f64.sqrt()) && close(tied.gamma(), 1.0));
        // Ranks 1.5, 1.5, 3 and 1, 2, 3: covariance 1.5, squares 1.5 and 2.
        assert!(close(spearman(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]), 1.5 / 3.0_f64.sqrt()));
    }

    #[test]
    fn what_does_not_exist_is_none() {
        assert_eq!(arithmetic(&[]), None);
        assert_eq!(arithmetic(&[f64::NAN]), None);
        assert_eq!([quartiles(&[]), quartiles(&[1.0, f64::NAN])], [None, None]);
        assert_eq!(geometric(&[0.0, 1.0]), None);
        assert_eq!(geometric(&[-1.0]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(Concordance::of(&[1.0, 1.0], &[1.0, 2.0]).tau_b(), None);
        assert_eq!(Concordance::default().gamma(), None);
    }

    fn distinct() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::btree_set(-1000i32..1000, 2..12).prop_map(|set| set.into_iter().map(f64::from).collect::<Vec<_>>()).prop_shuffle()
    }

    proptest! {
        /// The same order is 1, the opposite -1, whatever the values.
        #[test]
        fn equal_and_opposite_orders(values in distinct()) {
            let cubes: Vec<f64> = values.iter().map(|v| v * v * v).collect();
            let opposite: Vec<f64> = values.iter().map(|v| -v).collect();
            for (other, expected) in [(&cubes, 1.0), (&opposite, -1.0)] {
                prop_assert!(close(Concordance::of(&values, other).tau_b(), expected));
                prop_assert!(close(Concordance::of(&values, other).gamma(), expected));
                prop_assert!(close(spearman(&values, other), expected));
            }
        }

        #[test]
        fn correlations_are_symmetric_and_bounded(pairs in prop::collection::vec((0u8..6, 0u8..6), 2..10)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            prop_assert_eq!(Concordance::of(&a, &b).tau_b(), Concordance::of(&b, &a).tau_b());
            for value in [Concordance::of(&a, &b).tau_b(), spearman(&a, &b)].into_iter().flatten() {
                prop_assert!((-1.0 - 1e-12..=1.0 + 1e-12).contains(&value));
            }
        }

        /// Quartiles are a quarter of the n - 1 steps from either end, so at most that many values,
        /// rounded up, lie beyond either.
        #[test]
        fn beyond_quartiles_is_a_quarter(values in prop::collection::vec(-10f64..10.0, 1..30)) {
            let (low, high) = quartiles(&values).unwrap();
            let most = (values.len() - 1).div_ceil(4);
            let (below, above) = (values.iter().filter(|value| **value < low).count(), values.iter().filter(|value| **value > high).count());
            prop_assert!(low <= high && below <= most && above <= most, "{below} below, {above} above");
        }

        #[test]
        fn the_geometric_mean_is_no_larger(values in prop::collection::vec(0.01f64..100.0, 1..10)) {
            prop_assert!(geometric(&values).unwrap() <= arithmetic(&values).unwrap() + 1e-9);
        }
    }
}
