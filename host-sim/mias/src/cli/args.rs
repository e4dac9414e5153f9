//! The options, their ranges and defaults. Nothing here needs a file or a kernel; that is `resolve`'s work.

use super::choices::{Firmware, Format, TableFormat, Until, choice};
use super::custom_policy;
use super::say::Level;
use bytesize::ByteSize;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use mias_lab::choice::Choice;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::{Policy, PolicySet, Transition};
use mias_workloads::kernels::code::ARCHITECTURE;
use std::path::PathBuf;

/// Runs GPU kernels side by side under thread-block scheduler firmware, on a cycle-level GPU model.
#[derive(Debug, Parser)]
#[command(name = "mias", version, propagate_version = true, max_term_width = 110)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
    /// Say nothing on standard error but errors: no progress, no notes, no warnings
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Messages")]
    quiet: bool,
    /// Say where things come from: machine, traces, runs that are kept
    #[arg(short, long, global = true, help_heading = "Messages")]
    verbose: bool,
}

impl Arguments {
    /// The process' arguments, in which `policies` are known by name.
    pub(super) fn parse_with(policies: &Policies) -> Result<Self, clap::Error> {
        Arguments::from_arg_matches(&Self::command_with(policies).try_get_matches()?)
    }

    /// How much is to be said.
    pub(super) fn level(&self) -> Level {
        match (self.quiet, self.verbose) {
            (true, _) => Level::Quiet,
            (_, true) => Level::Verbose,
            _ => Level::Usual,
        }
    }

    /// The command line, in which `policies` are known by name.
    pub(super) fn command_with(policies: &Policies) -> clap::Command {
        let compared = |arg: clap::Arg| arg.value_parser(custom_policy::parser(policies));
        let command = Arguments::command().mut_subcommand("compare", |compare| compare.mut_arg("only", compared));
        let run = |arg: clap::Arg| arg.value_parser(custom_policy::run_parser(policies));
        command.mut_subcommand("run", |command| command.mut_arg("policy", run))
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compare policies on a set of kernels, against isolated runs and the best configuration there is
    Compare(Box<CompareArgs>),
    /// Run a plan of experiments, each run once and kept, and write its results and a report into a folder
    Evaluate(super::evaluate::EvaluateArgs),
    /// Write the report of a results folder anew, or its figures one by one as SVG or CSV
    Report(super::report::ReportArgs),
    /// Compare the runs of two result folders; exit code 1 if they differ
    Diff(super::diff::DiffArgs),
    /// Run one policy and print everything measured, or replay an Accel-Sim trace
    Run(Box<RunArgs>),
    /// List the kernels, characterise them, or check their results
    Kernels(KernelsArgs),
    /// Run a kernel alone with 1 to the most TBs per SM, and say what shape the curve of its IPC has
    Sweep(SweepArgs),
    /// GPUs
    #[command(subcommand)]
    Gpu(GpuCommand),
    /// Traces
    #[command(subcommand)]
    Trace(super::trace::TraceCommand),
    /// The firmware by itself: recordings of its register accesses
    #[command(subcommand)]
    Firmware(super::firmware::FirmwareCommand),
    /// The cache of kernels' traces
    #[command(subcommand)]
    Cache(super::cache::CacheCommand),
    /// List what `--policy` takes: policies, and mechanisms that go with them
    Policies(super::policies::PoliciesArgs),
    /// List what `--set` sets: keys of a GPU's file and parameters, with their values
    Options(super::options::OptionsArgs),
    /// Print the JSON Schema of machine files, plans or kernel files, for editors of TOML
    Schema(super::schema::SchemaArgs),
    /// Print what makes a shell complete the command line
    Completions(super::about::CompletionsArgs),
    /// Print the manual page, or that of a command
    Man(super::about::ManArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum GpuCommand {
    /// List the GPUs that are built in
    List {
        /// Form of the list
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Print a GPU, as TOML that `--gpu` accepts or as JSON
    Show {
        /// GPU by name, or a TOML file
        #[arg(default_value = "rtx2060")]
        gpu: String,
        /// `table` is TOML here
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
        /// Print what the GPU comes to instead: peaks and sizes, and most TBs per SM of these kernels
        #[arg(long, num_args = 0.., value_name = "KERNEL")]
        summary: Option<Vec<String>>,
    },
    /// Fit the coefficient of mias-linear for a GPU, on runs of kernels alone and in pairs
    Fit(super::fit::FitArgs),
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Kernels, in launch order; one named twice runs twice, the second time as e.g. fwt#2
    ///
    /// NAME, NAME:SIZE, NAME:SETTING=VALUE,.., the TOML file of your own, or a trace: kernelslist.g or out.mtrace, with #N or #NAME for one of
    /// its launches.
    #[arg(required = true, num_args = 1.., value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Only these policies; repeat or separate by commas; `mias policies` lists them
    #[arg(long = "policy", value_parser = custom_policy::parser(&Policies::default()), value_delimiter = ',', value_name = "POLICY", help_heading = POLICIES, hide_possible_values = true)]
    pub(super) only: Vec<Policy>,
    /// A set of policies, and those that the program brings itself
    #[arg(long, value_parser = choice::<PolicySet>(), default_value = PolicySet::Thesis.name(), conflicts_with = "only", value_name = "SET", help_heading = POLICIES)]
    pub(super) policies: PolicySet,
    #[command(flatten)]
    pub(super) common: CommonArgs,
    /// Print a row for each configuration of the sweep too, not only the best
    #[arg(long, help_heading = OUTPUT)]
    pub(super) sweep: bool,
    /// Form of the report; CSV is its table of policies
    #[arg(long, value_enum, default_value_t = TableFormat::Table, help_heading = OUTPUT)]
    pub(super) format: TableFormat,
}

const GPU: &str = "GPU and settings";
const POLICIES: &str = "Policy and firmware";
const RUN: &str = "Run";
const MACHINE: &str = "Threads, memory and cache";
const OUTPUT: &str = "Output";

/// The GPU, and what is set of it and of the experiment.
#[derive(Debug, Args)]
#[command(next_help_heading = GPU)]
pub(super) struct GpuArgs {
    /// GPU by name, or a TOML file
    #[arg(long, default_value = "rtx2060")]
    pub(super) gpu: String,
    /// Set a key of the GPU's file or a parameter, as in l1.mshrs=128; `mias options` lists them
    ///
    /// Values are written as in TOML; words need no quotes, and `off` takes an optional table away, as in sm.preemption=off. Repeat it for more
    /// keys. Parameters are those of [experiment.parameters] in a plan, as in profile-cycles=20000.
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(super) set: Vec<String>,
}

/// How kernels come to their traces.
#[derive(Debug, Args)]
#[command(next_help_heading = MACHINE)]
pub(super) struct TraceArgs {
    /// Execute kernels, and read lists of traces, even if that is cached, and cache nothing
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Memory for the traces of all kernels, as in 2GiB [default: a quarter of this machine's]
    #[arg(long, value_parser = super::tracing::memory, value_name = "BYTES")]
    pub(super) memory: Option<ByteSize>,
    /// Execute whole grids first: results are checked, and traces cached
    #[arg(long, conflicts_with = "memory")]
    pub(super) check: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Kernels, in launch order; one named twice runs twice, the second time as e.g. fwt#2
    ///
    /// NAME, NAME:SIZE, NAME:SETTING=VALUE,.., the TOML file of your own, or a trace: kernelslist.g or out.mtrace, with #N or #NAME for one of
    /// its launches.
    #[arg(required_unless_present_any = ["trace", "ptx"], conflicts_with_all = ["trace", "ptx"], value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    #[command(flatten)]
    pub(super) user: UserKernelArgs,
    /// Replay the launches of a trace (kernelslist.g or out.mtrace), each once, to their end
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["cycles", "until", "arrive"])]
    pub(super) trace: Option<PathBuf>,
    /// Print this file's numbers for the trace beside ours
    #[arg(long, value_name = "CSV", requires = "trace", conflicts_with = "kernels")]
    pub(super) reference: Option<PathBuf>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// What decides where thread blocks go [default: mias-ipm-ipc, with --trace left-over]
    #[arg(long, value_parser = custom_policy::run_parser(&Policies::default()), help_heading = POLICIES, hide_possible_values = true)]
    pub(super) policy: Option<Policy>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = OUTPUT)]
    pub(super) format: Format,
    /// Also print the wall-clock seconds of loading and of simulating
    #[arg(long, help_heading = OUTPUT)]
    pub(super) timing: bool,
    /// Write a timeline of TBs per SM and scheduler phases, a Chrome trace for Perfetto
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) timeline: Option<PathBuf>,
    /// Write the scheduler's register activity as a value change dump
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) vcd: Option<PathBuf>,
    /// Write the firmware's register accesses, for `mias firmware replay`
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) record: Option<PathBuf>,
    /// Show what the kernels' threads print, on standard error
    #[arg(long, conflicts_with_all = ["trace", "check"], help_heading = OUTPUT)]
    pub(super) print: bool,
    /// Write what a buffer holds after the kernel has run once; repeatable
    ///
    /// A buffer, or a variable of the module; of several kernels, KERNEL/BUFFER=FILE.
    #[arg(long, value_name = "BUFFER=FILE", conflicts_with = "trace", help_heading = OUTPUT)]
    pub(super) dump: Vec<String>,
}

/// A kernel of the user's own.
#[derive(Debug, Args)]
#[command(next_help_heading = "A kernel of your own")]
pub(super) struct UserKernelArgs {
    /// Run a kernel of this PTX file, as nvcc -ptx writes it
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "trace", requires = "grid", requires = "block")]
    pub(super) ptx: Option<PathBuf>,
    /// Let nvcc, which must be installed, make the PTX where FILE or what a kernel's file names is CUDA source (.cu); also for another
    /// architecture than sm_75
    #[arg(hide_short_help = true, long, conflicts_with = "trace", value_name = "ARCH", num_args = 0..=1, require_equals = true, default_missing_value = ARCHITECTURE)]
    pub(super) nvcc: Option<String>,
    /// The kernel's entry, as in the PTX or in C++ [default: the only one]
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    pub(super) entry: Option<String>,
    /// TBs, as X or X,Y or X,Y,Z
    #[arg(hide_short_help = true, long, value_delimiter = ',', num_args = 1.., value_name = "X,Y,Z")]
    pub(super) grid: Vec<u32>,
    /// Threads per TB, as X or X,Y or X,Y,Z
    #[arg(hide_short_help = true, long, value_delimiter = ',', num_args = 1.., value_name = "X,Y,Z")]
    pub(super) block: Vec<u32>,
    /// Registers per thread
    #[arg(hide_short_help = true, long, conflicts_with = "ptxas", value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(super) regs: Option<u32>,
    /// What `nvcc -cubin -Xptxas -v` printed, instead of --regs
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) ptxas: Option<PathBuf>,
    /// Dynamic shared memory per TB in bytes
    #[arg(hide_short_help = true, long, default_value_t = 0, value_name = "BYTES")]
    pub(super) shared: u32,
    /// An argument, in order: NUMBER, TYPE:NUMBER, hex:BYTES, or buf:TYPE:COUNT:FILL with FILL zeros, ones, iota, random,
    /// random:LOW:HIGH or file:PATH
    #[arg(hide_short_help = true, long, allow_hyphen_values = true, value_name = "ARG")]
    pub(super) arg: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct CommonArgs {
    /// Who decides: `native`, or an image in QEMU: `qemu` (Cortex-M4), `qemu-m0`, `qemu-riscv`
    ///
    /// `native` is the firmware in this process. `qemu` and the others are its image on a Cortex-M4F, a Cortex-M0 or a 32-bit RISC-V core, as
    /// `cargo xtask image` builds it; of another file with its path behind a colon, as in qemu:mine.elf.
    #[arg(long, value_parser = super::choices::firmware, default_value = "native", value_name = "WHO", help_heading = POLICIES)]
    pub(super) firmware: Firmware,
    /// Window in core cycles, launch latency included [default: 300000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N", help_heading = RUN)]
    pub(super) cycles: Option<u64>,
    /// Instead of a window: run every kernel once, to its end
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with = "cycles", help_heading = RUN)]
    pub(super) until: Option<Until>,
    /// Launch a kernel later, as in fwt@100000 or fwt#2@60us,priority=1,limit=5us; repeatable
    ///
    /// The limit is the time in which the kernel is to have its room, counted from when its TBs may issue; with one it runs once.
    #[arg(long, value_name = "KERNEL@CYCLE", help_heading = RUN)]
    pub(super) arrive: Vec<String>,
    /// How SMs change configuration: drain, ideal, preempt, preempt:SCHEME [default: drain]
    #[arg(long, value_parser = choice::<Transition>(), value_name = "HOW", hide_possible_values = true, help_heading = RUN)]
    pub(super) transition: Option<Transition>,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N", help_heading = MACHINE)]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
    /// Print counters and score of every configuration, and why the winner won
    #[arg(long, help_heading = OUTPUT)]
    pub(super) explain: bool,
    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct KernelsArgs {
    /// Kernels, with settings as in mm:256, or traces as in app/kernelslist.g#2 [default: all]
    #[arg(value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    /// Execute and trace them, run each alone, and compare with what is published; minutes for all
    #[arg(long)]
    pub(super) stats: bool,
    /// Execute every TB and compare the results with the host's; exit code 1 if one is wrong
    #[arg(long, conflicts_with = "stats")]
    pub(super) check: bool,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Window of each run in core cycles, launch latency included; a kernel that ends sooner starts again [default: 300000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N", requires = "stats")]
    pub(super) cycles: Option<u64>,
    /// Execute kernels even if their traces are cached, and cache none
    #[arg(long, requires = "stats")]
    pub(super) no_cache: bool,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// Kernel, with settings as in mm:256, or a trace as in app/kernelslist.g#2
    pub(super) kernel: String,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Window of each run in core cycles, launch latency included; a kernel that ends sooner starts again [default: 300000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(super) cycles: Option<u64>,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = TableFormat::Table, help_heading = OUTPUT)]
    pub(super) format: TableFormat,
    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// What most runs need is seen at a glance.
    #[test]
    fn short_help_fits_a_screen() {
        for name in ["compare", "run"] {
            let mut command = Arguments::command();
            command.build();
            let command = command.find_subcommand_mut(name).expect("known");
            let help = command.clone().term_width(100).render_help().to_string();
            assert!(help.lines().count() <= 50, "{name}: {} lines\n{help}", help.lines().count());
        }
    }
}
