//! Metrics of normalized progress, the rate in a shared run over the isolated rate, as in the
//! metrics and statistics of `mias-lab`. Definitions: docs/reference/glossary.md, and sources.md
//! D208 for progress on hardware.

use mias_lab::evaluate::statistics::{Concordance, arithmetic};
use mias_lab::metrics;

pub use mias_lab::evaluate::statistics::spearman;

/// Returns the sum of normalized progress.
pub fn stp(progress: &[f64]) -> f64 {
    metrics::stp(progress, &alone(progress)).unwrap_or(f64::NAN)
}

/// Returns the mean slowdown of the kernels; infinite if one makes no progress.
pub fn antt(progress: &[f64]) -> f64 {
    metrics::antt(progress, &alone(progress)).unwrap_or(f64::INFINITY)
}

/// Returns the smallest over the largest progress.
pub fn fairness(progress: &[f64]) -> f64 {
    metrics::fairness(progress, &alone(progress)).unwrap_or(f64::NAN)
}

/// Returns the thesis' speedup: the sum of IPCs over the mean of the isolated ones. `ipc` is
/// isolated, and `progress` is its remaining part.
pub fn speedup(progress: &[f64], ipc: &[f64]) -> f64 {
    let together: Vec<f64> = progress.iter().zip(ipc).map(|(progress, ipc)| progress * ipc).collect();
    metrics::speedup(&together, ipc).unwrap_or(f64::NAN)
}

/// Returns the index of the largest value, the first of equals.
pub fn best(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|best, other| if values[other] > values[best] { other } else { best })
}

/// Returns the loss of a value relative to the largest of `values`: 1 - value / largest.
pub fn regret(value: f64, values: &[f64]) -> f64 {
    metrics::regret(Some(value), best(values).map(|place| values[place])).unwrap_or(f64::NAN)
}

/// Returns the mean; none of an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    arithmetic(values)
}

/// Returns Kendall's tau-b (Kendall 1945): 1 for the same order, -1 for the opposite; none if
/// either has no order.
pub fn tau_b(first: &[f64], second: &[f64]) -> Option<f64> {
    Concordance::of(first, second).tau_b()
}

/// Returns the isolated progress, which is 1 each.
fn alone(progress: &[f64]) -> Vec<f64> {
    vec![1.0; progress.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn two_kernels_at_half_their_speed_do_the_work_of_one_after_the_other() {
        let progress = [0.5, 0.5];
        assert!(close(stp(&progress), 1.0) && close(antt(&progress), 2.0) && close(fairness(&progress), 1.0));
        assert!(close(speedup(&progress, &[10.0, 30.0]), 1.0));
        // Only the faster of 30 and 10: S is 2 r / (1 + r) with r = 3, the S_null of the glossary.
        assert!(close(speedup(&[0.0, 1.0], &[10.0, 30.0]), 1.5));
        assert!(close(fairness(&[0.25, 1.0]), 0.25) && close(antt(&[0.25, 1.0]), 2.5));
    }

    #[test]
    fn orders_that_agree_have_no_regret_and_are_one() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]);
        assert_eq!((tau_b(&a, &b), spearman(&a, &b)), (Some(1.0), Some(1.0)));
        assert_eq!(best(&a).map(|place| regret(b[place], &b)), Some(0.0));
        let reversed: Vec<f64> = b.iter().rev().copied().collect();
        assert_eq!((tau_b(&a, &reversed), spearman(&a, &reversed)), (Some(-1.0), Some(-1.0)));
        assert_eq!(best(&a).map(|place| regret(reversed[place], &reversed)), Some(0.75));
    }

    #[test]
    fn one_exchange_of_four_and_ties() {
        // Five pairs of six agree, one does not: 4/6. Ranks differ by 1 twice: 1 - 6 * 2 / (4 *
        // 15).
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]);
        assert!(close(tau_b(&a, &b).unwrap(), 4.0 / 6.0) && close(spearman(&a, &b).unwrap(), 0.8));
        // Two of three pairs are in order by the first, all three by the second.
        assert!(close(tau_b(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap(), 2.0 / 6.0_f64.sqrt()));
        assert_eq!((tau_b(&[1.0, 1.0], &[1.0, 2.0]), spearman(&[1.0], &[1.0]), best(&[]), mean(&[])), (None, None, None, None));
    }
}
