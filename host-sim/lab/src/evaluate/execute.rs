//! Executes missing runs in parallel, and stores each result as soon as it exists.
//!
//! Runs that differ only in measuring policy or in precision go together
//! ([`GpuRunner::run_together`]). Long runs start first, so that none remains alone at the end. The
//! assignment of results does not depend on the number of workers.

use super::record::Kept;
use super::store::{Store, StoreError};
use super::study::Job;
use crate::cancel::Cancel;
use crate::experiment::gpu_runner::{GpuRunner, Outcome, Run, RunError};
use crate::experiment::policy::Control;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Receiver of progress reports, called from any thread.
pub trait Watch: Sync {
    /// Adds simulated cycles of this job, or of those that go together with it.
    fn cycles(&self, job: &Job, cycles: u64);
    /// Reports that the job has ended and its result is stored.
    fn finished(&self, job: &Job);
}

/// Reasons why an execution is incomplete. Finished runs are stored in any case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A result could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the jobs that the store lacks, in the order of keys.
pub fn missing<'j>(jobs: impl Iterator<Item = &'j Job>, store: &Store) -> Vec<&'j Job> {
    jobs.filter(|job| store.load(&job.identity).is_none()).collect()
}

/// Executes `jobs` on the GPUs that `machine` returns; `cancel` must be the one that stops
/// these.
///
/// # Errors
/// [`ExecuteError`]: of the store at once, of a run when all others have ended.
pub fn execute(
    jobs: &[&Job],
    store: &Store,
    runner: &(dyn Fn(&Job) -> Box<dyn GpuRunner> + Sync),
    cancel: &Cancel,
    watch: &dyn Watch,
) -> Result<(), ExecuteError> {
    // The first failure in the order of jobs is reported, independent of time; the store's before
    // all.
    let failures: Mutex<BTreeMap<usize, RunError>> = Mutex::default();
    let unkept: Mutex<Option<StoreError>> = Mutex::default();
    let done = |place: usize, outcome: Result<Outcome, RunError>| match outcome {
        Ok(outcome) => match store.save(&jobs[place].identity, &Kept::of(&outcome)) {
            Ok(()) => watch.finished(jobs[place]),
            Err(error) => {
                cancel.request();
                unkept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        },
        Err(error) => {
            failures.lock().unwrap_or_else(PoisonError::into_inner).insert(place, error);
        }
    };
    rayon::scope_fifo(|scope| {
        for unit in units(jobs) {
            let done = &done;
            scope.spawn_fifo(move |_| {
                let lead = jobs[unit[0]];
                let runs: Vec<Run<'_>> = unit.iter().map(|&place| run(jobs[place])).collect();
                runner(lead).run_together(&runs, &|cycles| watch.cycles(lead, cycles), &|at, outcome| done(unit[at], outcome));
            });
        }
    });
    if let Some(error) = unkept.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A run interrupted because of another failure is not reported.
    let first = failures.values().find(|error| **error != RunError::Interrupted).or(failures.values().next());
    first.map_or(Ok(()), |error| Err(error.clone().into()))
}

fn run(job: &Job) -> Run<'_> {
    Run { control: job.control.clone(), workloads: job.workloads.iter().collect(), options: job.options }
}

/// Groups the indices of jobs that go together, the longest first: open-ended ones, then by the
/// cycles of all members.
pub(super) fn units(jobs: &[&Job]) -> Vec<Vec<usize>> {
    let mut together: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, job) in jobs.iter().enumerate() {
        let measures = matches!(job.control, Control::Policy(policy) if policy.measures());
        let mut rest = job.identity.clone();
        rest.precision = None;
        // A job without companions is identified by its own control.
        if measures {
            rest.control.clear();
        }
        together.entry(rest).or_default().push(place);
    }
    let mut units: Vec<Vec<usize>> = together.into_values().collect();
    let length = |unit: &Vec<usize>| unit.iter().try_fold(0u64, |sum, &place| Some(sum.saturating_add(jobs[place].expected_cycles()?)));
    units.sort_by_key(|unit| std::cmp::Reverse(length(unit).unwrap_or(u64::MAX)));
    units
}
