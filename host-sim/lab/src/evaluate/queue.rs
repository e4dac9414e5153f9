//! What a queue of launches came to: how long all of it took, how much was done in that time, how long launches waited and ran (docs/results-format.md).

use super::names::{self, Name};
use super::statistics::arithmetic;
use crate::experiment::queue::QueuedLaunch;
use crate::metrics::ratio;
use serde::{Deserialize, Serialize};

/// A queue under one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueResult {
    /// The policy.
    #[serde(deserialize_with = "names::one")]
    pub policy: Name,
    /// Key of the run.
    pub run: String,
    /// Kernels that it was drawn from.
    pub kernels: Vec<String>,
    /// Launches.
    pub launches: usize,
    /// Core cycles until all had ended.
    pub makespan_cycles: u64,
    /// Core cycles that they take one after the other, each alone.
    pub sequential_cycles: u64,
    /// The latter over the former: how much is done in the time.
    pub stp: Option<f64>,
    /// Mean over launches of the time from arrival to end over the time alone.
    pub antt: Option<f64>,
    /// The time from arrival to end in core cycles, over all launches.
    pub latency: Spread,
    /// That time over the time alone.
    pub slowdown: Spread,
    /// Mean of the time from arrival to end of launches with priority; none where there are none.
    pub urgent_latency_cycles: Option<f64>,
    /// Joules; none if the machine has no coefficients.
    pub energy_joules: Option<f64>,
}

/// Of many values: the mean, the 95th percentile, the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// The smallest value that 95 % of the values are not above.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of some values; all 0 of none.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let rank = (values.len() * 95).div_ceil(100);
        let at = |place: Option<usize>| place.and_then(|place| values.get(place)).copied().unwrap_or_default();
        Spread { mean: arithmetic(&values).unwrap_or_default(), p95: at(rank.checked_sub(1)), max: at(values.len().checked_sub(1)) }
    }
}

/// What is known of a run beside its launches.
#[derive(Clone, Debug)]
pub(super) struct Ran<'a> {
    pub(super) policy: Name,
    pub(super) run: &'a str,
    pub(super) kernels: &'a [String],
    /// Core cycles that each kernel takes alone.
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

    /// Of 40 values the 38th is not exceeded by 95 %; of one it is that one.
    #[test]
    fn percentiles_are_values() {
        let spread = Spread::of((1..=40).rev().map(f64::from).collect());
        assert_eq!((spread.mean, spread.p95, spread.max), (20.5, 38.0, 40.0));
        assert_eq!(Spread::of(vec![7.0]), Spread { mean: 7.0, p95: 7.0, max: 7.0 });
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }

    /// Two kernels of 100 and 300 cycles alone. By hand: the first launch takes 150 cycles, the second 600, the third, which is urgent, 200 from cycle 400 on.
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
