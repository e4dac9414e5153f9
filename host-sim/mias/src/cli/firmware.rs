//! `mias firmware`: recordings replayed to the firmware here and in QEMU, and generated recordings.

use super::choices::{Format, choice};
use super::{CliError, interrupt};
use clap::{Args, Subcommand};
use mias_lab::choice::Choice;
use mias_lab::cosim::recording::{self, Recording, generate};
use mias_lab::cosim::replay::{self, Counts, Ready, Target, Verdict};
use mias_lab::cosim::{Image, Parts};
use mias_lab::experiment::gpu_runner::RunError;
use mias_lab::output::{Output, OutputError};
use mias_lab::table::grouped;
use mias_registers::{KERNEL_SLOTS, MAX_SMS};
use mias_report::replay_report;
use rayon::prelude::*;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(super) enum FirmwareCommand {
    /// Replay a recording on the firmware and its QEMU images; exit code 1 if any register access
    /// differs
    Replay(ReplayArgs),
    /// Generate a recording with random GPUs, policies, kernels and counters from a seed
    Generate(GenerateArgs),
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// Recording from `mias run --record` or `mias firmware generate`
    recording: PathBuf,
    /// Targets, repeated or separated by commas [default: native and every core whose image is
    /// built]
    #[arg(long, value_parser = choice::<Target>(), value_delimiter = ',', value_name = "TARGET")]
    on: Vec<Target>,
    /// Image to use instead of the one that `cargo xtask image` builds; needs a single target
    #[arg(long, value_name = "ELF")]
    image: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct GenerateArgs {
    /// Recording to write, as in out.mrec; an existing file is kept
    file: PathBuf,
    /// Overwrite an existing recording
    #[arg(long)]
    force: bool,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Number of runs from reset, each on its own GPU
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "N")]
    cases: u32,
    /// Maximum number of SMs; images support 32, or 132 if built for it
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=MAX_SMS as i64), value_name = "N")]
    sms: u32,
    /// Maximum number of concurrent kernels; more than the firmware's 4 wait
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=KERNEL_SLOTS as i64), value_name = "N")]
    kernels: u32,
}

pub(super) fn main(command: &FirmwareCommand) -> Result<(), CliError> {
    match command {
        FirmwareCommand::Replay(args) => replay(args),
        FirmwareCommand::Generate(args) => generate(args),
    }
}

fn replay(args: &ReplayArgs) -> Result<(), CliError> {
    if args.image.is_some() && !matches!(args.on.as_slice(), [one] if one.core().is_some()) {
        return Err(CliError::User("--image requires its core: --on m4, --on m0 or --on riscv".into()));
    }
    let recording = recording::read(&args.recording)?;
    let (targets, not_built) = targets(&args.on, args.image.is_some(), Parts::asked_in(&recording));
    let output = Output::open(args.out.as_deref())?;
    let cancel = interrupt::catch()?;
    let ready = targets.iter().map(|&target| Ready::new(target, args.image.as_deref(), &recording));
    let ready: Vec<Ready> = ready.collect::<Result<_, _>>()?;
    let verdicts: Option<Vec<Verdict>> = ready.into_par_iter().map(|ready| replay::replay(&recording, ready, &cancel)).collect();
    let verdicts = verdicts.ok_or(RunError::Interrupted)?;
    let text = match args.format {
        Format::Table => replay_report::text(&recording, &verdicts, &not_built),
        Format::Json => replay_report::json(&recording, &verdicts, &not_built).map_err(CliError::internal)?,
    };
    output.write(&text)?;
    let differing: Vec<String> = verdicts.iter().filter_map(replay_report::why).collect();
    if differing.is_empty() { Ok(()) } else { Err(CliError::Differs(differing.join("; "))) }
}

/// Returns the targets to replay on. The default is this process and every core whose image is
/// built; the result also lists the cores without an image and how to build it. A given image
/// requires a named core.
fn targets(named: &[Target], image_given: bool, parts: Parts) -> (Vec<Target>, Vec<Target>) {
    let all = Target::ALL.iter().copied();
    if !named.is_empty() || image_given {
        return (all.filter(|target| named.is_empty() || named.contains(target)).collect(), Vec::new());
    }
    all.partition(|target| target.core().is_none_or(|core| Image::built_for(core, parts).is_ok()))
}

fn generate(args: &GenerateArgs) -> Result<(), CliError> {
    let GenerateArgs { ref file, force, seed, cases, sms, kernels } = *args;
    let output = if force { Output::open(Some(file))? } else { Output::open_new(file).map_err(stays)? };
    let cancel = interrupt::catch()?;
    let request = generate::Request { seed, cases, sms, kernels };
    let recording = generate::generate(request, &mut || !cancel.requested()).ok_or(RunError::Interrupted)?;
    let bytes = encoded(&recording)?;
    output.write(&bytes).map_err(stays)?;
    Ok(Output::open(None)?.write(&summary(file, &recording))?)
}

/// Adds the remedy to the error about a recording that already exists.
fn stays(error: OutputError) -> CliError {
    match error.error.kind() {
        ErrorKind::AlreadyExists => CliError::User(format!("{} exists: use another name, or --force to replace it", error.path)),
        _ => error.into(),
    }
}

/// Refuses to overwrite a file that is not a recording. A typing error must not destroy a kernel or
/// a plan.
pub(super) fn refuse_to_replace(file: &Path) -> Result<(), CliError> {
    let taken = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if taken && !recording::is_recording(file).unwrap_or(false) {
        let file = file.display();
        return Err(CliError::User(format!("--record: {file} exists and is not a recording: remove it, or use another name")));
    }
    Ok(())
}

/// Writes a recording.
pub(super) fn write(output: &Output, recording: &Recording) -> Result<(), CliError> {
    Ok(output.write(&encoded(recording)?)?)
}

fn encoded(recording: &Recording) -> Result<Vec<u8>, CliError> {
    recording::encode(recording).map_err(|problem| CliError::User(problem.to_string()))
}

fn summary(file: &Path, recording: &Recording) -> String {
    let Counts { runs, interrupts, reads, writes, decisions } = Counts::of(recording);
    let numbers = [("runs", runs), ("interrupts", interrupts), ("reads", reads), ("writes", writes), ("decisions", decisions)];
    let numbers = numbers.map(|(what, count)| format!("{} {what}", grouped(count)));
    format!("{}: {}\n", file.display(), numbers.join(", "))
}
