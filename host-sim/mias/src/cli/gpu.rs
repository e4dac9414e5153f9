//! `mias gpu list` and `mias gpu show`: GPUs, built in or from a file.

use super::args::GpuCommand;
use super::choices::Format;
use super::{CliError, fit, kernels, resolve, settings};
use mias_lab::characterise::occupancy::Occupancy;
use mias_lab::gpus;
use mias_lab::output::Output;
use mias_report::gpu_list;
use mias_report::gpu_summary::{GpuSummary, Placed};

pub(super) fn main(command: &GpuCommand) -> Result<(), CliError> {
    let text = match command {
        GpuCommand::List { format } => list(*format)?,
        GpuCommand::Show { gpu, format, summary: None } => show(gpu, *format)?,
        GpuCommand::Show { gpu, format, summary: Some(kernels) } => summary(gpu, kernels, *format)?,
        GpuCommand::Fit(args) => return fit::main(args),
    };
    Ok(Output::open(None)?.write(&text)?)
}

fn list(format: Format) -> Result<String, CliError> {
    let gpus = gpus::built_in();
    match format {
        Format::Table => Ok(gpu_list::text(&gpus)),
        Format::Json => gpu_list::json(&gpus).map_err(CliError::internal),
    }
}

/// Prints a GPU with inherited values: as a file without a base, or as its values.
fn show(word: &str, format: Format) -> Result<String, CliError> {
    let gpu = settings::load_gpu(word)?;
    match format {
        Format::Table => Ok(gpus::resolved(word)?),
        Format::Json => Ok(serde_json::to_string_pretty(&gpu).map_err(CliError::internal)? + "\n"),
    }
}

fn summary(word: &str, words: &[String], format: Format) -> Result<String, CliError> {
    let gpu = &settings::load_gpu(word)?;
    let requests = if words.is_empty() { Vec::new() } else { kernels::by_launch(resolve::different(words)?)? };
    let placed = requests.iter().map(|(word, request)| {
        let Occupancy { max_tbs, limits } = Occupancy::of(&kernels::info(request)?, gpu);
        Ok(Placed { kernel: request.name(word), max_tbs, limited_by: limits })
    });
    let placed = placed.collect::<Result<_, CliError>>()?;
    let summary = GpuSummary::of(gpu, word, placed, &gpus::built_in());
    match format {
        Format::Table => Ok(summary.text()),
        Format::Json => summary.json().map_err(CliError::internal),
    }
}
