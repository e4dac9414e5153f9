//! `mias kernels`: list of kernels with their occupancy; `--stats` adds profiles, `--check` checks
//! the results.

use super::args::KernelsArgs;
use super::choices::Format;
use super::progress::Progress;
use super::settings::Settings;
use super::tracing::Tracing;
use super::{CliError, interrupt, kernel_check, resolve};
use mias_hw_model::config::GpuConfig;
use mias_lab::cancel::Cancel;
use mias_lab::characterise::{Character, characterise};
use mias_lab::experiment::compare::Watch;
use mias_lab::experiment::gpu_runner::{Options, RunError};
use mias_lab::experiment::request::Request;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::Workload;
use mias_lab::output::Output;
use mias_ptx::names;
use mias_report::kernel_list::{self, KernelRow, letter};
use mias_report::{kernel_stats, kernel_stats_json};
use mias_warp_trace::KernelInfo;
use mias_workloads::kernels::OTHER_NAMES;
use rayon::prelude::*;

pub(super) fn main(args: &KernelsArgs) -> Result<(), CliError> {
    let settings = Settings::alone(&args.gpu, args.cycles)?;
    let gpu = &settings.gpu;
    let output = Output::open(args.out.as_deref())?;
    let requests = resolve::different(&args.kernels)?;
    if args.check {
        return kernel_check::main(&requests, args.format, &output);
    }
    let requests = by_launch(requests)?;
    if args.stats {
        return stats(args, &settings, &requests, &output);
    }
    let prepared = requests.iter().map(|(word, request)| Ok(row(word, request, &info(request)?, gpu)));
    let rows: Vec<KernelRow> = prepared.collect::<Result<_, CliError>>()?;
    let text = match args.format {
        Format::Json => kernel_list::json(&rows).map_err(CliError::internal)?,
        Format::Table => kernel_list::text(&rows),
    };
    Ok(output.write(&text)?)
}

/// Splits a trace into its launches.
pub(super) fn by_launch(requests: Vec<(String, Request)>) -> Result<Vec<(String, Request)>, CliError> {
    let mut single = Vec::new();
    for (word, request) in requests {
        match &request {
            Request::Kernel(_) => single.push((word, request)),
            Request::Trace(trace) => {
                let launches = trace.launches()?.into_iter();
                single.extend(launches.map(|(launch, _)| (launch.typed().to_owned(), Request::Trace(launch))));
            }
        }
    }
    Ok(single)
}

/// Returns the geometry and resources; of a trace, those of the first launch.
pub(super) fn info(request: &Request) -> Result<KernelInfo, CliError> {
    match request {
        Request::Kernel(spec) => Ok(spec.compile()?.1),
        Request::Trace(trace) => Ok(trace.launches()?.swap_remove(0).1),
    }
}

fn row(word: &str, request: &Request, info: &KernelInfo, gpu: &GpuConfig) -> KernelRow {
    let name = request.name(word);
    let Request::Kernel(request) = request else {
        let description = format!("{}, a trace", names::shown(&info.name));
        return KernelRow { name, description, ..KernelRow::of(info, gpu) };
    };
    let kernel = &request.kernel;
    let other_names = OTHER_NAMES.iter().filter(|(_, own)| Some(*own) == kernel.built_in_name()).map(|(other, _)| *other);
    KernelRow {
        name,
        other_names: other_names.collect(),
        suite: kernel.suite().map(str::to_owned),
        description: kernel.description().to_owned(),
        kernel_type: kernel.kernel_type().map(letter),
        size: request.size(),
        size_unit: kernel.size_unit().to_owned(),
        settings: kernel.settings().to_vec(),
        ..KernelRow::of(info, gpu)
    }
}

fn stats(args: &KernelsArgs, settings: &Settings, requests: &[(String, Request)], output: &Output) -> Result<(), CliError> {
    let (gpu, options) = (&settings.gpu, settings.options());
    let cancel = interrupt::catch()?;
    let workloads = resolve::apart(requests, &Tracing::grid(args.no_cache)?, &cancel)?;
    let characters = all(gpu, requests, &workloads, (options, settings.cycles()), cancel)?;
    let missing: Vec<&str> = workloads.iter().zip(&characters).filter(|(_, c)| c.is_none()).map(|(w, _)| w.name.as_str()).collect();
    let whole = requests.iter().zip(characters).filter_map(|((word, request), character)| {
        let character = character?;
        Some((row(word, request, &character.info, gpu), character))
    });
    let whole: Vec<(KernelRow, Character)> = whole.collect();
    if whole.is_empty() {
        return Err(RunError::Interrupted.into());
    }
    let text = match args.format {
        Format::Json => kernel_stats_json::render(gpu, &workloads, options, &whole, &missing).map_err(CliError::internal)?,
        Format::Table => {
            let (rows, characters): (Vec<KernelRow>, Vec<Character>) = whole.into_iter().unzip();
            let sections = kernel_stats::sections(&characters).into_iter().chain([kernel_stats::binding(&characters)]);
            let sections: String = sections.map(|section| section.text()).collect();
            format!("{}{}{sections}", kernel_stats::heading(gpu, options), kernel_list::table(&rows))
        }
    };
    output.write(&text)?;
    if missing.is_empty() { Ok(()) } else { Err(CliError::Interrupted(format!("the report lacks {}", missing.join(", ")))) }
}

/// Runs every kernel alone, in parallel; `None` for interrupted ones.
fn all(
    gpu: &GpuConfig,
    requests: &[(String, Request)],
    workloads: &[Workload],
    (options, cycles): (Options, Option<u64>),
    cancel: Cancel,
) -> Result<Vec<Option<Character>>, CliError> {
    let progress = Progress::new(cycles, cancel.clone());
    let runner = SimulatedGpu::new(gpu.clone()).stopped_by(cancel);
    let watch: &dyn Watch = &progress;
    let one = |(workload, (_, request)): (&Workload, &(String, Request))| {
        characterise(&runner, gpu, (workload, request.built_in_name()), options, watch)
    };
    let characters: Vec<Result<Option<Character>, RunError>> = workloads.par_iter().zip(requests).map(one).collect();
    progress.clear();
    Ok(characters.into_iter().collect::<Result<_, _>>()?)
}
