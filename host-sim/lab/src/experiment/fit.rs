//! The calibration of the Linear metric (sources.md D41): memory stalls per
//! accumulated outstanding miss, in per-SM units, fitted over runs whose quotas are fixed.
//!
//! The population: every kernel alone at each TB count that fits, and every pair of kernels in each maximal configuration;
//! of each run, every SM's counters over one profiling window, which opens when the first TBs may issue, as MIAS' own does.

use super::compare::Watch;
use super::gpu_runner::{GpuRunner, RunError};
use super::least_squares::{self, Line, StallSample};
use super::workload::Workload;
use rayon::prelude::*;

/// A GPU that can be watched SM by SM.
pub trait Calibrated: GpuRunner {
    /// Stalls and outstanding misses of each SM over a window of `window_cycles`, with `config` on all SMs.
    ///
    /// # Errors
    /// [`RunError`].
    fn sample(&self, workloads: &[&Workload], config: &[u32], window_cycles: u32) -> Result<Vec<StallSample>, RunError>;
}

/// One run of the population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationRun {
    /// Its kernels, by index.
    pub kernels: Vec<usize>,
    /// TBs of each per SM.
    pub config: Vec<u32>,
    /// Per SM.
    pub samples: Vec<StallSample>,
}

/// The fit and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// In the order of kernels, pairs, configurations.
    pub runs: Vec<CalibrationRun>,
}

impl Fit {
    /// SMs and windows in all.
    pub fn samples(&self) -> usize {
        self.samples_without(&[])
    }

    /// SMs and windows of the runs in which none of `kernels`, by index, takes part.
    pub fn samples_without(&self, kernels: &[usize]) -> usize {
        self.without(kernels).map(|run| run.samples.len()).sum()
    }

    fn without<'a>(&'a self, kernels: &'a [usize]) -> impl Iterator<Item = &'a CalibrationRun> {
        self.runs.iter().filter(|run| !run.kernels.iter().any(|kernel| kernels.contains(kernel)))
    }

    /// The line over all runs; none if no two SMs differed in A.
    pub fn line(&self) -> Option<Line> {
        self.line_without(&[])
    }

    /// The line over the runs in which none of `kernels`, by index, takes part: what a decision about them can be judged by without
    /// having been fitted on them. None if no run is left, or no two SMs of those differ in A.
    pub fn line_without(&self, kernels: &[usize]) -> Option<Line> {
        let samples: Vec<StallSample> = self.without(kernels).flat_map(|run| run.samples.iter().copied()).collect();
        least_squares::fit(&samples)
    }
}

/// Linear's coefficient in Q16.16. It cannot be negative: without a rising line it is 0, and Linear decides as IPC.
pub fn coefficient_q16(line: Option<Line>) -> u32 {
    line.map_or(0, |line| u32::try_from(line.slope_q16.max(0)).unwrap_or(u32::MAX))
}

/// Runs the population over `workloads` and fits the line. The result does not depend on the number of threads.
///
/// # Errors
/// The first [`RunError`] in the order of runs.
pub fn fit(runner: &dyn Calibrated, workloads: &[Workload], window_cycles: u32, watch: &dyn Watch) -> Result<Fit, RunError> {
    let plan = population(runner, workloads)?;
    watch.planned(plan.len());
    let one = |(kernels, config): Planned| {
        let chosen: Vec<&Workload> = kernels.iter().map(|&kernel| &workloads[kernel]).collect();
        let samples = runner.sample(&chosen, &config, window_cycles)?;
        watch.finished();
        Ok(CalibrationRun { kernels, config, samples })
    };
    let runs: Vec<Result<CalibrationRun, RunError>> = plan.into_par_iter().map(one).collect();
    Ok(Fit { runs: runs.into_iter().collect::<Result<_, _>>()? })
}

/// Kernels, by index, and configuration of a run to be.
type Planned = (Vec<usize>, Vec<u32>);

fn population(runner: &dyn Calibrated, workloads: &[Workload]) -> Result<Vec<Planned>, RunError> {
    let mut plan = Vec::new();
    for (kernel, workload) in workloads.iter().enumerate() {
        plan.extend((1..=runner.max_tbs(workload)?).map(|tbs| (vec![kernel], vec![tbs])));
    }
    for first in 0..workloads.len() {
        for second in first + 1..workloads.len() {
            let configs = runner.configurations(&[&workloads[first], &workloads[second]])?;
            plan.extend(configs.into_iter().map(|config| (vec![first, second], config)));
        }
    }
    Ok(plan)
}
