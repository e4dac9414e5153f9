//! `--threads` and `--jobs`: how many threads of this machine a command takes, for all that it does at a time.

use super::CliError;
use mias_lab::experiment::threads::Threads;

/// The threads that runs share: so many as were `asked` for, even beyond the cores, or one for each core that affinity and cgroup leave to the
/// process. Once per process, before anything runs in parallel.
///
/// # Errors
/// [`CliError::Internal`] if the system has no such threads.
pub(super) fn of_process(asked: Option<u16>) -> Result<Threads, CliError> {
    if let Some(threads) = asked {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global().map_err(CliError::internal)?;
    }
    Ok(Threads::new(rayon::current_num_threads()))
}
