//! What is made of rates: normalised progress, STP, ANTT, fairness (Eyerman and Eeckhout 2008), S (Nasef 2023), orders and regret. Definitions:
//! docs/glossary.md, and sources.md D208 for what progress on hardware is.

use std::cmp::Ordering;

/// Sum of normalised progress.
pub fn stp(progress: &[f64]) -> f64 {
    progress.iter().sum()
}

/// Mean of what each kernel is slowed by.
pub fn antt(progress: &[f64]) -> f64 {
    progress.iter().map(|progress| 1.0 / progress).sum::<f64>() / progress.len() as f64
}

/// Smallest over largest progress.
pub fn fairness(progress: &[f64]) -> f64 {
    let (low, high) = progress.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &one| (low.min(one), high.max(one)));
    low / high
}

/// The thesis' speedup: the sum of IPCs over the mean of those alone. `ipc` is alone, `progress` what is left of it.
pub fn speedup(progress: &[f64], ipc: &[f64]) -> f64 {
    let together: f64 = progress.iter().zip(ipc).map(|(progress, ipc)| progress * ipc).sum();
    together * ipc.len() as f64 / ipc.iter().sum::<f64>()
}

/// The place of the largest value, the first of equals.
pub fn best(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|best, other| if values[other] > values[best] { other } else { best })
}

/// What is lost by a value where there are these: 1 - value / largest.
pub fn regret(value: f64, values: &[f64]) -> f64 {
    1.0 - value / values.iter().copied().fold(f64::MIN, f64::max)
}

/// Mean; none of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Kendall's tau-b (Kendall 1945): 1 for the same order, -1 for the opposite; none if either has no order.
pub fn tau_b(first: &[f64], second: &[f64]) -> Option<f64> {
    let (mut balance, mut in_first, mut in_second) = (0.0, 0.0, 0.0);
    for (one, (a, b)) in first.iter().zip(second).enumerate() {
        for (c, d) in first.iter().zip(second).take(one) {
            let sign = |order: Ordering| f64::from(order as i8);
            let (by_first, by_second) = (sign(a.total_cmp(c)), sign(b.total_cmp(d)));
            balance += by_first * by_second;
            in_first += by_first * by_first;
            in_second += by_second * by_second;
        }
    }
    (in_first * in_second > 0.0).then(|| balance / f64::sqrt(in_first * in_second))
}

/// Spearman's rho: the correlation of ranks, equal values sharing the mean of theirs; none if either has no order.
pub fn spearman(first: &[f64], second: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(first), ranks(second));
    let (mean_a, mean_b) = (mean(&a)?, mean(&b)?);
    let sum = |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(&a, &b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let spread = sum(&|a, _| a * a) * sum(&|_, b| b * b);
    (spread > 0.0).then(|| sum(&|a, b| a * b) / spread.sqrt())
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let count = |value: f64, order: Ordering| values.iter().filter(|other| other.total_cmp(&value) == order).count() as f64;
    values.iter().map(|&value| count(value, Ordering::Less) + (count(value, Ordering::Equal) + 1.0) / 2.0).collect()
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
        // Five pairs of six alike, one not: 4/6. Ranks differ by 1 twice: 1 - 6 * 2 / (4 * 15).
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]);
        assert!(close(tau_b(&a, &b).unwrap(), 4.0 / 6.0) && close(spearman(&a, &b).unwrap(), 0.8));
        // Two of three pairs in order by the first, all three by the second.
        assert!(close(tau_b(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap(), 2.0 / 6.0_f64.sqrt()));
        assert_eq!((tau_b(&[1.0, 1.0], &[1.0, 2.0]), spearman(&[1.0], &[1.0]), best(&[]), mean(&[])), (None, None, None, None));
    }
}
