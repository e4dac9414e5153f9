//! `sweep`: one kernel alone, with each number of TBs per SM that fits, for the same window.
//!
//! The curve of IPC against TBs per SM shows the kernel's gain from more parallelism, and its loss
//! to a co-runner (sources.md D47 and D82). Every point is a separate run on a GPU after reset. The
//! runs differ only in the limit of TB issue.

use super::compare::{Watch, run_all};
use super::gpu_runner::{GpuRunner, Options, Outcome, Run, RunError};
use super::policy::{Control, Policy};
use super::rate::ipc;
use super::shape::{Verdict, judge};
use super::workload::Workload;

/// One point of the curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Maximum number of TBs per SM.
    pub tbs: u32,
    /// Outcome of the run; `None` if it was interrupted.
    pub outcome: Option<Outcome>,
}

/// Curve of IPC against TBs per SM.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Points by TBs per SM, from 1 to the maximum.
    pub points: Vec<Point>,
    options: Options,
}

impl Sweep {
    /// Returns the IPC of a point, in the unit of the options.
    pub fn ipc(&self, point: &Point) -> Option<f64> {
        point.outcome.as_ref().map(|outcome| ipc(outcome, 0, self.options))
    }

    /// Returns the TBs of missing points.
    pub fn missing(&self) -> Vec<u32> {
        self.points.iter().filter(|point| point.outcome.is_none()).map(|point| point.tbs).collect()
    }

    /// Returns the curve's shape; `None` if a point is missing.
    pub fn shape(&self) -> Option<Verdict> {
        let curve: Option<Vec<(u32, f64)>> = self.points.iter().map(|point| Some((point.tbs, self.ipc(point)?))).collect();
        curve.map(|curve| judge(&curve))
    }
}

/// Runs `workload` alone with each of these TBs per SM. The result does not depend on the number of
/// threads.
///
/// # Errors
/// The first [`RunError`] in the order of `tbs`, except [`RunError::Interrupted`], which leaves
/// points without an outcome.
pub fn runs(
    runner: &dyn GpuRunner,
    workload: &Workload,
    tbs: impl Iterator<Item = u32>,
    options: Options,
    watch: &dyn Watch,
) -> Result<Sweep, RunError> {
    let tbs: Vec<u32> = tbs.collect();
    let control = Control::Policy(Policy::LeftOver);
    let run = |&tbs: &u32| {
        let options = Options { tbs_per_sm: Some(tbs), ..options };
        Run { control: control.clone(), workloads: vec![workload], options }
    };
    let outcomes = run_all(tbs.iter().map(|tbs| (runner, run(tbs))).collect(), watch)?;
    let points = tbs.into_iter().zip(outcomes).map(|(tbs, outcome)| Point { tbs, outcome }).collect();
    Ok(Sweep { points, options })
}

/// Runs the whole curve, from 1 TB per SM to the maximum.
///
/// # Errors
/// As [`runs`]; [`RunError::Workload`] if not even one TB fits.
pub fn sweep(runner: &dyn GpuRunner, workload: &Workload, options: Options, watch: &dyn Watch) -> Result<Sweep, RunError> {
    runs(runner, workload, 1..=runner.max_tbs(workload)?, options, watch)
}
