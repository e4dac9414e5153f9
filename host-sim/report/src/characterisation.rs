//! The tables of `docs/results/kernels.md`: the seven kernels on the thesis' GPU. `cargo xtask
//! characterise` writes the document.

use super::kernel_list::{HEADINGS, KernelRow, letter};
use super::section::Section;
use super::sweep_report::{self, Subject};
use super::{comparison_table, kernel_stats};
use mias_hw_model::config::GpuConfig;
use mias_lab::characterise::{Character, from_sweep};
use mias_lab::experiment::compare::Watch;
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::sweep::{Sweep, sweep};
use mias_lab::experiment::workload::Workload;
use mias_lab::{fingerprint, gpus};
use mias_workloads::kernels::{self, Spec};
use rayon::prelude::*;
use std::sync::Arc;

/// GPU of the thesis.
const GPU: &str = "rtx2060";

/// Window of each run in core cycles: that of `compare`.
const CYCLES: u64 = 300_000;

/// Receiver that ignores progress.
struct Unwatched;

impl Watch for Unwatched {
    fn planned(&self, _runs: usize) {}
    fn cycles(&self, _cycles: u64) {}
    fn finished(&self) {}
}

/// Formats the document's tables of geometry and resources, which need no run.
///
/// # Errors
/// A sentence, if the GPU's file or a kernel cannot be read.
pub fn resources() -> Result<String, String> {
    let gpu = gpus::load(GPU).map_err(|error| error.to_string())?;
    let cells = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = cells(&HEADINGS.map(str::to_owned)) + &format!("|---|{}\n", "---|".repeat(HEADINGS.len() - 1));
    for name in kernels::THESIS {
        let spec = Spec::parse(name).map_err(|error| error.to_string())?;
        let (_, info) = spec.compile().map_err(|error| error.to_string())?;
        text += &cells(&KernelRow { kernel_type: spec.kernel.kernel_type().map(letter), ..KernelRow::of(&info, &gpu) }.cells());
    }
    Ok(text)
}

/// Formats all tables as Markdown: every kernel with every number of TBs per SM.
///
/// # Errors
/// A sentence that names the kernel that could not be run.
pub fn markdown() -> Result<String, String> {
    let gpu = gpus::load(GPU).map_err(|error| error.to_string())?;
    let options = Options::new(End::Cycles(CYCLES));
    let kernels: Vec<(Workload, Character, Sweep)> =
        kernels::THESIS.into_par_iter().map(|name| one(name, &gpu, options)).collect::<Result<_, String>>()?;
    let mut text = format!("## Resources\n\n{}", resources()?);
    text += &format!("\n## Alone\n\nEvery kernel {}.\n", comparison_table::place(&gpu, options));
    let characters: Vec<Character> = kernels.iter().map(|(_, character, _)| character.clone()).collect();
    text += &kernel_stats::sections(&characters).iter().map(Section::markdown).collect::<String>();
    text += "\n## IPC against TBs per SM\n\n| kernel | shape | because |\n|---|---|---|\n";
    for (workload, _, sweep) in &kernels {
        let (shape, because) = sweep.shape().map_or(("", String::new()), |verdict| (verdict.shape.name(), verdict.because));
        text += &format!("| {} | {shape} | {because} |\n", workload.name);
    }
    for (workload, _, sweep) in &kernels {
        let table = sweep_report::table_and_shape(Subject { gpu: &gpu, workload, options }, sweep);
        text += &format!("\n### {}\n\n```text\n{table}```\n", workload.name);
    }
    let traces = kernels.iter().map(|(workload, ..)| format!("{} `{}`", workload.name, workload.hash)).collect::<Vec<_>>().join(", ");
    Ok(text + &format!("\nFingerprints: GPU `{}`; traces: {traces}.\n", fingerprint::gpu(&gpu)))
}

fn one(name: &'static str, gpu: &GpuConfig, options: Options) -> Result<(Workload, Character, Sweep), String> {
    let fail = |error: &dyn std::fmt::Display| format!("kernel `{name}`: {error}");
    let spec = Spec::parse(name).map_err(|error| error.to_string())?;
    let trace = spec.prepare().and_then(|prepared| prepared.record()).map_err(|error| fail(&error))?;
    let workload = Workload::new(name, Arc::new(trace), 0);
    let sweep = sweep(&SimulatedGpu::new(gpu.clone()), &workload, options, &Unwatched).map_err(|error| fail(&error))?;
    let character = from_sweep(&sweep, gpu, (&workload, Some(name)), options).ok_or_else(|| fail(&"a run has no result"))?;
    Ok((workload, character, sweep))
}

#[cfg(test)]
mod tests {
    /// The rest of the document takes minutes; tables without runs are compared with today's
    /// kernels.
    #[test]
    fn the_document_shows_todays_resources() {
        let document = include_str!("../../../docs/results/kernels.md");
        assert!(document.contains(&super::resources().unwrap()), "docs/results/kernels.md is out of date: run `cargo xtask characterise`");
    }
}
