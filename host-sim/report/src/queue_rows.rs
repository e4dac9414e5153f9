//! Launches of a queue, a line each, in the report of `run`.

use mias_lab::evaluate::queue::Spread;
use mias_lab::experiment::gpu_runner::Outcome;
use mias_lab::table::{self, grouped, number};
use std::borrow::Cow;

/// Formats the table and the total latency of launches; empty without a queue.
pub(super) fn text(outcome: &Outcome, kernels: &[Cow<'_, str>]) -> String {
    if outcome.queued.is_empty() {
        return String::new();
    }
    let mut table = table::new(&["launch", "kernel", "priority", "arrival", "first TB", "end", "latency"]);
    for (at, launch) in outcome.queued.iter().enumerate() {
        table.add_row([
            (at + 1).to_string(),
            kernels.get(launch.kernel as usize).map_or_else(String::new, ToString::to_string),
            launch.priority.to_string(),
            grouped(launch.arrival_cycle),
            grouped(launch.first_cycle),
            grouped(launch.end_cycle),
            grouped(launch.latency_cycles()),
        ]);
    }
    let Spread { mean, p95, max } = Spread::of(outcome.queued.iter().map(|launch| launch.latency_cycles() as f64).collect());
    let [mean, p95, max] = [mean, p95, max].map(|cycles| number(Some(cycles), 0));
    format!("\n{}latency, from arrival to end in core cycles: mean {mean}, 95 % within {p95}, largest {max}\n", table::text(&table))
}
