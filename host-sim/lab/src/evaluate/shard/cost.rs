//! Estimated cost of runs before execution: a simple model, sufficient to deal them evenly.
//!
//! A simulation has the same cost per SM and cycle for any kernels. Runs that go together
//! ([`super::super::execute`]) cost one simulation, plus a part of another for each additional run,
//! since they diverge where their decisions differ. The length of a run with an open end is a
//! guess. docs/how-to/cluster.md compares the model with measurements.

use super::super::study::Job;
use std::collections::BTreeSet;

/// Nanoseconds of one core per SM and core cycle (measured: 57 s for a window of 5,000,000 cycles
/// on 30 SMs, docs/results/thesis.md).
const NS_PER_SM_CYCLE: u64 = 380;

/// Core cycles of a run with an open end (measured: the mean over the thesis' finite grids,
/// docs/results/thesis.md; for other kernels an assumption).
const OPEN_CYCLES: u64 = 300_000;

/// Cost of an additional run in a group, in percent of a simulation (measured: 17 to 33 in four
/// plans, docs/how-to/cluster.md).
const PERCENT_PER_COMPANION: u64 = 25;

/// Returns the nanoseconds of one core for a run of `cycles` on `sms` SMs; `None` for an open end.
pub fn simulation_ns(cycles: Option<u64>, sms: u32) -> u64 {
    cycles.unwrap_or(OPEN_CYCLES).saturating_mul(u64::from(sms)).saturating_mul(NS_PER_SM_CYCLE)
}

/// Returns the nanoseconds of one core for runs that go together, on `sms` SMs.
pub fn together_ns(jobs: &[&Job], sms: u32) -> u64 {
    let longest = jobs.iter().map(|job| simulation_ns(job.expected_cycles(), sms)).max().unwrap_or(0);
    // A run that only ends earlier, with a lower precision, costs nothing.
    let controls: BTreeSet<&str> = jobs.iter().map(|job| job.identity.control.as_str()).collect();
    let companions = (controls.len() as u64).saturating_sub(1);
    longest / 100 * (100 + PERCENT_PER_COMPANION * companions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_costs_what_was_measured() {
        let seconds = simulation_ns(Some(5_000_000), 30) / 1_000_000_000;
        assert_eq!(seconds, 57);
        assert_eq!(simulation_ns(Some(600_000), 10) * 3, simulation_ns(Some(600_000), 30), "by the SM");
        assert_eq!(simulation_ns(Some(u64::MAX), 132), u64::MAX, "no overflow");
    }
}
