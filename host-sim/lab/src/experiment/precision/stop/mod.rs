//! Stopping rule: ends a run once it is known well enough.
//!
//! Statistics are marked at equal distances, from the cycle in which all kernels have arrived and
//! all SMs have settled. The distance doubles when there are many marks, so batches grow with the
//! run. A change of quotas restarts the marks.
//!
//! A run is known under three conditions. In the steady part, every kernel has begun its grid at
//! least [`LEAST_RELAUNCHES`] times, so that all of its TBs were seen. The rest is no longer than
//! that part. Each interval is as narrow as requested. A kernel without TB and quota makes no
//! progress: its rate is known to be 0.
//!
//! The rule is a function of the run's own state at fixed cycles, and is copied where runs diverge.
//! So runs that share a simulation end in the same cycles as alone.

use super::batches::{LEAST_BATCHES, half_width, warm_up};
use super::{Estimate, HalfWidth, Precision};
use mias_hw_model::gpu::{LaunchStats, Stats};
use std::sync::Arc;

/// Core cycles between two checks of a run, and of the shortest batch (assumption: three times the
/// longest latency under load).
const LOOK_EVERY_CYCLES: u64 = 16_384;

/// Maximum number of batches: at this number, every second mark is dropped.
const MOST_BATCHES: usize = 4 * LEAST_BATCHES;

/// Number of whole grids that every kernel must begin in the steady part. (Own,
/// docs/results/precision.md: after one, the next may differ by more than the interval, since two
/// grids drift against each other.)
const LEAST_RELAUNCHES: u64 = 2;

/// Longest part that is estimated, in lengths of the steady part (own, docs/results/precision.md:
/// some pairs change their rates by a tenth over a million cycles).
const MOST_REST: u64 = 1;

/// State of a run at a check.
#[derive(Debug)]
pub(in super::super) struct Progress {
    /// Counters so far.
    pub stats: Stats,
    /// Whether every kernel has arrived and could have been given TBs, and the firmware is changing
    /// nothing.
    pub settled: bool,
    /// Value that changes with every change of quotas.
    pub placements: (u32, u32),
    /// Whether each workload has neither a TB nor the quota for one.
    pub out: Vec<bool>,
}

/// Stopping rule of one run.
#[derive(Clone, Debug)]
pub(in super::super) struct Stop {
    precision: Precision,
    /// Core cycle in which the run ends if it does not become known.
    window: u64,
    /// Core cycle before which it must not end.
    not_before: u64,
    /// Whether it must not end before every launch has run once.
    after_first_runs: bool,
    /// TBs of each workload's grids, summed over its launches.
    grids: Vec<u64>,
    /// Statistics at equal distances, ascending.
    marks: Vec<Arc<Stats>>,
    /// Distance between marks.
    every_cycles: u64,
    /// Placements and transition cycles at the last check.
    last: ((u32, u32), u64),
}

/// Result of a run that is known.
#[derive(Clone, Debug)]
pub(in super::super) struct Known {
    /// Statistics at the beginning of the steady part.
    pub since: Arc<Stats>,
    /// Estimate with its uncertainty.
    pub estimate: Estimate,
}

impl Stop {
    /// Creates the rule for a run that ends at core cycle `window`, of endlessly relaunched
    /// workloads with these grid sizes.
    pub(in super::super) fn new(precision: Precision, window: u64, not_before: u64, grids: Vec<u64>) -> Self {
        let (marks, last) = (Vec::new(), ((0, 0), 0));
        Stop { precision, window, not_before, after_first_runs: false, grids, marks, every_cycles: LOOK_EVERY_CYCLES, last }
    }

    /// Forbids an end before every launch has run once.
    pub(in super::super) fn after_first_runs(self) -> Self {
        Stop { after_first_runs: true, ..self }
    }

    /// Returns the requested precision.
    pub(in super::super) fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns the next cycle after `cycle` in which the run is checked.
    pub(in super::super) fn next_look(cycle: u64) -> u64 {
        (cycle / LOOK_EVERY_CYCLES + 1) * LOOK_EVERY_CYCLES
    }

    /// Returns whether the run is checked in this cycle.
    pub(in super::super) fn looks_at(cycle: u64) -> bool {
        cycle.is_multiple_of(LOOK_EVERY_CYCLES)
    }

    /// Checks the run; returns the result once it is known.
    pub(in super::super) fn look(&mut self, progress: Progress) -> Option<Known> {
        let Progress { stats, settled, placements, out } = progress;
        let now = (placements, stats.transition_cycles);
        if !settled || now != self.last {
            self.last = now;
            self.marks.clear();
            self.every_cycles = LOOK_EVERY_CYCLES;
        }
        if !settled {
            return None;
        }
        let cycle = stats.cycles;
        let ran_once = !self.after_first_runs || stats.launches.iter().all(|launch| launch.first_run.is_some());
        if self.marks.first().is_some_and(|first| !(cycle - first.cycles).is_multiple_of(self.every_cycles)) {
            return None;
        }
        self.marks.push(Arc::new(stats));
        let known = self.judge(&out).filter(|_| ran_once && (self.not_before..self.window).contains(&cycle));
        if self.marks.len() > MOST_BATCHES {
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every_cycles *= 2;
        }
        known
    }

    fn judge(&self, out: &[bool]) -> Option<Known> {
        let batches =
            |of: &dyn Fn(&Stats) -> u64| -> Vec<f64> { self.marks.windows(2).map(|two| of(&two[1]) as f64 - of(&two[0]) as f64).collect() };
        let insts: Vec<(Vec<f64>, Vec<f64>)> = (0..self.grids.len())
            .map(|at| {
                let of = |of: fn(&LaunchStats) -> u64| batches(&|stats| stats.launches.get(at).map_or(0, of));
                (of(LaunchStats::useful_warp_insts), of(LaunchStats::useful_thread_insts))
            })
            .collect();
        let mut start = 0;
        for (_, threads) in &insts {
            start = start.max(warm_up(threads)?);
        }
        let (since, now) = (self.marks.get(start)?, self.marks.last()?);
        let rest_cycles = self.window.saturating_sub(now.cycles);
        if rest_cycles > MOST_REST * now.cycles.saturating_sub(since.cycles) {
            return None;
        }
        let rest = rest_cycles as f64 / self.every_cycles as f64;
        let all = now.extended(since, self.window);
        let mut half_widths = Vec::new();
        for (at, (warps, threads)) in insts.iter().enumerate() {
            let (then, launch, whole) = (since.launches.get(at)?, now.launches.get(at)?, all.launches.get(at)?);
            let none = out.get(at) == Some(&true) && launch.warp_insts == then.warp_insts;
            if !none && launch.tbs_issued - then.tbs_issued < LEAST_RELAUNCHES * self.grids[at] {
                return None;
            }
            let known = |batches: &[f64], whole: u64| {
                let half = half_width(batches.get(start..)?, rest)?.ceil();
                (half <= self.precision.share() * whole as f64).then_some(half as u64)
            };
            half_widths.push(HalfWidth {
                warp_insts: known(warps, whole.useful_warp_insts())?,
                thread_insts: known(threads, whole.useful_thread_insts())?,
            });
        }
        let estimate = Estimate { simulated_cycles: now.cycles, steady_from_cycle: since.cycles, half_widths };
        Some(Known { since: since.clone(), estimate })
    }
}

#[cfg(test)]
mod tests;
