//! `mias trace`: converts a kernel list into a trace file, prints information about traces, and
//! exports them for other simulators.

use super::choices::Format;
use super::{CliError, export, say};
use clap::{Subcommand, ValueEnum};
use mias_lab::experiment::workload::{self, Recorded};
use mias_lab::output::Output;
use mias_report::trace_info::TraceInfo;
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::{self, Sizes, TraceFile};
use mias_workloads::trace_store::Cache;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(super) enum TraceCommand {
    /// Convert an Accel-Sim kernel list into one compact file
    Convert {
        /// Kernel list (kernelslist.g)
        list: PathBuf,
        /// Trace file to write, as in out.mtrace
        file: PathBuf,
    },
    /// Export a kernel's trace, or a kernel list, for another simulator
    Export {
        /// Kernel, executed and checked, or kernel list (kernelslist.g)
        source: String,
        /// Trace format
        #[arg(long, value_enum)]
        to: ExportFormat,
        /// Folder to write
        folder: PathBuf,
        /// Overwrite a trace in the folder
        #[arg(long)]
        force: bool,
    },
    /// Print launches, sizes and coalescing of memory accesses
    Info {
        /// Trace file or kernel list
        trace: PathBuf,
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
}

/// Form of an exported trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    /// Accel-Sim's, version 5: kernelslist.g and kernel-N.traceg.xz
    Accelsim,
}

pub(super) fn main(command: &TraceCommand) -> Result<(), CliError> {
    match command {
        TraceCommand::Convert { list, file } => convert(list, file),
        TraceCommand::Export { source, to: ExportFormat::Accelsim, folder, force } => export::main(source, folder, *force),
        TraceCommand::Info { trace, format } => info(trace, *format),
    }
}

fn convert(list: &Path, file: &Path) -> Result<(), CliError> {
    refuse_to_replace(file)?;
    let output = Output::open(Some(file))?;
    let (recorded, warnings) = read(list)?;
    let bytes = encode(&recorded, warnings.clone());
    let sizes = Sizes::of(&bytes).map_err(CliError::internal)?;
    output.write(&bytes)?;
    let summary = TraceInfo::new(&recorded, &sizes, &warnings).summary();
    Ok(Output::open(None)?.write(&format!("{}: {summary}", file.display()))?)
}

fn info(trace: &Path, format: Format) -> Result<(), CliError> {
    let (recorded, warnings) = read(trace)?;
    let sizes = match &recorded.sizes {
        Some(sizes) => sizes.clone(),
        None => Sizes::of(&encode(&recorded, warnings.clone())).map_err(CliError::internal)?,
    };
    let info = TraceInfo::new(&recorded, &sizes, &warnings);
    let text = match format {
        Format::Table => info.text(),
        Format::Json => info.json().map_err(CliError::internal)?,
    };
    Ok(Output::open(None)?.write(&text)?)
}

/// Reads the launches of a list or a trace file. Trace content that was not understood is reported
/// on standard error.
pub(super) fn read(trace: &Path) -> Result<(Recorded, Warnings), CliError> {
    let mut warnings = Warnings::new();
    let recorded = workload::read_trace(trace, &Cache::off(), &mut warnings)?;
    if !warnings.is_empty() {
        say::warning(&warnings);
    }
    Ok((recorded, warnings))
}

fn encode(recorded: &Recorded, warnings: Warnings) -> Vec<u8> {
    let launch = |w: &workload::Workload| trace_file::Launch { stream: w.stream, trace: w.trace.clone() };
    let launches = recorded.workloads.iter().map(launch).collect();
    trace_file::encode(&TraceFile { name: recorded.name.clone(), warnings, launches })
}

/// Refuses to overwrite a kernel list or a source file after a typing error.
fn refuse_to_replace(file: &Path) -> Result<(), CliError> {
    let taken = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if taken && !trace_file::is_trace_file(file).unwrap_or(false) {
        let file = file.display();
        return Err(CliError::User(format!("{file} exists and is not a trace file: remove it, or use another name")));
    }
    Ok(())
}
