//! What requests for room came to: violations, overhead, draining, techniques, by scheme and limit, for each kernel and over all of them
//! (Shieh 2016, section 4; docs/evaluation-shieh.md).

use crate::experiment::requests::{Request, Requested};
use serde::{Deserialize, Serialize};

/// Over all kernels.
pub const ALL: &str = "all";

/// Quantile of the normal distribution that an interval of 95 % ends at.
const Z: f64 = 1.96;

/// Requests under one scheme with one limit, of one kernel or of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestsResult {
    /// The kernel that ran, or [`ALL`].
    pub kernel: String,
    /// The scheme.
    pub scheme: String,
    /// The limit in core cycles.
    pub limit_cycles: u64,
    /// How many requests.
    pub requests: usize,
    /// Share that missed the deadline, 0..=1; over all kernels the mean of theirs.
    pub violations: f64,
    /// Half of its 95 % interval (Wilson 1927); over all kernels, of the mean.
    pub violations_half_width: f64,
    /// Share in which the urgent kernel did not have all of its TBs within the limit, whenever it ended.
    pub late: f64,
    /// Mean cycles to the first TB of the urgent kernel, and to the last; of requests that got there.
    pub first_cycles: Option<f64>,
    /// The latter.
    pub full_cycles: Option<f64>,
    /// Instructions lost over what flushing all victims would have thrown away; none if nobody was preempted. Over all kernels the mean of theirs.
    pub overhead: Option<f64>,
    /// Difference between expected and real draining time over the real one; none where nobody drained.
    pub drain_error: Option<f64>,
    /// Mean share of registers held by TBs until the urgent kernel had all of its own; none where that took no time.
    pub registers: Option<f64>,
    /// Largest share of registers that TBs held when a request came, before anybody had to leave. Over all kernels the mean of theirs.
    #[serde(default)]
    pub registers_before: f64,
    /// Victims that drained, were flushed, were switched.
    pub victims: [u64; 3],
}

/// Those of a run.
pub fn of(kernel: &str, requested: &[Requested]) -> Vec<RequestsResult> {
    requested.iter().map(|requested| one(kernel, requested)).collect()
}

fn one(kernel: &str, requested: &Requested) -> RequestsResult {
    let Requested { scheme, limit_cycles, alone_cycles, registers_before_permille, samples } = requested;
    let sum = |value: fn(&Request) -> u64| samples.iter().map(value).sum::<u64>();
    let missed = samples.iter().filter(|sample| sample.violates(*limit_cycles, *alone_cycles)).count();
    let (violations, violations_half_width) = (missed as f64 / samples.len().max(1) as f64, half_width(missed, samples.len()));
    RequestsResult {
        kernel: kernel.to_owned(),
        scheme: scheme.clone(),
        limit_cycles: *limit_cycles,
        requests: samples.len(),
        violations,
        violations_half_width,
        late: samples.iter().filter(|sample| sample.is_late(*limit_cycles)).count() as f64 / samples.len().max(1) as f64,
        first_cycles: mean(samples.iter().filter_map(|sample| sample.first_cycles).map(|cycles| cycles as f64)),
        full_cycles: mean(samples.iter().filter_map(|sample| sample.full_cycles).map(|cycles| cycles as f64)),
        overhead: share(sum(Request::lost_insts), sum(|sample| sample.all_insts)),
        drain_error: share(sum(|sample| sample.drain_errors), sum(|sample| sample.drain_cycles)),
        registers: mean(samples.iter().filter_map(|sample| sample.registers_permille).map(|permille| f64::from(permille) / 1000.0)),
        registers_before: f64::from(*registers_before_permille) / 1000.0,
        victims: [0, 1, 2].map(|technique| samples.iter().map(|sample| u64::from(sample.victims[technique])).sum()),
    }
}

/// Over all kernels, for every scheme and limit that any has.
pub fn over_all(rows: &[RequestsResult]) -> Vec<RequestsResult> {
    let mut cases: Vec<(&str, u64)> = Vec::new();
    for row in rows {
        if !cases.contains(&(&row.scheme, row.limit_cycles)) {
            cases.push((&row.scheme, row.limit_cycles));
        }
    }
    let all = |(scheme, limit_cycles): (&str, u64)| {
        let of: Vec<&RequestsResult> = rows.iter().filter(|row| row.scheme == scheme && row.limit_cycles == limit_cycles).collect();
        let squares: f64 = of.iter().map(|row| row.violations_half_width.powi(2)).sum();
        RequestsResult {
            kernel: ALL.into(),
            scheme: scheme.into(),
            limit_cycles,
            requests: of.iter().map(|row| row.requests).sum(),
            violations: mean(of.iter().map(|row| row.violations)).unwrap_or_default(),
            violations_half_width: squares.sqrt() / of.len() as f64,
            late: mean(of.iter().map(|row| row.late)).unwrap_or_default(),
            first_cycles: mean(of.iter().filter_map(|row| row.first_cycles)),
            full_cycles: mean(of.iter().filter_map(|row| row.full_cycles)),
            overhead: mean(of.iter().filter_map(|row| row.overhead)),
            drain_error: mean(of.iter().filter_map(|row| row.drain_error)),
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

/// Half of the interval of 95 % of a share of `many` of `all` (Wilson 1927).
fn half_width(many: usize, all: usize) -> f64 {
    let n = all.max(1) as f64;
    let p = many as f64 / n;
    Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Of 2 in 4: 1.96 / 1.9604 * sqrt(1/16 + 0.060025).
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

    /// None of 240: the interval does not close.
    #[test]
    fn a_share_of_none_has_an_interval() {
        assert!((half_width(0, 240) - 0.007_9).abs() < 1e-3);
        assert!(half_width(120, 240) < 0.064);
    }
}
