//! Results of a queue of launches: total time, throughput, and latency of launches
//! (docs/reference/results.md).

use super::names::{self, Name};
use super::statistics::arithmetic;
use crate::experiment::queue::QueuedLaunch;
use crate::metrics::ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of a queue under one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResult {
    /// Policy of the run.
    #[serde(deserialize_with = "names::one")]
    pub policy: Name,
    /// Key of the run.
    pub run: String,
    /// Kernels that the queue was drawn from.
    pub kernels: Vec<String>,
    /// Number of launches.
    pub launches: usize,
    /// Core cycles until all launches had ended.
    pub makespan_cycles: u64,
    /// Core cycles of the launches one after the other, each alone.
    pub sequential_cycles: u64,
    /// Sequential cycles over makespan: throughput.
    pub stp: Option<f64>,
    /// Mean over launches of the time from arrival to end over the time alone.
    pub antt: Option<f64>,
    /// Time from arrival to end in core cycles, over all launches.
    pub latency: Spread,
    /// Time from arrival to end over the time alone, over all launches.
    pub slowdown: Spread,
    /// Mean time from arrival to end of launches with priority; `None` if there are none.
    pub urgent_latency_cycles: Option<f64>,
    /// Energy in joules; `None` if the GPU has no coefficients.
    pub energy_joules: Option<f64>,
}

/// Distribution of values: mean, 95th percentile, maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest value that at least 95 % of the values do not exceed.
    pub p95: f64,
    /// Largest value.
    pub max: f64,
}

impl Spread {
    /// Computes the distribution; all 0 without values.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let rank = (values.len() * 95).div_ceil(100);
        let at = |place: Option<usize>| place.and_then(|place| values.get(place)).copied().unwrap_or_default();
        Spread { mean: arithmetic(&values).unwrap_or_default(), p95: at(rank.checked_sub(1)), max: at(values.len().checked_sub(1)) }
    }
}

/// Facts about a run in addition to its launches.
#[derive(Clone, Debug)]
pub(super) struct Ran<'a> {
    pub(super) policy: Name,
    pub(super) run: &'a str,
    pub(super) kernels: &'a [String],
    /// Core cycles of each kernel alone.
    pub(super) alone_cycles: &'a [u64],
    pub(super) makespan_cycles: u64,
    pub(super) energy_joules: Option<f64>,
}

impl QueueResult {
    pub(super) fn of(ran: &Ran<'_>, launches: &[QueuedLaunch]) -> Self {
        let Ran { policy, run, kernels, alone_cycles, makespan_cycles, energy_joules } = *ran;
        let alone = |launch: &QueuedLaunch| alone_cycles.get(launch.kernel as usize).copied().unwrap_or_default();
        let sequential_cycles = launches.iter().map(alone).sum();
        let slowdowns: Vec<f64> = launches.iter().filter_map(|launch| ratio(launch.latency_cycles(), alone(launch))).collect();
        let latency = |launch: &QueuedLaunch| launch.latency_cycles() as f64;
        let urgent: Vec<f64> = launches.iter().filter(|launch| launch.priority > 0).map(latency).collect();
        QueueResult {
            policy,
            run: run.to_owned(),
            kernels: kernels.to_vec(),
            launches: launches.len(),
            makespan_cycles,
            sequential_cycles,
            stp: ratio(sequential_cycles, makespan_cycles),
            antt: arithmetic(&slowdowns),
            latency: Spread::of(launches.iter().map(latency).collect()),
            slowdown: Spread::of(slowdowns),
            urgent_latency_cycles: arithmetic(&urgent),
            energy_joules,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 95th percentile of 40 values is the 38th; that of one value is that value.
    #[test]
    fn percentiles_are_values() {
        let spread = Spread::of((1..=40).rev().map(f64::from).collect());
        assert_eq!((spread.mean, spread.p95, spread.max), (20.5, 38.0, 40.0));
        assert_eq!(Spread::of(vec![7.0]), Spread { mean: 7.0, p95: 7.0, max: 7.0 });
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }

    /// Two kernels of 100 and 300 cycles alone. The first launch takes 150 cycles, the second 600,
    /// the third, which is urgent, 200 from cycle 400 on.
    #[test]
    fn a_queue_is_its_launches() {
        let launch =
            |kernel, priority, arrival_cycle, end_cycle| QueuedLaunch { kernel, priority, arrival_cycle, first_cycle: 0, end_cycle };
        let kernels = ["a", "b"].map(str::to_owned);
        let ran =
            Ran { policy: "smk", run: "k", kernels: &kernels, alone_cycles: &[100, 300], makespan_cycles: 600, energy_joules: Some(2.0) };
        let result = QueueResult::of(&ran, &[launch(0, 0, 0, 150), launch(1, 0, 0, 600), launch(0, 1, 400, 600)]);
        assert_eq!((result.sequential_cycles, result.stp), (500, Some(500.0 / 600.0)));
        assert_eq!(result.antt, Some((1.5 + 2.0 + 2.0) / 3.0));
        assert_eq!((result.latency.max, result.slowdown.max, result.urgent_latency_cycles), (600.0, 2.0, Some(200.0)));
    }
}
