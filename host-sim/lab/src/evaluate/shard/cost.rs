//! What runs are expected to cost, before any of them has run: a simple model, good enough to deal them evenly.
//!
//! A simulation costs as much per SM and cycle whatever it runs. Runs that go together ([`super::super::execute`]) cost one simulation, and a
//! part of another for each run more, since they part where their decisions differ. Where a run has an open end, its length is a guess.
//! docs/guide/cluster.md has what was measured against it.

use super::super::study::Job;
use std::collections::BTreeSet;

/// Nanoseconds of one core per SM and core cycle (measured: 57 s for a window of 5,000,000 cycles on 30 SMs, docs/evaluation.md).
const NS_PER_SM_CYCLE: u64 = 380;

/// Core cycles of a run whose end is open (measured: the mean over the thesis' finite grids, docs/evaluation.md; for other kernels an
/// assumption).
const OPEN_CYCLES: u64 = 300_000;

/// Percent of a simulation that a run costs more in company of others that it starts with (measured: 17 to 33 in four plans,
/// docs/guide/cluster.md).
const PERCENT_PER_COMPANION: u64 = 25;

/// Nanoseconds of one core that a run of `cycles` on `sms` SMs takes; none: its end is open.
pub fn simulation_ns(cycles: Option<u64>, sms: u32) -> u64 {
    cycles.unwrap_or(OPEN_CYCLES).saturating_mul(u64::from(sms)).saturating_mul(NS_PER_SM_CYCLE)
}

/// Nanoseconds of one core that runs take which go together, on `sms` SMs.
pub fn together_ns(jobs: &[&Job], sms: u32) -> u64 {
    let longest = jobs.iter().map(|job| simulation_ns(job.expected_cycles(), sms)).max().unwrap_or(0);
    // Who only leaves sooner, since less of it is to be known, costs nothing.
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
