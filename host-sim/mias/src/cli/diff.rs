//! `mias diff`: comparison of the runs in two result folders.

use super::CliError;
use mias_lab::evaluate::diff::Diff;
use mias_lab::evaluate::store::Store;
use mias_lab::output::Output;
use mias_report::evaluation;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    /// Folder that `mias evaluate` wrote
    first: PathBuf,
    /// Second folder
    second: PathBuf,
}

pub(super) fn main(args: &DiffArgs) -> Result<(), CliError> {
    let (first, first_note) = Store::existing(&args.first)?;
    let (second, second_note) = Store::existing(&args.second)?;
    let diff = Diff::of(&first.records()?, &second.records()?);
    let models = (first_note.model.as_str(), second_note.model.as_str());
    Output::open(None)?.write(&evaluation::diff::render(&diff, models))?;
    match diff.unreadable.len() {
        0 if diff.is_empty() => Ok(()),
        0 => Err(CliError::Differs("the folders differ".into())),
        files => Err(CliError::Differs(format!("unreadable runs: {files}; `mias evaluate` repeats damaged runs"))),
    }
}
