//! `mias cache`: prints information about the trace cache, or clears it.

use super::CliError;
use super::choices::Format;
use bytesize::ByteSize;
use clap::Subcommand;
use mias_lab::output::Output;
use mias_lab::table::grouped;
use mias_workloads::trace_store::{FOLDER_VARIABLE, Place, Store, Usage};
use serde::Serialize;

#[derive(Debug, Subcommand)]
pub(super) enum CacheCommand {
    /// Print folder, number of traces, size and size limit of the cache
    Info {
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Remove all cached traces
    Clean,
}

/// Cache information in its JSON form.
#[derive(Serialize)]
struct Info {
    folder: String,
    traces: u64,
    bytes: u64,
    limit_bytes: u64,
}

pub(super) fn main(command: &CacheCommand) -> Result<(), CliError> {
    let place = Place::of_process().map_err(|error| CliError::User(error.to_string()))?;
    let Some(folder) = place.folder else {
        return Err(CliError::User(format!("no cache folder: the home folder is unknown; set {FOLDER_VARIABLE}")));
    };
    let store = Store::new(folder, place.limit_bytes);
    let folder = store.folder().display().to_string();
    let fail = |error| CliError::User(format!("{folder}: {error}"));
    let text = match command {
        CacheCommand::Clean => {
            let removed = amount(store.clean().map_err(fail)?);
            format!("{folder}: removed {removed}\n")
        }
        CacheCommand::Info { format } => {
            let usage = store.usage().map_err(fail)?;
            match format {
                Format::Table => format!("{folder}: {}, of at most {}\n", amount(usage), ByteSize(store.limit_bytes())),
                Format::Json => {
                    let info = Info { folder, traces: usage.traces, bytes: usage.bytes, limit_bytes: store.limit_bytes() };
                    serde_json::to_string_pretty(&info).map_err(CliError::internal)? + "\n"
                }
            }
        }
    };
    Ok(Output::open(None)?.write(&text)?)
}

fn amount(usage: Usage) -> String {
    let plural = if usage.traces == 1 { "" } else { "s" };
    format!("{} trace{plural}, {}", grouped(usage.traces), ByteSize(usage.bytes))
}
