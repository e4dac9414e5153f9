//! Execution of a shard: the missing runs of its share, and first the isolated runs that dependent
//! runs need.

use super::super::execute::{ExecuteError, Watch, execute, missing};
use super::super::findings::Runs;
use super::super::store::Store;
use super::super::study::{Job, Studies};
use super::deal::Share;
use crate::cancel::Cancel;
use crate::experiment::gpu_runner::{GpuRunner, RunError};
use std::collections::BTreeSet;

/// Executes the missing runs of `share`; returns their number. `machine`, `cancel` and `watch` are
/// those of [`execute`].
///
/// # Errors
/// [`ExecuteError`]: of the store, or of an interrupt, at once; of a run when all others have
/// ended. Finished runs are stored in any case.
pub fn work(
    share: &Share,
    studies: &mut Studies<'_>,
    store: &Store,
    runner: &(dyn Fn(&Job) -> Box<dyn GpuRunner> + Sync),
    cancel: &Cancel,
    watch: &dyn Watch,
) -> Result<usize, ExecuteError> {
    let (mut done, mut failed) = (0, None);
    let mut run = |studies: &Studies<'_>, keys: &BTreeSet<String>| {
        let missing = missing(keys.iter().filter_map(|key| studies.jobs.get(key)), store);
        match execute(&missing, store, runner, cancel, watch) {
            Ok(()) => done += missing.len(),
            Err(error @ (ExecuteError::Store(_) | ExecuteError::Run(RunError::Interrupted))) => return Err(error),
            Err(error) => drop(failed.get_or_insert(error)),
        }
        Ok(())
    };
    // Runs that others may depend on go first, so that other shards find them.
    let for_waiting = studies.alone_for_waiting(None);
    let (early, rest) = share.keys.iter().cloned().partition(|key| for_waiting.contains(key));
    run(studies, &early)?;
    run(studies, &rest)?;
    if !share.waiting.is_empty() {
        let alone = studies.alone_for_waiting(Some(&share.waiting));
        run(studies, &alone.difference(&share.keys).cloned().collect())?;
        let runs = Runs::of(studies, store, alone.iter());
        let (keys, _) = share.all_keys(studies, &runs)?;
        studies.add_waiting_of(&share.waiting, &|study, group, policy| runs.ran(study, group, policy))?;
        run(studies, &keys.difference(&share.keys).cloned().collect())?;
    }
    failed.map_or(Ok(done), Err)
}
