//! Confidence interval of the mean of a steady series from one stretch of it, by batch means.
//!
//! MSER (White 1997) removes the warm-up. It chooses the start from which the mean of the rest has
//! the smallest standard error, within the first half of the series. The variance of the mean is
//! that of the batches, widened by their lag-1 autocorrelation, as of a first-order process.
//! Variation longer than a batch, such as a grid whose TBs differ, makes batches differ and widens
//! the interval.

/// Minimum number of batches for a rate (Schmeiser 1982 finds 10 to 30 sufficient, and more of no
/// use).
pub(super) const LEAST_BATCHES: usize = 20;

/// Two-sided 95 % points of Student's t with 19 to 39 degrees of freedom; beyond, that of 39 is
/// conservative.
const T_95: [f64; 21] = [
    2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042, 2.040, 2.037, 2.035, 2.032, 2.030, 2.028, 2.026,
    2.024, 2.023,
];

/// Maximum autocorrelation that is accepted: above it, batches are too short for an estimate.
const MOST_CORRELATION: f64 = 0.9;

/// Returns the number of warm-up batches to drop; `None` if that is at least half of them.
pub(super) fn warm_up(batches: &[f64]) -> Option<usize> {
    let mut least: Option<(f64, usize)> = None;
    for start in 0..=batches.len() / 2 {
        let rest = &batches[start..];
        let error = squares(rest) / (rest.len() as f64 * rest.len() as f64);
        if least.is_none_or(|(least, _)| error < least) {
            least = Some((error, start));
        }
    }
    least.map(|(_, start)| start).filter(|&start| 2 * start < batches.len())
}

/// Returns the half-width of the 95 % interval of the sum of the next `rest` batches (may be
/// fractional), if the series continues unchanged. `None` if there are too few batches, or their
/// autocorrelation is too large.
pub(super) fn half_width(batches: &[f64], rest: f64) -> Option<f64> {
    if batches.len() < LEAST_BATCHES {
        return None;
    }
    let count = batches.len() as f64;
    let squares = squares(batches);
    if squares <= 0.0 {
        return Some(0.0);
    }
    let mean = mean(batches);
    let together: f64 = batches.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    let correlation = (together / squares).max(0.0);
    if correlation > MOST_CORRELATION {
        return None;
    }
    let variance = squares / (count - 1.0) * (1.0 + correlation) / (1.0 - correlation);
    let t = T_95[(batches.len() - LEAST_BATCHES).min(T_95.len() - 1)];
    // A slow drift looks steady in a short stretch. The difference of the halves is assumed to
    // continue in either direction.
    let (early, late) = batches.split_at(batches.len() / 2);
    let drift = (self::mean(early) - self::mean(late)).abs() / 2.0;
    // Both the mean of these batches and that of the next deviate from the mean of the process.
    Some(t * (variance * (rest + rest * rest / count)).sqrt() + drift * rest)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the sum of squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates pseudorandom numbers of mean 0 and variance 1/12 (a linear congruential generator,
    /// Knuth 1997, MMIX's constants).
    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        let next = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some((*state >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
        };
        std::iter::successors(Some(seed), |_| None)
            .flat_map(move |seed| std::iter::repeat(()).scan(seed, move |state, ()| next(state)).skip(8))
    }

    #[test]
    fn a_constant_is_known() {
        assert_eq!((warm_up(&[7.0; 30]), half_width(&[7.0; 30], 1000.0)), (Some(0), Some(0.0)));
        assert_eq!(half_width(&[7.0; LEAST_BATCHES - 1], 1.0), None);
    }

    #[test]
    fn a_worked_example() {
        // 20 batches, 0 and 2 alternating: mean 1, variance 20/19, negative correlation. t(19) =
        // 2.093; 5 more batches: 5 + 25/20 = 6.25.
        let batches: Vec<f64> = (0..20).map(|at| if at % 2 == 0 { 0.0 } else { 2.0 }).collect();
        let expected = 2.093 * (20.0 / 19.0 * 6.25f64).sqrt();
        assert!(half_width(&batches, 5.0).is_some_and(|half| (half - expected).abs() < 1e-9));
    }

    #[test]
    fn what_drifts_is_not_known() {
        let ramp: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(warm_up(&ramp), None);
        // The lag-1 autocorrelation of a ramp of n is slightly below 1 - 3/n: 0.93.
        assert_eq!(half_width(&ramp, 1.0), None);
    }

    #[test]
    fn a_warm_up_is_left_out() {
        let steps: Vec<f64> = (0..40).map(|at| if at < 7 { 0.0 } else { 10.0 + f64::from(at % 2) }).collect();
        assert_eq!(warm_up(&steps), Some(7));
    }

    /// For independent noise and for noise with correlation one half, at least 95 % of intervals
    /// cover the next sum. The drift term widens them. Two margins apply: a standard error of 0.5 %
    /// for 2,000 tries, and the cost of an estimated correlation of 40 batches.
    #[test]
    fn intervals_cover() {
        for (common, least) in [(0.0, 0.93), (0.5, 0.88)] {
            let mut held = 0;
            for seed in 0..2000 {
                let series: Vec<f64> = noise(seed)
                    .scan(0.0, |state, noise| {
                        *state = common * *state + noise;
                        Some(*state)
                    })
                    .skip(20)
                    .take(200)
                    .collect();
                let (seen, next) = series.split_at(40);
                let expected = mean(seen) * next.len() as f64;
                let half = half_width(seen, next.len() as f64).unwrap_or(f64::INFINITY);
                held += usize::from((next.iter().sum::<f64>() - expected).abs() <= half);
            }
            let coverage = held as f64 / 2000.0;
            assert!((least..=0.999).contains(&coverage), "{common}: {coverage}");
        }
    }

    proptest! {
        /// The half-width scales with the unit, and grows with the length to come.
        #[test]
        fn scales(batches in prop::collection::vec(0.0f64..1000.0, LEAST_BATCHES..60), factor in 0.01f64..100.0, rest in 1.0f64..500.0) {
            let scaled: Vec<f64> = batches.iter().map(|value| value * factor).collect();
            let (one, other) = (half_width(&batches, rest), half_width(&scaled, rest));
            prop_assert_eq!(one.is_some(), other.is_some());
            if let (Some(one), Some(other), Some(more)) = (one, other, half_width(&batches, 2.0 * rest)) {
                prop_assert!((one * factor - other).abs() <= 1e-9 * other.max(1e-9));
                prop_assert!(more >= one);
            }
        }
    }
}
