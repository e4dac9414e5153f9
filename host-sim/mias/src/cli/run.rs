//! `mias run`: detailed measurements of one policy, or a replay of the launches of an Accel-Sim
//! trace.

use super::args::RunArgs;
use super::arrivals::Arrive;
use super::choices::Format;
use super::dump::Dumps;
use super::progress::Progress;
use super::replay::Replay;
use super::settings::Settings;
use super::tracing::Tracing;
use super::{CliError, custom_policy, faults, firmware, interrupt, resolve, say, threads, user_kernel};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::KERNEL_SLOTS;
use mias_lab::experiment::compare::{Ran, Watch, ran, takes};
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run};
use mias_lab::experiment::oversubscription::check_extra;
use mias_lab::experiment::policy::Policy;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::Workload;
use mias_lab::output::Output;
use mias_lab::validation::reference::{self, ReferenceLaunch};
use mias_report::run_report::{self, Seconds, Subject};
use mias_report::{timeline, vcd};
use mias_trace::accelsim;
use mias_workloads::input::file;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Returns the number of kernels that can share an SM in a run. For a list, it ranges from one to
/// the number of slots.
fn kernels_of(args: &RunArgs) -> RangeInclusive<usize> {
    match (&args.trace, &args.user.ptx) {
        (Some(_), _) => 1..=KERNEL_SLOTS,
        (None, Some(_)) => 1..=1,
        (None, None) => args.kernels.len()..=args.kernels.len(),
    }
}

/// Refuses settings that have no effect with an option.
fn check(args: &RunArgs, settings: &Settings) -> Result<(), CliError> {
    let drawn = [("--timeline", args.timeline.is_some()), ("--vcd", args.vcd.is_some()), ("--record", args.record.is_some())];
    let refuse = |option: &str, key: &str, why: &str| Err(CliError::User(format!("{option}: {why}: leave `{key}` out, or {option}")));
    let of_replay =
        ["cycles", "until", "relaunch", "counted", "order", "arrive", "priority", "limit", "precision", "share-memory", "queue.launches"];
    if let (Some(_), Some(key)) = (&args.trace, of_replay.into_iter().find(|key| settings.assigned.has(key))) {
        return refuse("--trace", key, "it replays each launch of a trace once, to its end");
    }
    if let Some((option, _)) = drawn.iter().find(|(_, asked)| *asked && settings.options().precision.is_some()) {
        return refuse(option, "precision", "it cannot draw a run that may end before its window");
    }
    let whole = [drawn[0], drawn[1], ("--explain", args.common.explain)];
    if let Some((option, _)) = whole.iter().find(|(_, asked)| *asked && settings.options().queue.is_some()) {
        return refuse(option, "queue.launches", "a queue has too many launches for it");
    }
    if settings.assigned.has("power-cycles") && args.timeline.is_none() {
        return Err(CliError::User("power-cycles applies to timelines: add --timeline FILE, or leave it out".into()));
    }
    Ok(())
}

/// Runs the command; `started` is the start time of the process.
pub(super) fn main(args: &RunArgs, started: Instant) -> Result<(), CliError> {
    let common = &args.common;
    let threads = threads::of_process(common.threads)?;
    let user = user_kernel::wanted(args)?;
    let settings = Settings::of(&args.gpu, common, true, &kernels_of(args))?;
    check(args, &settings)?;
    let (gpu, parameters) = (&settings.gpu, &settings.parameters);
    let output = Output::open(common.out.as_deref())?;
    let drawings = Drawings::open(args)?;
    let mut dumps = Dumps::new(&args.dump, Drawings::files(args).cloned().collect());
    let image = settings.image(&common.firmware, args.policy.as_slice())?;
    if args.policy == Some(Policy::Sequential) {
        return Err(CliError::User(
            "`sequential` is not a run: it is derived from isolated runs; see `mias compare --policy sequential`".into(),
        ));
    }
    custom_policy::check(args.policy.as_slice(), image.is_some())?;
    custom_policy::check_record(args.policy, args.record.as_deref())?;
    let reference = args.reference.as_deref().map(read_reference).transpose()?;
    let cancel = interrupt::catch()?;
    let (replay, mut workloads, policy, options) = match &args.trace {
        None => {
            let tracing = Tracing::window(&common.traces)?.printing(args.print);
            let kept = (&tracing, &cancel);
            let arrive = Arrive { words: &common.arrive, parameters, gpu };
            let workloads = match user {
                Some(ptx) => resolve::user_workload(user_kernel::of(ptx, &args.user)?, arrive, &mut dumps, kept)?,
                None => resolve::dumped_workloads((&args.kernels, args.user.nvcc.as_deref()), arrive, &mut dumps, kept)?,
            };
            (None, workloads, args.policy.unwrap_or(Policy::MiasIpmIpc), parameters.options)
        }
        Some(list) => {
            let options = Options { end: End::Done, ..parameters.options };
            let (replay, workloads) = Replay::open(list, Tracing::window(&common.traces)?)?;
            resolve::warmable(&workloads, options)?;
            (Some(replay), workloads, args.policy.unwrap_or(Policy::LeftOver), options)
        }
    };
    settings.check(&[policy], if args.trace.is_some() { 1 } else { workloads.len() })?;
    check_extra(gpu, &workloads)?;
    let cycles = if args.trace.is_some() { None } else { settings.cycles() };
    let progress = Progress::new(cycles, cancel.clone());
    let mut runner = SimulatedGpu::new(gpu.clone()).with_image(image).with_threads(threads).stopped_by(cancel);
    if parameters.every_cycle {
        runner = runner.without_skipping();
    }
    if drawings.wanted() {
        runner = runner.recording();
    }
    if args.timeline.is_some() {
        runner = runner.noting_energy(parameters.power_cycles);
        runner = runner.recording_context_moves(timeline::MOST_CONTEXT_NOTES);
    }
    if common.explain {
        runner = runner.explaining();
    }
    if args.record.is_some() {
        runner = runner.recording_firmware();
    }
    if let Some(list) = &args.trace {
        check_fit(&runner, list, &workloads)?;
    }
    if let Some(replay) = &replay {
        replay.begin(&workloads);
    }
    let ready = Instant::now();
    let result = simulate(&runner, &workloads, policy, options, &progress);
    let all: Vec<&Workload> = workloads.iter().collect();
    let takes = result.and_then(|outcome| Ok((outcome, takes(&runner, &all, options, &progress)?)));
    progress.clear();
    let (outcome, takes) = takes?;
    // The GPU is built while the first launch is read; simulation starts when both are ready.
    let simulating = replay.as_ref().and_then(Replay::began).map_or(ready, |read| read.max(ready));
    if let Some(replay) = &replay {
        replay.end(&mut workloads);
    }

    if let Some(parted) = &outcome.parted {
        say::warning(no_account(policy, parted));
    }
    faults::tell(policy, outcome.faults);
    drawings.write(&outcome, &workloads, gpu)?;
    dumps.write()?;
    let seconds = args.timing.then(|| Seconds { load: (simulating - started).as_secs_f64(), simulate: simulating.elapsed().as_secs_f64() });
    let subject = Subject { gpu, workloads: &workloads, policy, options, takes: &takes, seconds };
    let mut text = match args.format {
        Format::Table => run_report::text(subject, &outcome, common.explain),
        Format::Json => run_report::json(subject, &outcome).map_err(CliError::internal)?,
    };
    if let (Some(rows), Some(replay)) = (&reference, &replay) {
        let kernels: Vec<&str> = workloads.iter().map(|w| w.name.as_str()).collect();
        let beside = reference::compare(rows, &replay.name, &kernels, &outcome.launches).map_err(CliError::User)?;
        match args.format {
            Format::Table => text += &beside,
            Format::Json => eprint!("{beside}"),
        }
    }
    Ok(output.write(&text)?)
}

/// Requested files other than the report.
struct Drawings {
    timeline: Option<Output>,
    vcd: Option<Output>,
    record: Option<Output>,
}

impl Drawings {
    /// Opens the files before the simulation, so that unwritable paths fail early.
    fn open(args: &RunArgs) -> Result<Self, CliError> {
        let files: Vec<&PathBuf> = Self::files(args).collect();
        if let Some(twice) = files.iter().enumerate().find(|(at, file)| files[..*at].contains(file)) {
            return Err(CliError::User(format!("{}: two outputs share this file", twice.1.display())));
        }
        args.record.as_deref().map_or(Ok(()), firmware::refuse_to_replace)?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(|path| Output::open(Some(path))).transpose();
        Ok(Drawings { timeline: open(&args.timeline)?, vcd: open(&args.vcd)?, record: open(&args.record)? })
    }

    /// Returns all requested files except dumps.
    fn files(args: &RunArgs) -> impl Iterator<Item = &PathBuf> {
        [&args.common.out, &args.timeline, &args.vcd, &args.record].into_iter().flatten()
    }

    fn wanted(&self) -> bool {
        self.timeline.is_some() || self.vcd.is_some()
    }

    fn write(&self, outcome: &Outcome, workloads: &[Workload], gpu: &GpuConfig) -> Result<(), CliError> {
        if let Some(output) = &self.timeline {
            output.write(&timeline::render(outcome, workloads, gpu))?;
        }
        if let Some(output) = &self.vcd {
            output.write(&vcd::render(outcome, gpu).map_err(CliError::internal)?)?;
        }
        if let (Some(output), Some(recording)) = (&self.record, &outcome.recording) {
            firmware::write(output, recording)?;
        }
        Ok(())
    }
}

/// Returns a note about data missing from the report after the image and the firmware in this
/// process diverged.
pub(super) fn no_account(policy: Policy, parted: &str) -> String {
    format!("{}: the image's decisions are unknown from here on: {parted}", policy.name())
}

fn simulate(
    runner: &SimulatedGpu,
    workloads: &[Workload],
    policy: Policy,
    options: Options,
    watch: &dyn Watch,
) -> Result<Outcome, CliError> {
    let all: Vec<&Workload> = workloads.iter().collect();
    let Ran { control, fields } = ran(runner, &all, policy, options, watch)?;
    watch.planned(1);
    let outcome = runner.with_fields(&fields)?.run(&Run { control, workloads: all, options }, &|cycles| watch.cycles(cycles));
    watch.finished();
    Ok(outcome?)
}

/// Refuses a trace with a TB that fits on no SM, before the simulation.
fn check_fit(runner: &SimulatedGpu, trace: &Path, workloads: &[Workload]) -> Result<(), CliError> {
    for (at, workload) in workloads.iter().enumerate() {
        if let Err(error) = runner.max_tbs(workload) {
            // Name the kernel's file if the trace is a list.
            let file = accelsim::read_list(trace).ok().and_then(|list| Some(list.kernels().nth(at)?.to_owned()));
            let file = file.unwrap_or_else(|| trace.to_owned());
            return Err(CliError::User(format!("{}: {error}", file.display())));
        }
    }
    Ok(())
}

fn read_reference(path: &Path) -> Result<Vec<ReferenceLaunch>, CliError> {
    let text = file::text(path).map_err(|error| CliError::User(format!("cannot read {}: {error}", path.display())))?;
    reference::parse(&text).map_err(|error| CliError::User(format!("{}:{error}", path.display())))
}
