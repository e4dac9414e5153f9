//! Calibration of the Linear metric (sources.md D41): memory stalls per accumulated outstanding
//! miss, in per-SM units, fitted over runs with fixed quotas.
//!
//! The population is every kernel alone at each TB count that fits, and every pair of kernels in
//! each maximal configuration. Each run contributes every SM's counters over one profiling window.
//! The window opens when the first TBs may issue, as that of MIAS does.

use super::compare::Watch;
use super::gpu_runner::{GpuRunner, RunError};
use super::least_squares::{self, Line, StallSample};
use super::workload::Workload;
use rayon::prelude::*;

/// GPU whose counters can be sampled per SM.
pub trait Calibrated: GpuRunner {
    /// Samples stalls and outstanding misses of each SM over a window of `window_cycles`, with
    /// `config` on all SMs.
    ///
    /// # Errors
    /// [`RunError`].
    fn sample(&self, workloads: &[&Workload], config: &[u32], window_cycles: u32) -> Result<Vec<StallSample>, RunError>;
}

/// One run of the calibration population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationRun {
    /// Kernels of the run, by index.
    pub kernels: Vec<usize>,
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Sample of each SM.
    pub samples: Vec<StallSample>,
}

/// Runs of the calibration, from which lines are fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Runs in the order of kernels, pairs, configurations.
    pub runs: Vec<CalibrationRun>,
}

impl Fit {
    /// Returns the number of samples: SMs and windows of all runs.
    pub fn samples(&self) -> usize {
        self.samples_without(&[])
    }

    /// Returns the number of samples of the runs without any of `kernels`, by index.
    pub fn samples_without(&self, kernels: &[usize]) -> usize {
        self.without(kernels).map(|run| run.samples.len()).sum()
    }

    fn without<'a>(&'a self, kernels: &'a [usize]) -> impl Iterator<Item = &'a CalibrationRun> {
        self.runs.iter().filter(|run| !run.kernels.iter().any(|kernel| kernels.contains(kernel)))
    }

    /// Fits the line over all runs; `None` if no two SMs differed in A.
    pub fn line(&self) -> Option<Line> {
        self.line_without(&[])
    }

    /// Fits the line over the runs without any of `kernels`, by index. Decisions about these
    /// kernels can be judged by a line that was not fitted on them. `None` if no run is left, or no
    /// two SMs differ in A.
    pub fn line_without(&self, kernels: &[usize]) -> Option<Line> {
        let samples: Vec<StallSample> = self.without(kernels).flat_map(|run| run.samples.iter().copied()).collect();
        least_squares::fit(&samples)
    }
}

/// Converts the slope to Linear's coefficient in Q16.16. It cannot be negative: without a rising
/// line it is 0, and Linear decides as IPC.
pub fn coefficient_q16(line: Option<Line>) -> u32 {
    line.map_or(0, |line| u32::try_from(line.slope_q16.max(0)).unwrap_or(u32::MAX))
}

/// Runs the population over `workloads`. The result does not depend on the number of threads.
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

/// Kernels, by index, and configuration of a planned run.
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
