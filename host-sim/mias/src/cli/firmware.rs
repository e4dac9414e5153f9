//! `mias firmware`: recordings fed to the firmware here and in QEMU, and made-up ones.

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
    /// Feed a recording to the firmware in this process and to its images in QEMU, and compare every register access; exit code 1 if
    /// one differs
    Replay(ReplayArgs),
    /// Make up a recording: random machines, policies, kernels and counters, the same for the same seed
    Generate(GenerateArgs),
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// Recording, of `mias run --record` or `mias firmware generate`
    recording: PathBuf,
    /// Where to run the firmware; repeat or separate by commas [default: in this process, and on every core whose image is built]
    #[arg(long, value_parser = choice::<Target>(), value_delimiter = ',', value_name = "TARGET")]
    on: Vec<Target>,
    /// The image, instead of the one that `cargo xtask image` builds; for a single target
    #[arg(long, value_name = "ELF")]
    image: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct GenerateArgs {
    /// Recording to write, whole or not at all, e.g. out.mrec; one that is there stays
    file: PathBuf,
    /// Replace the recording if it is there
    #[arg(long)]
    force: bool,
    /// What all randomness comes from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Runs from reset, each on a machine of its own
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "N")]
    cases: u32,
    /// Most SMs of a machine; the images hold 32, or 132 if built for it
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=MAX_SMS as i64), value_name = "N")]
    sms: u32,
    /// Most kernels at a time; those beyond the firmware's limit of 4 wait
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
        return Err(CliError::User("--image: say which core it is for, with --on m4, --on m0 or --on riscv".into()));
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

/// The targets that are named; where none is, this process and the cores whose images are built, and beside them the cores whose images are
/// not: those with what it takes. An image that is given is for a core that is named.
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

/// What to do about a recording that is there already.
fn stays(error: OutputError) -> CliError {
    match error.error.kind() {
        ErrorKind::AlreadyExists => CliError::User(format!("{} is there already: give another name, or --force to replace it", error.path)),
        _ => error.into(),
    }
}

/// Refuses a file for a recording that is there and is none: a slip of the hand must not cost a kernel or a plan.
pub(super) fn refuse_to_replace(file: &Path) -> Result<(), CliError> {
    let taken = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if taken && !recording::is_recording(file).unwrap_or(false) {
        let file = file.display();
        return Err(CliError::User(format!("--record: {file} exists and is not a recording: remove it, or give another name")));
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
