//! Metrics of a shared run against isolated runs (sources.md D1 to D4).
//!
//! `ipc[k]` is kernel k's instructions per cycle in the shared run, `isolated[k]` its instructions
//! per cycle alone on the whole GPU over the same window. Every function returns `None` if the
//! quantity is undefined: no kernel, slices of different length, an isolated IPC that is not
//! positive, an IPC that is negative or not finite.

/// Metrics of one shared run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Speedup S of the thesis: sum of IPCs / mean isolated IPC.
    pub speedup: Option<f64>,
    /// System throughput (weighted speedup): sum of normalized IPCs; the speedup over sequential
    /// execution of the same work.
    pub stp: Option<f64>,
    /// Average normalized turnaround time, at least 1 if nothing runs faster than alone; `None` if
    /// a kernel made no progress.
    pub antt: Option<f64>,
    /// Fairness: smallest / largest normalized IPC, 0..=1.
    pub fairness: Option<f64>,
}

impl Metrics {
    /// Computes all metrics of a shared run.
    pub fn of(ipc: &[f64], isolated: &[f64]) -> Self {
        Metrics { speedup: speedup(ipc, isolated), stp: stp(ipc, isolated), antt: antt(ipc, isolated), fairness: fairness(ipc, isolated) }
    }
}

/// Returns IPC over isolated IPC, per kernel.
pub fn normalized(ipc: &[f64], isolated: &[f64]) -> Option<Vec<f64>> {
    let valid = |(&ipc, &alone): (&f64, &f64)| ipc.is_finite() && ipc >= 0.0 && alone.is_finite() && alone > 0.0;
    if ipc.is_empty() || ipc.len() != isolated.len() || !ipc.iter().zip(isolated).all(valid) {
        return None;
    }
    Some(ipc.iter().zip(isolated).map(|(ipc, alone)| ipc / alone).collect())
}

/// Returns S = sum of IPCs / mean isolated IPC (Nasef 2023, eq. 4.1; sources.md D1).
pub fn speedup(ipc: &[f64], isolated: &[f64]) -> Option<f64> {
    normalized(ipc, isolated)?;
    Some(ipc.iter().sum::<f64>() * ipc.len() as f64 / isolated.iter().sum::<f64>())
}

/// Returns S_null = largest isolated IPC / mean isolated IPC: S of running only the fastest kernel.
/// For two kernels with the ratio r of isolated IPCs it is 2r/(1+r).
pub fn null_speedup(isolated: &[f64]) -> Option<f64> {
    let fastest = isolated.iter().copied().fold(0.0, f64::max);
    let mut only_fastest = vec![0.0; isolated.len()];
    *only_fastest.get_mut(isolated.iter().position(|&alone| alone == fastest)?)? = fastest;
    speedup(&only_fastest, isolated)
}

/// Returns STP = sum of normalized IPCs (Eyerman and Eeckhout 2008).
pub fn stp(ipc: &[f64], isolated: &[f64]) -> Option<f64> {
    Some(normalized(ipc, isolated)?.iter().sum())
}

/// Returns ANTT = mean of 1 / normalized IPC (Eyerman and Eeckhout 2008).
pub fn antt(ipc: &[f64], isolated: &[f64]) -> Option<f64> {
    let progress = normalized(ipc, isolated)?;
    if progress.contains(&0.0) {
        return None;
    }
    Some(progress.iter().map(|p| 1.0 / p).sum::<f64>() / progress.len() as f64)
}

/// Returns fairness = smallest / largest normalized IPC; `None` if no kernel made progress.
pub fn fairness(ipc: &[f64], isolated: &[f64]) -> Option<f64> {
    let progress = normalized(ipc, isolated)?;
    let least = progress.iter().copied().fold(f64::INFINITY, f64::min);
    let most = progress.iter().copied().fold(0.0, f64::max);
    if most > 0.0 { Some(least / most) } else { None }
}

/// Returns regret = 1 - value / best; `None` if there is no positive best. Negative if the value
/// exceeds the sweep's best.
pub fn regret(value: Option<f64>, best: Option<f64>) -> Option<f64> {
    match (value, best) {
        (Some(value), Some(best)) if best > 0.0 => Some(1.0 - value / best),
        _ => None,
    }
}

/// Returns the ratio of two counts; `None` if the divisor is 0.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EPSILON: f64 = 1e-9;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() <= EPSILON * b.abs().max(1.0))
    }

    #[test]
    fn a_worked_example() {
        // A keeps half of 800, B keeps three quarters of 200.
        let (ipc, alone) = ([400.0, 150.0], [800.0, 200.0]);
        assert!(close(speedup(&ipc, &alone), 1.1));
        assert!(close(stp(&ipc, &alone), 1.25));
        assert!(close(antt(&ipc, &alone), (2.0 + 4.0 / 3.0) / 2.0));
        assert!(close(fairness(&ipc, &alone), 2.0 / 3.0));
        assert!(close(null_speedup(&alone), 1.6));
    }

    #[test]
    fn the_null_policy_scores_what_the_thesis_reports_as_gain() {
        // sources.md D3: 1.43 at r = 2.5, 1.72 at r = 6.1.
        assert!(null_speedup(&[2.5, 1.0]).is_some_and(|s| (s - 1.43).abs() < 0.005));
        assert!(null_speedup(&[1.0, 6.1]).is_some_and(|s| (s - 1.72).abs() < 0.005));
    }

    #[test]
    fn what_does_not_exist_is_none() {
        assert_eq!(Metrics::of(&[], &[]), Metrics { speedup: None, stp: None, antt: None, fairness: None });
        assert_eq!(stp(&[1.0], &[0.0]), None);
        assert_eq!(stp(&[1.0, 1.0], &[1.0]), None);
        assert_eq!(stp(&[f64::NAN], &[1.0]), None);
        assert_eq!(null_speedup(&[]), None);
        let starved = Metrics::of(&[1.0, 0.0], &[1.0, 1.0]);
        assert_eq!((starved.antt, starved.fairness, starved.stp), (None, Some(0.0), Some(1.0)));
        assert_eq!(fairness(&[0.0, 0.0], &[1.0, 1.0]), None);
        assert_eq!(regret(Some(1.0), Some(0.0)), None);
        assert_eq!(regret(None, Some(1.0)), None);
        assert!(close(regret(Some(1.5), Some(2.0)), 0.25));
    }

    fn runs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        (1usize..5).prop_flat_map(|k| (prop::collection::vec(0.0f64..2000.0, k), prop::collection::vec(0.01f64..2000.0, k)))
    }

    proptest! {
        /// Item 45: an undisturbed application has progress 1, so K of them have STP K and ANTT 1.
        #[test]
        fn undisturbed_is_one_each((_, alone) in runs()) {
            let all = Metrics::of(&alone, &alone);
            prop_assert!(close(all.stp, alone.len() as f64));
            prop_assert!(close(all.antt, 1.0));
            prop_assert!(close(all.fairness, 1.0));
            prop_assert!(close(all.speedup, alone.len() as f64));
        }

        /// Item 45: STP <= K and ANTT >= 1 whenever no application runs faster than alone.
        #[test]
        fn slowed_runs_are_bounded((ipc, alone) in runs()) {
            let slowed: Vec<f64> = ipc.iter().zip(&alone).map(|(a, b)| a.min(*b)).collect();
            prop_assert!(stp(&slowed, &alone).unwrap() <= alone.len() as f64 + EPSILON);
            prop_assert!(antt(&slowed, &alone).is_none_or(|antt| antt >= 1.0 - EPSILON));
        }

        #[test]
        fn fairness_is_a_fraction((ipc, alone) in runs()) {
            prop_assert!(fairness(&ipc, &alone).is_none_or(|f| (0.0..=1.0).contains(&f)));
        }

        /// Item 45: S = K * (sum of IPCs / sum of isolated IPCs), for two kernels twice the ratio
        /// of the means.
        #[test]
        fn speedup_is_k_times_the_ratio_of_means((ipc, alone) in runs()) {
            let k = ipc.len() as f64;
            let mean = |v: &[f64]| v.iter().sum::<f64>() / k;
            prop_assert!(close(speedup(&ipc, &alone), k * mean(&ipc) / mean(&alone)));
        }

        /// S_null = 2r/(1+r) for two kernels, between 1 and K for any number.
        #[test]
        fn null_speedup_of_a_ratio(a in 0.01f64..2000.0, b in 0.01f64..2000.0, c in 0.01f64..2000.0) {
            let r = a.max(b) / a.min(b);
            prop_assert!(close(null_speedup(&[a, b]), 2.0 * r / (1.0 + r)));
            let three = null_speedup(&[a, b, c]).unwrap();
            prop_assert!((1.0 - EPSILON..=3.0).contains(&three));
        }

        /// Item 45: STP is the speedup over sequential execution of equal work: T * STP = sum of I
        /// / isolated IPC.
        #[test]
        fn stp_is_the_sequential_speedup((ipc, alone) in runs(), cycles in 1.0f64..1e7) {
            let in_sequence: f64 = ipc.iter().zip(&alone).map(|(ipc, alone)| ipc * cycles / alone).sum();
            prop_assert!(close(stp(&ipc, &alone), in_sequence / cycles));
        }

        /// Metrics do not depend on the order of the kernels.
        #[test]
        fn order_does_not_matter((ipc, alone) in runs()) {
            let backwards = |v: &[f64]| v.iter().rev().copied().collect::<Vec<_>>();
            let (a, b) = (Metrics::of(&ipc, &alone), Metrics::of(&backwards(&ipc), &backwards(&alone)));
            for (a, b) in [(a.speedup, b.speedup), (a.stp, b.stp), (a.antt, b.antt), (a.fairness, b.fairness)] {
                prop_assert!(a == b || close(a, b.unwrap_or(f64::NAN)));
            }
        }
    }
}
