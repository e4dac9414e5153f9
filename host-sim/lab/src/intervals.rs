//! Intervals of numbers derived from estimates: from the interval of each to that of the result.
//!
//! Every metric of a shared run is monotone in each IPC, so that its extremes lie where all IPCs
//! are at an end of their intervals. That is wider than 95 % for independent errors, and never too
//! narrow for correlated ones.

use crate::metrics::{self, Metrics};

/// Number with half of its interval; 0 if it is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimated {
    /// Center of the interval.
    pub value: f64,
    /// Half of the length of the interval, in the unit of the value.
    pub half_width: f64,
}

impl Estimated {
    /// Creates an exact number.
    pub fn exact(value: f64) -> Self {
        Estimated { value, half_width: 0.0 }
    }

    /// Returns the lower end, at least 0, since no count is negative.
    fn low(self) -> f64 {
        (self.value - self.half_width).max(0.0)
    }

    fn high(self) -> f64 {
        self.value + self.half_width
    }

    /// Returns whether the intervals are disjoint, so that the larger number is known.
    pub fn is_apart_from(self, other: Estimated) -> bool {
        (self.value - other.value).abs() > self.half_width + other.half_width
    }
}

/// Returns half-widths of the metrics of a shared run with these IPCs, against these isolated ones.
pub fn metrics(ipc: &[Estimated], alone: &[Estimated]) -> Metrics {
    let ends = |of: fn(Estimated) -> f64, numbers: &[Estimated]| numbers.iter().map(|number| of(*number)).collect::<Vec<f64>>();
    let [(ipc_low, alone_low), (ipc_mid, alone_mid), (ipc_high, alone_high)] =
        [Estimated::low, |number: Estimated| number.value, Estimated::high].map(|of| (ends(of, ipc), ends(of, alone)));
    let wide = |of: fn(&[f64], &[f64]) -> Option<f64>| {
        let middle = of(&ipc_mid, &alone_mid)?;
        // An undefined end is infinitely far.
        let far = |end: Option<f64>| end.map_or(f64::INFINITY, |end| (end - middle).abs());
        Some(far(of(&ipc_high, &alone_low)).max(far(of(&ipc_low, &alone_high))))
    };
    let fairness = || {
        let middle = metrics::fairness(&ipc_mid, &alone_mid)?;
        let (slow, fast) = (metrics::normalized(&ipc_low, &alone_high)?, metrics::normalized(&ipc_high, &alone_low)?);
        let least = |parts: &[f64]| parts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |parts: &[f64]| parts.iter().copied().fold(0.0, f64::max);
        let (low, high) = (least(&slow) / most(&fast), (least(&fast) / most(&slow)).min(1.0));
        Some((middle - low).max(high - middle))
    };
    Metrics { speedup: wide(metrics::speedup), stp: wide(metrics::stp), antt: wide(metrics::antt), fairness: fairness() }
}

/// Returns the half-width of the regret of a value against the best.
pub fn regret(value: Estimated, best: Estimated) -> Option<f64> {
    let middle = metrics::regret(Some(value.value), Some(best.value))?;
    let ends = [(value.low(), best.high()), (value.high(), best.low())];
    let far = |(value, best): (f64, f64)| metrics::regret(Some(value), Some(best)).map_or(f64::INFINITY, |end| (end - middle).abs());
    Some(far(ends[0]).max(far(ends[1])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_exact_stays_exact() {
        let (ipc, alone) = ([400.0, 150.0].map(Estimated::exact), [800.0, 200.0].map(Estimated::exact));
        let none = Some(0.0);
        assert_eq!(metrics(&ipc, &alone), Metrics { speedup: none, stp: none, antt: none, fairness: none });
        assert_eq!(regret(ipc[0], alone[0]), none);
        assert_eq!(metrics(&[], &[]), Metrics { speedup: None, stp: None, antt: None, fairness: None });
    }

    #[test]
    fn a_worked_example() {
        // 400 and 150 relative to 800 and 200, the first with a half-width of 40: STP 1.25 and
        // 0.05, S 1.1 and 0.08.
        let ipc = [Estimated { value: 400.0, half_width: 40.0 }, Estimated::exact(150.0)];
        let half = metrics(&ipc, &[800.0, 200.0].map(Estimated::exact));
        assert!(half.stp.is_some_and(|half| (half - 0.05).abs() < 1e-12) && half.speedup.is_some_and(|half| (half - 0.08).abs() < 1e-12));
        // Fairness 2/3: 0.45 to 0.55 over 0.75.
        assert!(half.fairness.is_some_and(|half| (half - 0.05 / 0.75).abs() < 1e-12));
    }

    fn numbers() -> impl Strategy<Value = Vec<(f64, f64, f64, f64, f64, f64)>> {
        prop::collection::vec((1.0f64..1000.0, 0.0f64..0.9, -1.0f64..1.0, 1.0f64..1000.0, 0.0f64..0.9, -1.0f64..1.0), 1..4)
    }

    proptest! {
        /// For any true IPCs within their intervals, every metric lies in its own.
        #[test]
        fn no_metric_leaves_its_interval(numbers in numbers()) {
            let estimated = |value: f64, wide: f64| Estimated { value, half_width: wide * value };
            let ipc: Vec<Estimated> = numbers.iter().map(|n| estimated(n.0, n.1)).collect();
            let alone: Vec<Estimated> = numbers.iter().map(|n| estimated(n.3, n.4)).collect();
            let middle = |numbers: &[Estimated]| numbers.iter().map(|number| number.value).collect::<Vec<f64>>();
            let half = metrics(&ipc, &alone);
            let told = Metrics::of(&middle(&ipc), &middle(&alone));
            let true_ipc: Vec<f64> = numbers.iter().map(|n| n.0 * (1.0 + n.1 * n.2)).collect();
            let true_alone: Vec<f64> = numbers.iter().map(|n| n.3 * (1.0 + n.4 * n.5)).collect();
            let truth = Metrics::of(&true_ipc, &true_alone);
            for (told, truth, half) in [
                (told.speedup, truth.speedup, half.speedup),
                (told.stp, truth.stp, half.stp),
                (told.antt, truth.antt, half.antt),
                (told.fairness, truth.fairness, half.fairness),
            ] {
                let (told, truth, half) = (told.unwrap(), truth.unwrap(), half.unwrap());
                prop_assert!((told - truth).abs() <= half * (1.0 + 1e-9) + 1e-9, "{told} {truth} {half}");
            }
            let (a, b) = (ipc[0], alone[0]);
            let (told, truth) = (1.0 - a.value / b.value, 1.0 - true_ipc[0] / true_alone[0]);
            prop_assert!((told - truth).abs() <= regret(a, b).unwrap() * (1.0 + 1e-9) + 1e-9);
        }
    }
}
