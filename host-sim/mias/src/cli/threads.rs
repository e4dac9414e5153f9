//! `--threads` and `--jobs`: number of threads that a command uses in total.

use super::CliError;
use mias_lab::experiment::threads::Threads;

/// Creates the worker threads shared by all runs. Their number is `asked`, even beyond the cores,
/// or one for each core that affinity and cgroup allow. Call it once per process, before any
/// parallel work.
///
/// # Errors
/// [`CliError::Internal`] if the system cannot start the threads.
pub(super) fn of_process(asked: Option<u16>) -> Result<Threads, CliError> {
    if let Some(threads) = asked {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global().map_err(CliError::internal)?;
    }
    Ok(Threads::new(rayon::current_num_threads()))
}
