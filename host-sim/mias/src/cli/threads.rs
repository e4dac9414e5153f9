//! `--threads` and `--jobs`: how many threads of this machine a command takes, for all that it does at a time.

use super::CliError;
use mias_lab::experiment::threads::Threads;

/// The threads that runs share. `asked` for so many, even beyond the cores, also inside of runs; otherwise each run has its own only, and
/// as many go on at a time as affinity and cgroup leave cores to the process. Once per process, before anything runs in parallel.
///
/// # Errors
/// [`CliError::Internal`] if the system has no such threads.
pub(super) fn of_process(asked: Option<u16>) -> Result<Threads, CliError> {
    let Some(threads) = asked.map(usize::from) else { return Ok(Threads::one()) };
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(CliError::internal)?;
    Ok(Threads::new(threads))
}
