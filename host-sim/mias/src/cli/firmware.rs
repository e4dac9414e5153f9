//! `mias firmware`: recordings fed to the firmware here and in QEMU, and made-up ones.

use super::choices::{Format, choice};
use super::{CliError, interrupt};
use crate::report::replay_report;
use clap::{Args, Subcommand};
use mias_firmware::regs::{MAX_SLOTS, MAX_SMS};
use mias_lab::choice::Choice;
use mias_lab::cosim::recording::{self, Recording, generate};
use mias_lab::cosim::replay::{self, Counts, Ready, Target, Verdict};
use mias_lab::experiment::machine::RunError;
use mias_lab::output::Output;
use mias_lab::table::grouped;
use rayon::prelude::*;
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
    /// Where to run the firmware; repeat or separate by commas [default: all]
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
    /// Recording to write, whole or not at all, e.g. out.mrec
    file: PathBuf,
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
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=MAX_SLOTS as i64), value_name = "N")]
    kernels: u32,
}

pub(super) fn main(command: &FirmwareCommand) -> Result<(), CliError> {
    match command {
        FirmwareCommand::Replay(args) => replay(args),
        FirmwareCommand::Generate(args) => generate(args),
    }
}

fn replay(args: &ReplayArgs) -> Result<(), CliError> {
    let targets: Vec<Target> = Target::ALL.iter().copied().filter(|target| args.on.is_empty() || args.on.contains(target)).collect();
    if args.image.is_some() && !matches!(targets.as_slice(), [one] if one.core().is_some()) {
        return Err(CliError::User("--image: say which core it is for, with --on m4, --on m0 or --on riscv".into()));
    }
    let recording = recording::read(&args.recording)?;
    let output = Output::open(args.out.as_deref())?;
    let cancel = interrupt::catch()?;
    let ready = targets.iter().map(|&target| Ready::new(target, args.image.as_deref(), &recording));
    let ready: Vec<Ready> = ready.collect::<Result<_, _>>()?;
    let verdicts: Option<Vec<Verdict>> = ready.into_par_iter().map(|ready| replay::replay(&recording, ready, &cancel)).collect();
    let verdicts = verdicts.ok_or(RunError::Interrupted)?;
    let text = match args.format {
        Format::Table => replay_report::text(&recording, &verdicts),
        Format::Json => replay_report::json(&recording, &verdicts).map_err(CliError::internal)?,
    };
    output.write(&text)?;
    let differing: Vec<String> = verdicts.iter().filter_map(replay_report::why).collect();
    if differing.is_empty() { Ok(()) } else { Err(CliError::Differs(differing.join("; "))) }
}

fn generate(args: &GenerateArgs) -> Result<(), CliError> {
    let GenerateArgs { ref file, seed, cases, sms, kernels } = *args;
    let output = Output::open(Some(file))?;
    let cancel = interrupt::catch()?;
    let request = generate::Request { seed, cases, sms, kernels };
    let recording = generate::generate(request, &mut || !cancel.requested()).ok_or(RunError::Interrupted)?;
    write(&output, &recording)?;
    Ok(Output::open(None)?.write(&summary(file, &recording))?)
}

/// Writes a recording.
pub(super) fn write(output: &Output, recording: &Recording) -> Result<(), CliError> {
    let bytes = recording::encode(recording).map_err(|problem| CliError::User(problem.to_string()))?;
    Ok(output.write(&bytes)?)
}

fn summary(file: &Path, recording: &Recording) -> String {
    let Counts { runs, interrupts, reads, writes, decisions } = Counts::of(recording);
    let numbers = [("runs", runs), ("interrupts", interrupts), ("reads", reads), ("writes", writes), ("decisions", decisions)];
    let numbers = numbers.map(|(what, count)| format!("{} {what}", grouped(count)));
    format!("{}: {}\n", file.display(), numbers.join(", "))
}
