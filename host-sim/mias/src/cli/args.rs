//! Options with their ranges and defaults. They are parsed without a file or a kernel; `resolve`
//! loads those.

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

/// Run concurrent GPU kernels under thread-block scheduler firmware on a cycle-level GPU model.
#[derive(Debug, Parser)]
#[command(name = "mias", version, propagate_version = true, max_term_width = 110)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
    /// Print only errors on standard error
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Messages")]
    quiet: bool,
    /// Report the source of each input: GPU file, traces, stored runs
    #[arg(short, long, global = true, help_heading = "Messages")]
    verbose: bool,
}

impl Arguments {
    /// Parses the arguments of the process; `policies` lists the policy names.
    pub(super) fn parse_with(policies: &Policies) -> Result<Self, clap::Error> {
        Arguments::from_arg_matches(&Self::command_with(policies).try_get_matches()?)
    }

    /// Returns the verbosity on standard error.
    pub(super) fn level(&self) -> Level {
        match (self.quiet, self.verbose) {
            (true, _) => Level::Quiet,
            (_, true) => Level::Verbose,
            _ => Level::Usual,
        }
    }

    /// Returns the command line that accepts the names in `policies`.
    pub(super) fn command_with(policies: &Policies) -> clap::Command {
        // Not one by one: what is changed so moves to the end.
        Arguments::command().mut_subcommands(|command| match command.get_name() {
            "compare" => {
                command.mut_args(|arg| if arg.get_id() == "only" { arg.value_parser(custom_policy::parser(policies)) } else { arg })
            }
            "run" => {
                command.mut_args(|arg| if arg.get_id() == "policy" { arg.value_parser(custom_policy::run_parser(policies)) } else { arg })
            }
            _ => command,
        })
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compare policies on concurrent kernels, with isolated runs and the best static configuration
    Compare(Box<CompareArgs>),
    /// Run a plan of experiments and write results and a report into a folder; resumable
    Evaluate(super::evaluate::EvaluateArgs),
    /// Regenerate the report of a results folder, or export its figures and tables
    Report(super::report::ReportArgs),
    /// Compare the runs of two result folders; exit code 1 if any differs
    Diff(super::diff::DiffArgs),
    /// Run kernels under one policy and print all measurements, or replay an Accel-Sim trace
    Run(Box<RunArgs>),
    /// List kernels, characterize them, or check their results
    Kernels(KernelsArgs),
    /// Run a kernel alone with every number of TBs per SM and classify its IPC curve
    Sweep(SweepArgs),
    /// List, print and fit GPU files
    #[command(subcommand)]
    Gpu(GpuCommand),
    /// Convert, export and inspect traces
    #[command(subcommand)]
    Trace(super::trace::TraceCommand),
    /// Record and replay the firmware's register accesses
    #[command(subcommand)]
    Firmware(super::firmware::FirmwareCommand),
    /// Inspect or clear the trace cache
    #[command(subcommand)]
    Cache(super::cache::CacheCommand),
    /// List policies and mechanisms for `--policy`
    Policies(super::policies::PoliciesArgs),
    /// List keys for `--set`: GPU keys and parameters, with values and defaults
    Options(super::options::OptionsArgs),
    /// Print the JSON Schema of GPU, plan or kernel files, for TOML editors
    Schema(super::schema::SchemaArgs),
    /// Generate shell completions
    Completions(super::about::CompletionsArgs),
    /// Print the manual page of mias or of a command
    Man(super::about::ManArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum GpuCommand {
    /// List the built-in GPUs
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Print a GPU with inherited values, as TOML for `--gpu` or as JSON
    Show {
        /// GPU: a built-in name or a TOML file
        #[arg(default_value = "rtx2060")]
        gpu: String,
        /// Output format; `table` prints TOML
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
        /// Print derived quantities instead: peak rates, sizes, and TBs per SM of these kernels
        #[arg(long, num_args = 0.., value_name = "KERNEL")]
        summary: Option<Vec<String>>,
    },
    /// Fit the coefficient of mias-linear for a GPU on isolated and pairwise runs
    Fit(super::fit::FitArgs),
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Kernels in launch order; a repeated kernel is called NAME#2
    ///
    /// NAME, NAME:SIZE, NAME:SETTING=VALUE,.., the TOML file of your kernel, or a trace:
    /// kernelslist.g or out.mtrace, with #N or #NAME to select a launch.
    #[arg(required = true, num_args = 1.., value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Policies, repeated or separated by commas; `mias policies` lists them
    #[arg(long = "policy", value_parser = custom_policy::parser(&Policies::default()), value_delimiter = ',', value_name = "POLICY", help_heading = POLICIES, hide_possible_values = true)]
    pub(super) only: Vec<Policy>,
    /// Set of policies, plus the custom policies of this program
    #[arg(long, value_parser = choice::<PolicySet>(), default_value = PolicySet::Thesis.name(), conflicts_with = "only", value_name = "SET", help_heading = POLICIES)]
    pub(super) policies: PolicySet,
    #[command(flatten)]
    pub(super) common: CommonArgs,
    /// Print a row for each configuration of the sweep
    #[arg(long, help_heading = OUTPUT)]
    pub(super) sweep: bool,
    /// Output format; CSV has the table of policies only
    #[arg(long, value_enum, default_value_t = TableFormat::Table, help_heading = OUTPUT)]
    pub(super) format: TableFormat,
}

const GPU: &str = "GPU and settings";
const POLICIES: &str = "Policy and firmware";
const RUN: &str = "Run";
const HOST: &str = "Threads, memory and cache";
const OUTPUT: &str = "Output";

/// The GPU, and what is set of it and of the experiment.
#[derive(Debug, Args)]
#[command(next_help_heading = GPU)]
pub(super) struct GpuArgs {
    /// GPU: a built-in name or a TOML file
    #[arg(long, default_value = "rtx2060")]
    pub(super) gpu: String,
    /// Set a GPU key or a parameter, as in l1.mshrs=128; `mias options` lists them
    ///
    /// Values use TOML syntax; words need no quotes. `off` removes an optional table, as in
    /// sm.preemption=off. Repeatable. Parameters are those of [experiment.parameters] in a plan, as
    /// in profile-cycles=20000.
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(super) set: Vec<String>,
}

/// How kernels come to their traces.
#[derive(Debug, Args)]
#[command(next_help_heading = HOST)]
pub(super) struct TraceArgs {
    /// Ignore cached traces and write none
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Memory limit for traces, as in 2GiB [default: a quarter of this computer's memory]
    #[arg(long, value_parser = super::tracing::memory, value_name = "BYTES")]
    pub(super) memory: Option<ByteSize>,
    /// Execute whole grids first, check their results and cache their traces
    #[arg(long, conflicts_with = "memory")]
    pub(super) check: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Kernels in launch order; a repeated kernel is called NAME#2
    ///
    /// NAME, NAME:SIZE, NAME:SETTING=VALUE,.., the TOML file of your kernel, or a trace:
    /// kernelslist.g or out.mtrace, with #N or #NAME to select a launch.
    #[arg(required_unless_present_any = ["trace", "ptx"], conflicts_with_all = ["trace", "ptx"], value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    #[command(flatten)]
    pub(super) user: UserKernelArgs,
    /// Replay every launch of a trace (kernelslist.g or out.mtrace) once, to its end
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["cycles", "until", "arrive"])]
    pub(super) trace: Option<PathBuf>,
    /// CSV with reference cycle counts to print next to the model's
    #[arg(long, value_name = "CSV", requires = "trace", conflicts_with = "kernels")]
    pub(super) reference: Option<PathBuf>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Policy that places thread blocks [default: mias-ipm-ipc, with --trace left-over]
    #[arg(long, value_parser = custom_policy::run_parser(&Policies::default()), help_heading = POLICIES, hide_possible_values = true)]
    pub(super) policy: Option<Policy>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = OUTPUT)]
    pub(super) format: Format,
    /// Print the wall-clock time of loading and simulation
    #[arg(long, help_heading = OUTPUT)]
    pub(super) timing: bool,
    /// Write a Chrome trace of TBs per SM and scheduler phases, for Perfetto
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) timeline: Option<PathBuf>,
    /// Write the scheduler's register accesses as a value change dump (VCD)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) vcd: Option<PathBuf>,
    /// Record the firmware's register accesses for `mias firmware replay`
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) record: Option<PathBuf>,
    /// Print the output of device-side printf on standard error
    #[arg(long, conflicts_with_all = ["trace", "check"], help_heading = OUTPUT)]
    pub(super) print: bool,
    /// Write the contents of a buffer after one run of the kernel; repeatable
    ///
    /// BUFFER is a buffer or a module variable; with several kernels use KERNEL/BUFFER=FILE.
    #[arg(long, value_name = "BUFFER=FILE", conflicts_with = "trace", help_heading = OUTPUT)]
    pub(super) dump: Vec<String>,
}

/// Kernel from a PTX or CUDA file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel from PTX or CUDA")]
pub(super) struct UserKernelArgs {
    /// PTX file that contains the kernel, as nvcc -ptx writes it
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "trace", requires = "grid", requires = "block")]
    pub(super) ptx: Option<PathBuf>,
    /// Compile CUDA sources (.cu) with the installed nvcc, for ARCH [default: sm_75]
    #[arg(hide_short_help = true, long, conflicts_with = "trace", value_name = "ARCH", num_args = 0..=1, require_equals = true, default_missing_value = ARCHITECTURE)]
    pub(super) nvcc: Option<String>,
    /// Kernel entry, as in the PTX or in C++ [default: the only entry]
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    pub(super) entry: Option<String>,
    /// Grid size in TBs
    #[arg(hide_short_help = true, long, value_delimiter = ',', num_args = 1.., value_name = "X,Y,Z")]
    pub(super) grid: Vec<u32>,
    /// Block size in threads
    #[arg(hide_short_help = true, long, value_delimiter = ',', num_args = 1.., value_name = "X,Y,Z")]
    pub(super) block: Vec<u32>,
    /// Registers per thread
    #[arg(hide_short_help = true, long, conflicts_with = "ptxas", value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(super) regs: Option<u32>,
    /// Resource report of `nvcc -cubin -Xptxas -v`, instead of --regs
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) ptxas: Option<PathBuf>,
    /// Dynamic shared memory per TB in bytes
    #[arg(hide_short_help = true, long, default_value_t = 0, value_name = "BYTES")]
    pub(super) shared: u32,
    /// Argument, in order: NUMBER, TYPE:NUMBER, hex:BYTES, or buf:TYPE:COUNT:FILL with FILL zeros,
    /// ones, iota, random, random:LOW:HIGH or file:PATH
    #[arg(hide_short_help = true, long, allow_hyphen_values = true, value_name = "ARG")]
    pub(super) arg: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct CommonArgs {
    /// Firmware: `native`, or an image in QEMU: `qemu` (Cortex-M4), `qemu-m0`, `qemu-riscv`
    ///
    /// `native` runs the firmware in this process. The others run the image that `cargo xtask
    /// image` builds on a Cortex-M4F, Cortex-M0 or RV32IMAC core in QEMU. Append a path to use
    /// another image, as in qemu:mine.elf.
    #[arg(long, value_parser = super::choices::firmware, default_value = "native", value_name = "FIRMWARE", help_heading = POLICIES)]
    pub(super) firmware: Firmware,
    /// Simulated window in core cycles, including launch latency [default: 300000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N", help_heading = RUN)]
    pub(super) cycles: Option<u64>,
    /// Run every kernel once to its end instead of a fixed window
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with = "cycles", help_heading = RUN)]
    pub(super) until: Option<Until>,
    /// Delay a launch, as in fwt@100000 or fwt#2@60us,priority=1,limit=5us; repeatable
    ///
    /// `limit` is the time until all TBs that fit must be resident, from when TBs may issue. A
    /// kernel with a limit runs once.
    #[arg(long, value_name = "KERNEL@CYCLE", help_heading = RUN)]
    pub(super) arrive: Vec<String>,
    /// Transition between configurations: drain, ideal, preempt, preempt:SCHEME [default: drain]
    #[arg(long, value_parser = choice::<Transition>(), value_name = "HOW", hide_possible_values = true, help_heading = RUN)]
    pub(super) transition: Option<Transition>,
    /// Worker threads; results do not depend on the number [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N", help_heading = HOST)]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
    /// Print counters and score of every profiled configuration, and the reason for the choice
    #[arg(long, help_heading = OUTPUT)]
    pub(super) explain: bool,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct KernelsArgs {
    /// Kernels, as in mm:256, or traces, as in app/kernelslist.g#2 [default: all]
    #[arg(value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    /// Run each kernel alone and compare its profile with published numbers; minutes for all
    #[arg(long)]
    pub(super) stats: bool,
    /// Execute every TB and check the results on the host; exit code 1 if any is wrong
    #[arg(long, conflicts_with = "stats")]
    pub(super) check: bool,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Window of each run in core cycles; a kernel that ends within it restarts [default: 300000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N", requires = "stats")]
    pub(super) cycles: Option<u64>,
    /// Ignore cached traces and write none
    #[arg(long, requires = "stats")]
    pub(super) no_cache: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// Kernel, as in mm:256, or trace, as in app/kernelslist.g#2
    pub(super) kernel: String,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Window of each run in core cycles; a kernel that ends within it restarts [default: 300000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(super) cycles: Option<u64>,
    /// Worker threads; results do not depend on the number [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table, help_heading = OUTPUT)]
    pub(super) format: TableFormat,
    /// Write the report to a file instead of standard output
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

    /// The short help lists the options that most runs need.
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

    /// Returns the texts of a command and of its subcommands: its purpose and its options.
    fn texts(command: &clap::Command) -> Vec<String> {
        let of_arguments = command.get_arguments().flat_map(|arg| [arg.get_help(), arg.get_long_help()]);
        let own = [command.get_about(), command.get_long_about()].into_iter().chain(of_arguments).flatten().map(ToString::to_string);
        own.chain(command.get_subcommands().flat_map(texts)).collect()
    }

    /// `docs/style.md`: a sentence has at most 40 words.
    #[test]
    fn sentences_of_the_help_are_short() {
        let texts = texts(&Arguments::command());
        assert!(texts.len() > 100, "{} texts", texts.len());
        for sentence in texts.iter().flat_map(|text| text.split(". ")) {
            assert!(sentence.split_whitespace().count() <= 40, "{sentence}");
        }
    }
}
