//! `mias sweep`: IPC as a function of TBs per SM.

use super::args::SweepArgs;
use super::choices::TableFormat;
use super::progress::Progress;
use super::settings::Settings;
use super::tracing::Tracing;
use super::{CliError, interrupt, resolve, threads};
use mias_lab::experiment::gpu_runner::RunError;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::sweep::sweep;
use mias_lab::output::Output;
use mias_report::sweep_report::{self, Subject};

pub(super) fn main(args: &SweepArgs) -> Result<(), CliError> {
    let threads = threads::of_process(args.threads)?;
    let settings = Settings::alone(&args.gpu, args.cycles)?;
    let (gpu, options) = (&settings.gpu, settings.options());
    let output = Output::open(args.out.as_deref())?;
    let cancel = interrupt::catch()?;
    let workloads = resolve::apart(&resolve::different(std::slice::from_ref(&args.kernel))?, &Tracing::window(&args.traces)?, &cancel)?;
    resolve::warmable(&workloads, options)?;
    let workload = workloads.first().ok_or_else(|| CliError::internal("an argument without a kernel"))?;
    let progress = Progress::new(settings.cycles(), cancel.clone());
    let runner = SimulatedGpu::new(gpu.clone()).with_threads(threads).stopped_by(cancel);
    let result = sweep(&runner, workload, options, &progress);
    progress.clear();
    let sweep = result?;
    let missing = sweep.missing();
    if missing.len() == sweep.points.len() {
        return Err(RunError::Interrupted.into());
    }
    let subject = Subject { gpu, workload, options };
    let text = match args.format {
        TableFormat::Table => sweep_report::text(subject, &sweep),
        TableFormat::Json => sweep_report::json(subject, &sweep).map_err(CliError::internal)?,
        TableFormat::Csv => sweep_report::csv(subject, &sweep).map_err(CliError::internal)?,
    };
    output.write(&text)?;
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<String> = missing.iter().map(u32::to_string).collect();
    Err(CliError::Interrupted(format!("the curve lacks the points of {} TBs per SM", missing.join(", "))))
}
