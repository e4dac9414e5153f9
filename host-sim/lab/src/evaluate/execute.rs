//! Runs what is not there yet, on all cores, and keeps each result as soon as there is one.
//!
//! Runs of measuring policies that differ in nothing else, and runs that differ in how well they are to be known, go together
//! ([`GpuRunner::run_together`]). Long runs start first, so that none
//! is left alone at the end. Which run is whose result does not depend on the number of workers.

use super::record::Kept;
use super::store::{Store, StoreError};
use super::study::Job;
use crate::cancel::Cancel;
use crate::experiment::gpu_runner::{GpuRunner, Outcome, Run, RunError};
use crate::experiment::policy::Control;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Called as runs go on, from any thread.
pub trait Watch: Sync {
    /// So many cycles more of this job, or of those that go together with it.
    fn cycles(&self, job: &Job, cycles: u64);
    /// The job has ended and its result is kept.
    fn finished(&self, job: &Job);
}

/// Why not all is done. What was finished is kept in any case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A result could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Jobs that are not in the store yet, in the order of keys.
pub fn missing<'j>(jobs: impl Iterator<Item = &'j Job>, store: &Store) -> Vec<&'j Job> {
    jobs.filter(|job| store.load(&job.identity).is_none()).collect()
}

/// Runs `jobs` on the machines that `machine` gives them; `cancel` must be what stops these.
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
    // The first in the order of jobs, whichever came first in time; the store's before all.
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
    // What was stopped because of another failure is not worth a word.
    let first = failures.values().find(|error| **error != RunError::Interrupted).or(failures.values().next());
    first.map_or(Ok(()), |error| Err(error.clone().into()))
}

fn run(job: &Job) -> Run<'_> {
    Run { control: job.control.clone(), workloads: job.workloads.iter().collect(), options: job.options }
}

/// Places of jobs that go together, the longest first: those whose end is open, then by the cycles of all members.
pub(super) fn units(jobs: &[&Job]) -> Vec<Vec<usize>> {
    let mut together: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, job) in jobs.iter().enumerate() {
        let measures = matches!(job.control, Control::Policy(policy) if policy.measures());
        let mut rest = job.identity.clone();
        rest.precision = None;
        // A job that goes with no other is told apart by its own control.
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
