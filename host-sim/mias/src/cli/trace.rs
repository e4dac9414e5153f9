//! `mias trace`: converts a kernel list into one trace file, says what a list or a file holds, and writes traces for others.

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
    /// Convert an Accel-Sim kernel list into one file that loads in milliseconds
    Convert {
        /// Kernel list (kernelslist.g)
        list: PathBuf,
        /// Trace file to write, whole or not at all, e.g. out.mtrace
        file: PathBuf,
    },
    /// Write a kernel's trace, or a kernel list again, for another simulator
    Export {
        /// Kernel, which is executed and its results checked, or kernel list (kernelslist.g)
        source: String,
        /// Form of the trace
        #[arg(long, value_enum)]
        to: ExportFormat,
        /// Folder to write, whole or not at all
        folder: PathBuf,
        /// Replace the trace that the folder holds
        #[arg(long)]
        force: bool,
    },
    /// Print launches, sizes, and how well memory accesses coalesce
    Info {
        /// Trace file or kernel list
        trace: PathBuf,
        /// Form of the report
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

/// The launches of a list or a trace file. What could not be understood is told on standard error.
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

/// A slip of the hand must not cost a kernel list or a source file.
fn refuse_to_replace(file: &Path) -> Result<(), CliError> {
    let taken = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if taken && !trace_file::is_trace_file(file).unwrap_or(false) {
        let file = file.display();
        return Err(CliError::User(format!("{file} exists and is not a trace file: remove it, or give another name")));
    }
    Ok(())
}
