//! `mias gpu fit`: coefficient of the Linear metric for one GPU.

use super::args::TraceArgs;
use super::progress::Progress;
use super::tracing::Tracing;
use super::{CliError, interrupt, resolve, settings};
use clap::Args;
use mias_lab::experiment::fit::fit;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::output::Output;
use mias_registers::MAX_WINDOW;
use mias_report::fit_report;
use mias_workloads::kernels;

#[derive(Debug, Args)]
pub(super) struct FitArgs {
    /// GPU: a built-in name or a TOML file
    gpu: String,
    /// Kernels [default: the thesis' seven]
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,
    /// Window in core cycles
    #[arg(long, default_value_t = 45_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WINDOW)), value_name = "N")]
    profile_cycles: u32,
    /// Also print leave-one-out and leave-two-out fits
    #[arg(long)]
    leave_out: bool,
    #[command(flatten)]
    traces: TraceArgs,
}

pub(super) fn main(args: &FitArgs) -> Result<(), CliError> {
    let gpu = settings::load_gpu(&args.gpu)?;
    let names = match args.kernels.as_slice() {
        [] => kernels::THESIS.map(str::to_owned).to_vec(),
        some => some.to_vec(),
    };
    let cancel = interrupt::catch()?;
    let workloads = resolve::calibration(&names, &Tracing::window(&args.traces)?, &cancel)?;
    let progress = Progress::new(None, cancel.clone());
    let runner = SimulatedGpu::new(gpu.clone()).stopped_by(cancel);
    let result = fit(&runner, &workloads, args.profile_cycles, &progress);
    progress.clear();
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    let result = result?;
    let mut text = fit_report::text(&result, &gpu, &names, args.profile_cycles);
    if args.leave_out {
        text += &fit_report::without(&result, &names);
    }
    Ok(Output::open(None)?.write(&text)?)
}
