//! Ctrl-C handling: the first stops the run and keeps finished work, the second ends the process at
//! once.

use super::CliError;
use mias_lab::cancel::Cancel;

/// Installs the Ctrl-C handler. Call it once per process.
///
/// # Errors
/// [`CliError::Internal`] if the system refuses a handler.
pub(super) fn catch() -> Result<Cancel, CliError> {
    let cancel = Cancel::default();
    let seen = cancel.clone();
    let handler = move || {
        if !seen.request() {
            std::process::exit(CliError::INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(handler).map_err(CliError::internal)?;
    Ok(cancel)
}
