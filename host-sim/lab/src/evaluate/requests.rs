//! Results of placement requests: violations, overhead, draining and techniques, by scheme and
//! limit, for each kernel and over all of them (Shieh 2016, section 4; docs/results/shieh.md).

use super::results::is_zero;
use crate::experiment::requests::{Request, Requested};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the row over all kernels.
pub const ALL: &str = "all";

/// Quantile of the normal distribution for a 95 % interval.
const Z: f64 = 1.96;

/// Results of requests under one scheme with one limit, for one kernel or for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestsResult {
    /// Running kernel, or [`ALL`].
    pub kernel: String,
    /// Preemption scheme.
    pub scheme: String,
    /// Latency limit in core cycles.
    pub limit_cycles: u64,
    /// Number of requests.
    pub requests: usize,
    /// Fraction that missed the deadline, 0..=1; over all kernels the mean of theirs.
    pub violations: f64,
    /// Half of the length of its 95 % interval.
    pub violations_half_width: f64,
    /// Ends of that interval, within 0..=1 (Wilson 1927); over all kernels those of the mean,
    /// derived from each kernel's interval (Zou and Donner 2008). `None` in results of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violations_interval: Option<[f64; 2]>,
    /// Fraction in which the urgent kernel did not have all of its TBs within the limit, regardless
    /// of its end.
    pub late: f64,
    /// Mean cycles to the first TB of the urgent kernel, over requests that reached it.
    pub first_cycles: Option<f64>,
    /// Mean cycles to the last TB of the urgent kernel, over requests that reached it.
    pub full_cycles: Option<f64>,
    /// Instructions lost over the loss of flushing all victims; `None` without victims. Over all
    /// kernels the mean of theirs.
    pub overhead: Option<f64>,
    /// Difference between expected and actual draining time over the actual one; `None` if no
    /// victim with an estimate drained.
    pub drain_error: Option<f64>,
    /// Number of draining TBs without an estimate of their time, since no TB of their kernel had
    /// ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drains_not_estimated: u64,
    /// Mean fraction of registers held by TBs until the urgent kernel had all of its own; `None` if
    /// that took no time.
    pub registers: Option<f64>,
    /// Largest fraction of registers that TBs held at a request, before any preemption. Over all
    /// kernels the mean of theirs.
    #[serde(default)]
    pub registers_before: f64,
    /// Number of victims that drained, were flushed, were switched.
    pub victims: [u64; 3],
}

/// Returns the results of a run.
pub fn of(kernel: &str, requested: &[Requested]) -> Vec<RequestsResult> {
    requested.iter().map(|requested| one(kernel, requested)).collect()
}

fn one(kernel: &str, requested: &Requested) -> RequestsResult {
    let Requested { scheme, limit_cycles, alone_cycles, registers_before_permille, samples } = requested;
    let sum = |value: fn(&Request) -> u64| samples.iter().map(value).sum::<u64>();
    let missed = samples.iter().filter(|sample| sample.violates(*limit_cycles, *alone_cycles)).count();
    let (violations, interval) = (missed as f64 / samples.len().max(1) as f64, interval(missed, samples.len()));
    RequestsResult {
        kernel: kernel.to_owned(),
        scheme: scheme.clone(),
        limit_cycles: *limit_cycles,
        requests: samples.len(),
        violations,
        violations_half_width: half(interval),
        violations_interval: Some(interval),
        late: samples.iter().filter(|sample| sample.is_late(*limit_cycles)).count() as f64 / samples.len().max(1) as f64,
        first_cycles: mean(samples.iter().filter_map(|sample| sample.first_cycles).map(|cycles| cycles as f64)),
        full_cycles: mean(samples.iter().filter_map(|sample| sample.full_cycles).map(|cycles| cycles as f64)),
        overhead: share(sum(Request::lost_insts), sum(|sample| sample.all_insts)),
        drain_error: share(sum(|sample| sample.drain_errors), sum(|sample| sample.drain_cycles)),
        drains_not_estimated: sum(|sample| sample.drains_not_estimated.into()),
        registers: mean(samples.iter().filter_map(|sample| sample.registers_permille).map(|permille| f64::from(permille) / 1000.0)),
        registers_before: f64::from(*registers_before_permille) / 1000.0,
        victims: [0, 1, 2].map(|technique| samples.iter().map(|sample| u64::from(sample.victims[technique])).sum()),
    }
}

/// Returns the results over all kernels, for every scheme and limit of any kernel.
pub fn over_all(rows: &[RequestsResult]) -> Vec<RequestsResult> {
    let mut cases: Vec<(&str, u64)> = Vec::new();
    for row in rows {
        if !cases.contains(&(&row.scheme, row.limit_cycles)) {
            cases.push((&row.scheme, row.limit_cycles));
        }
    }
    let all = |(scheme, limit_cycles): (&str, u64)| {
        let of: Vec<&RequestsResult> = rows.iter().filter(|row| row.scheme == scheme && row.limit_cycles == limit_cycles).collect();
        let interval = interval_of_mean(&of);
        RequestsResult {
            kernel: ALL.into(),
            scheme: scheme.into(),
            limit_cycles,
            requests: of.iter().map(|row| row.requests).sum(),
            violations: mean(of.iter().map(|row| row.violations)).unwrap_or_default(),
            violations_half_width: half(interval),
            violations_interval: Some(interval),
            late: mean(of.iter().map(|row| row.late)).unwrap_or_default(),
            first_cycles: mean(of.iter().filter_map(|row| row.first_cycles)),
            full_cycles: mean(of.iter().filter_map(|row| row.full_cycles)),
            overhead: mean(of.iter().filter_map(|row| row.overhead)),
            drain_error: mean(of.iter().filter_map(|row| row.drain_error)),
            drains_not_estimated: of.iter().map(|row| row.drains_not_estimated).sum(),
            registers: mean(of.iter().filter_map(|row| row.registers)),
            registers_before: mean(of.iter().map(|row| row.registers_before)).unwrap_or_default(),
            victims: [0, 1, 2].map(|technique| of.iter().map(|row| row.victims[technique]).sum()),
        }
    };
    cases.into_iter().map(all).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the ends of the 95 % interval of the fraction `many` of `all` (Wilson 1927).
fn interval(many: usize, all: usize) -> [f64; 2] {
    let n = all.max(1) as f64;
    let p = many as f64 / n;
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // Exact ends reach a fraction of 0 or 1; rounded ones might miss it by a bit.
    [(middle - half).clamp(0.0, p), (middle + half).clamp(p, 1.0)]
}

/// Returns the interval of the mean of independent fractions with intervals: the distance of an end
/// is the root of the summed squares of theirs (Zou and Donner 2008).
fn interval_of_mean(rows: &[&RequestsResult]) -> [f64; 2] {
    let known = |row: &RequestsResult| {
        let half = row.violations_half_width;
        row.violations_interval.unwrap_or([(row.violations - half).max(0.0), (row.violations + half).min(1.0)])
    };
    let distance = |end: usize| {
        let squares: f64 = rows.iter().map(|row| (known(row)[end] - row.violations).powi(2)).sum();
        squares.sqrt() / rows.len().max(1) as f64
    };
    let mean = mean(rows.iter().map(|row| row.violations)).unwrap_or_default();
    [(mean - distance(0)).max(0.0), (mean + distance(1)).min(1.0)]
}

fn half([low, high]: [f64; 2]) -> f64 {
    (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn requested(scheme: &str, ends: &[Option<u64>]) -> Requested {
        let sample = |&end_cycles: &Option<u64>| Request {
            end_cycles,
            full_cycles: end_cycles,
            flushed_insts: 30,
            all_insts: 120,
            drain_cycles: 100,
            drain_errors: 25,
            victims: [1, 2, 0],
            registers_permille: Some(500),
            ..Request::default()
        };
        let samples = ends.iter().map(sample).collect();
        Requested { scheme: scheme.into(), limit_cycles: 1_000, alone_cycles: 5_000, registers_before_permille: 750, samples }
    }

    #[test]
    fn shares_are_of_requests_and_of_what_flushing_all_costs() {
        let rows = of("pf", &[requested("shieh", &[Some(5_500), Some(6_001), None, Some(6_000)])]);
        let [row] = &rows[..] else { panic!("one row") };
        assert_eq!((row.requests, row.violations, row.overhead, row.drain_error), (4, 0.5, Some(0.25), Some(0.25)));
        assert_eq!((row.victims, row.registers, row.registers_before, row.late), ([4, 8, 0], Some(0.5), 0.75, 1.0));
        // For 2 in 4: 1.96 / 1.9604 * sqrt(1/16 + 0.060025).
        assert!((row.violations_half_width - 0.350_1).abs() < 1e-3, "{}", row.violations_half_width);
    }

    #[test]
    fn kernels_weigh_the_same() {
        let mut rows = of("pf", &[requested("shieh", &[None; 10]), requested("oracle", &[None])]);
        rows.extend(of("hs", &[requested("shieh", &[Some(1); 1])]));
        let all = over_all(&rows);
        assert_eq!(
            all.iter().map(|row| (row.scheme.as_str(), row.requests, row.violations)).collect::<Vec<_>>(),
            [("shieh", 11, 0.5), ("oracle", 1, 1.0)]
        );
    }

    /// 0 of 240: from 0 to z^2 / (n + z^2), for n = 240 and z = 1.96. For the mean of two such, the
    /// upper end is divided by the root of two.
    #[test]
    fn a_share_of_none_has_an_interval() {
        let [low, high] = interval(0, 240);
        assert!(low == 0.0 && (high - 0.015_75).abs() < 1e-4, "{high}");
        assert!(half(interval(120, 240)) < 0.064);
        let mut rows = of("pf", &[requested("shieh", &[Some(1); 240])]);
        rows.extend(of("hs", &[requested("shieh", &[Some(1); 240])]));
        let [low, high] = over_all(&rows)[0].violations_interval.expect("it has one");
        assert!(low == 0.0 && (high - 0.015_75 / 2.0_f64.sqrt()).abs() < 1e-4, "{high}");
    }

    proptest! {
        /// The interval is within 0 and 1, contains the fraction, and is mirrored for the
        /// complement.
        #[test]
        fn intervals_are_of_shares(all in 1usize..500, part in 0.0..=1.0_f64) {
            let many = (part * all as f64) as usize;
            let [low, high] = interval(many, all);
            let p = many as f64 / all as f64;
            prop_assert!(0.0 <= low && low <= p && p <= high && high <= 1.0, "{low} {p} {high}");
            let [other_low, other_high] = interval(all - many, all);
            prop_assert!((low - (1.0 - other_high)).abs() < 1e-9 && (high - (1.0 - other_low)).abs() < 1e-9);
        }
    }
}
