//! The options, their ranges and defaults. Nothing here needs a file or a kernel; that is `resolve`'s work.

use super::choices::{
    FirmwareKind, Format, InFlight, MemoryIssue, MemoryIssueFrom, Relaunch, TableFormat, Until, WarpScheduler, choice, in_flight,
    warp_limit,
};
use super::contexts::ContextsArgs;
use super::dram::DramArgs;
use super::own;
use super::partition::PartitionArgs;
use super::preemption::PreemptionArgs;
use super::queue::QueueArgs;
use super::say::Level;
use bytesize::ByteSize;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use mias_hw_model::config::WarpLimit;
use mias_lab::choice::Choice;
use mias_lab::experiment::levels::Levels;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::{Counted, IpcUnit, Latency, Policy, PolicySet, Transition};
use mias_lab::experiment::precision::Precision;
use mias_lab::experiment::shares::Shares;
use mias_registers::MAX_WINDOW;
use mias_workloads::kernels::code::ARCHITECTURE;
use std::path::PathBuf;

/// Default window in core cycles; the thesis' is 5,000,000 (sources.md D7).
const DEFAULT_CYCLES: u64 = 300_000;

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
        let compared = |arg: clap::Arg| arg.value_parser(own::parser(policies));
        let command = Arguments::command().mut_subcommand("compare", |compare| compare.mut_arg("only", compared));
        let run = |arg: clap::Arg| arg.value_parser(own::run_parser(policies));
        command.mut_subcommand("run", |command| command.mut_arg("policy", run))
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compare policies on a set of kernels, against isolated runs and the best configuration there is
    Compare(Box<CompareArgs>),
    /// Run a plan of experiments, each run once and kept, and write its results and a report into a folder
    Evaluate(super::evaluate::EvaluateArgs),
    /// Write the report of a results folder anew, or its figures one by one as SVG, PDF or CSV
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
    /// Kernels, in launch order: NAME, NAME:SIZE, NAME:SETTING=VALUE,.., the TOML file of your own, or a trace (kernelslist.g or
    /// out.mtrace, with #N or #NAME for one of its launches); one named twice runs twice, the second time as e.g. fwt#2
    #[arg(required = true, num_args = 1.., value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    /// Only these policies; repeat or separate by commas
    #[arg(long = "policy", value_parser = own::parser(&Policies::default()), value_delimiter = ',', value_name = "POLICY")]
    pub(super) only: Vec<Policy>,
    /// A set of policies, and those that the program brings itself
    #[arg(long, value_parser = choice::<PolicySet>(), default_value = PolicySet::Thesis.name(), conflicts_with = "only", value_name = "SET")]
    pub(super) policies: PolicySet,
    #[command(flatten)]
    pub(super) common: CommonArgs,
    /// Form of the report; CSV is its table of policies
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub(super) format: TableFormat,
}

/// How kernels come to their traces.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    /// Execute kernels, and read lists of traces, even if what comes of that is cached, and cache nothing
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Memory that the traces of all kernels may take, with what is noted while they are executed, as in 2GiB [default: a quarter of this
    /// machine's]
    #[arg(long, value_parser = super::tracing::memory, value_name = "BYTES")]
    pub(super) memory: Option<ByteSize>,
    /// Execute whole grids before anything is simulated: their results are checked, and their traces cached
    #[arg(long, conflicts_with = "memory")]
    pub(super) check: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Kernels, in launch order: NAME, NAME:SIZE, NAME:SETTING=VALUE,.., the TOML file of your own, or a trace (kernelslist.g or
    /// out.mtrace, with #N or #NAME for one of its launches); one named twice runs twice, the second time as e.g. fwt#2
    #[arg(required_unless_present_any = ["trace", "ptx"], conflicts_with_all = ["trace", "ptx"], value_name = "KERNEL")]
    pub(super) kernels: Vec<String>,
    #[command(flatten)]
    pub(super) user: UserKernelArgs,
    /// Replay the launches of an Accel-Sim kernel list (kernelslist.g) or a converted trace, each once, to their end
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["cycles", "arrive", "share_memory", "precision"])]
    pub(super) trace: Option<PathBuf>,
    /// Print this file's numbers for the trace beside ours
    #[arg(long, value_name = "CSV", requires = "trace", conflicts_with = "kernels")]
    pub(super) reference: Option<PathBuf>,
    /// What decides where thread blocks go [default: mias-ipm-ipc, with --trace left-over]
    #[arg(long, value_parser = own::run_parser(&Policies::default()))]
    pub(super) policy: Option<Policy>,
    /// Order in which a scheduler considers its warps [default: the GPU's]
    #[arg(long, value_enum)]
    pub(super) warp_scheduler: Option<WarpScheduler>,
    /// Let no SM hold more TBs of a kernel than this, for scaling curves; policies do not know of it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(super) tbs_per_sm: Option<u32>,
    /// Give TBs to the first so many SMs only, for curves over SMs; policies do not know of it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(super) sms: Option<u32>,
    /// Write a timeline of TBs per SM and scheduler phases, a Chrome trace for Perfetto
    #[arg(long, value_name = "FILE", conflicts_with = "precision")]
    pub(super) timeline: Option<PathBuf>,
    /// The timeline has the power of every so many core cycles [default: 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "CYCLES", requires = "timeline")]
    pub(super) power_cycles: Option<u32>,
    /// Write the scheduler's register activity as a value change dump, for GTKWave and Surfer
    #[arg(long, value_name = "FILE", conflicts_with = "precision")]
    pub(super) vcd: Option<PathBuf>,
    /// Write the firmware's register accesses, for `mias firmware replay`
    #[arg(long, value_name = "FILE", conflicts_with = "precision")]
    pub(super) record: Option<PathBuf>,
    /// Show what the kernels' threads print, on standard error
    #[arg(long, conflicts_with_all = ["trace", "check"])]
    pub(super) print: bool,
    /// Write what a buffer or a variable of the module holds after the kernel has run once; of several kernels, KERNEL/BUFFER=FILE;
    /// repeatable
    #[arg(long, value_name = "BUFFER=FILE", conflicts_with = "trace")]
    pub(super) dump: Vec<String>,
    #[command(flatten)]
    pub(super) queue: QueueArgs,
    /// Also print the wall-clock seconds of loading and of simulating
    #[arg(long)]
    pub(super) timing: bool,
    /// Run every cycle, also those in which nothing can happen; slower, same numbers
    #[arg(long)]
    pub(super) no_skip: bool,
    #[command(flatten)]
    pub(super) common: CommonArgs,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

/// A kernel of the user's own.
#[derive(Debug, Args)]
#[command(next_help_heading = "A kernel of your own")]
pub(super) struct UserKernelArgs {
    /// Run a kernel of this PTX file, as nvcc -ptx writes it
    #[arg(long, value_name = "FILE", conflicts_with = "trace", requires = "grid", requires = "block")]
    pub(super) ptx: Option<PathBuf>,
    /// Let nvcc, which must be installed, make the PTX where FILE or what a kernel's file names is CUDA source (.cu); also for another
    /// architecture than sm_75
    #[arg(long, conflicts_with = "trace", value_name = "ARCH", num_args = 0..=1, require_equals = true, default_missing_value = ARCHITECTURE)]
    pub(super) nvcc: Option<String>,
    /// The kernel's entry, as in the PTX or in C++ [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(super) entry: Option<String>,
    /// TBs, as X or X,Y or X,Y,Z
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "X,Y,Z")]
    pub(super) grid: Vec<u32>,
    /// Threads per TB, as X or X,Y or X,Y,Z
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "X,Y,Z")]
    pub(super) block: Vec<u32>,
    /// Registers per thread
    #[arg(long, conflicts_with = "ptxas", value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(super) regs: Option<u32>,
    /// What `nvcc -cubin -Xptxas -v` printed, instead of --regs
    #[arg(long, value_name = "FILE")]
    pub(super) ptxas: Option<PathBuf>,
    /// Dynamic shared memory per TB in bytes
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub(super) shared: u32,
    /// An argument, in order: NUMBER, TYPE:NUMBER, hex:BYTES, or buf:TYPE:COUNT:FILL with FILL zeros, ones, iota, random,
    /// random:LOW:HIGH or file:PATH
    #[arg(long, allow_hyphen_values = true, value_name = "ARG")]
    pub(super) arg: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct CommonArgs {
    /// GPU by name, or a TOML file
    #[arg(long, default_value = "rtx2060")]
    pub(super) gpu: String,
    #[command(flatten)]
    pub(super) memory_issue: MemoryIssueArgs,
    #[command(flatten)]
    pub(super) partition: PartitionArgs,
    #[command(flatten)]
    pub(super) dram: DramArgs,
    #[command(flatten)]
    pub(super) preemption: PreemptionArgs,
    #[command(flatten)]
    pub(super) contexts: ContextsArgs,
    /// Window in core cycles, launch latency included
    #[arg(long, default_value_t = DEFAULT_CYCLES, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(super) cycles: u64,
    /// Instead of a window: run every kernel once, to its end
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with = "cycles")]
    pub(super) until: Option<Until>,
    /// Whether kernels that end within the window start again in place; if not, a run ends with its last kernel
    #[arg(long, value_enum, default_value_t = Relaunch::On, conflicts_with = "until", value_name = "ON_OFF")]
    pub(super) relaunch: Relaunch,
    /// Launch a kernel at a later cycle, e.g. fwt@100000 or fwt#2@60us, with a priority and a time in which it is to have its room, counted
    /// from when its TBs may issue, e.g. fwt@60us,priority=1,limit=5us; with a limit it runs once; repeatable
    #[arg(long, value_name = "KERNEL@CYCLE")]
    pub(super) arrive: Vec<String>,
    /// Let traces keep the addresses that they were recorded with, and share what lies there; otherwise no two kernels share memory
    #[arg(long)]
    pub(super) share_memory: bool,
    /// Let the L2 hold at cycle 0 what the programs of traces had copied to the device (MemcpyHtoD in their lists)
    #[arg(long)]
    pub(super) warm_l2: bool,
    /// End a window as soon as every kernel's instructions are known so well, as in `1 %` (half of a 95 % interval), and estimate the rest;
    /// otherwise it is simulated to its end
    #[arg(long, value_name = "PERCENT", conflicts_with_all = ["until"])]
    pub(super) precision: Option<Precision>,
    /// Cycles of a profiling window; the thesis' is 45,000
    #[arg(long, default_value_t = 45_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WINDOW)), value_name = "N")]
    pub(super) profile_cycles: u32,
    /// Cycles of each of the two windows of a step of a policy that searches, as `cd-search`; 20,000, as Zhao et al. 2018 have, unless given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WINDOW)), value_name = "N")]
    pub(super) search_cycles: Option<u32>,
    /// SMs of each kernel under `spatial`, as in 6-18; as many of each if left out
    #[arg(long, value_name = "N-M")]
    pub(super) shares: Option<Shares>,
    /// How SMs change configuration
    #[arg(long, value_parser = choice::<Transition>(), default_value = Transition::Drain.name())]
    pub(super) transition: Transition,
    /// Levels of scheduling that the firmware sets beside the policy
    #[arg(long, value_parser = choice::<Levels>(), default_value = Levels::default().name())]
    pub(super) levels: Levels,
    /// The time that decisions take
    #[arg(long, value_parser = choice::<Latency>(), default_value = Latency::default().name())]
    pub(super) latency: Latency,
    /// The instruction that IPC counts, in decisions and in results
    #[arg(long, value_parser = choice::<IpcUnit>(), default_value = IpcUnit::Thread.name())]
    pub(super) ipc: IpcUnit,
    /// Over what IPC counts where kernels start again: the window, or each kernel's first run
    #[arg(long, value_parser = choice::<Counted>(), default_value = Counted::default().name(), conflicts_with = "until")]
    pub(super) counted: Counted,
    /// Threads: one for each run that goes on, and the rest inside of runs; results do not depend on it [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
    /// Who decides: the firmware in this process, or its image in QEMU on a Cortex-M4, a Cortex-M0, or a RISC-V core
    #[arg(long, value_enum, default_value_t = FirmwareKind::Native)]
    pub(super) firmware: FirmwareKind,
    /// The image, instead of the one that `cargo xtask image` builds
    #[arg(long, value_name = "ELF")]
    pub(super) image: Option<PathBuf>,
    /// Print counters and score of every configuration, and why the winner won
    #[arg(long)]
    pub(super) explain: bool,
    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// What holds memory instructions back where kernels share an SM.
#[derive(Debug, Args)]
pub(super) struct MemoryIssueArgs {
    /// Whose off-chip memory instruction is next on an SM [default: the GPU's]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(super) memory_issue: Option<MemoryIssue>,
    /// Off-chip memory instructions that a kernel may have in flight on an SM: none (any number), dynamic, dynamic-global (found on one
    /// SM for all), firmware (found by the firmware), or numbers in launch order, as in 3,1 or inf,4 [default: the GPU's]
    #[arg(long, value_parser = in_flight, value_name = "LIMITS")]
    pub(super) in_flight: Option<InFlight>,
    /// Core cycles between two looks of the firmware, with --in-flight firmware [default: the GPU's]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(super) in_flight_interval: Option<u32>,
    /// From when on memory instructions are held back [default: the GPU's]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(super) memory_issue_from: Option<MemoryIssueFrom>,
    /// Warp instructions that each kernel, in launch order, may issue on an SM until those of all others there are spent, as in 2000,1500
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(u32::MAX) - 1), value_name = "N")]
    pub(super) warp_quota: Vec<u32>,
    /// Active warps of each kernel, in launch order, of which each warp scheduler issues at most, the oldest, as in 4,24 or inf,2 [default: the GPU's]
    #[arg(long, value_delimiter = ',', value_parser = warp_limit, value_name = "N")]
    pub(super) active_warps: Vec<WarpLimit>,
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
    /// GPU by name, or a TOML file
    #[arg(long, default_value = "rtx2060", conflicts_with = "check")]
    pub(super) gpu: String,
    /// Window of each run in core cycles, launch latency included; a kernel that ends sooner starts again
    #[arg(long, default_value_t = DEFAULT_CYCLES, value_parser = clap::value_parser!(u64).range(1..), value_name = "N", requires = "stats")]
    pub(super) cycles: u64,
    /// The instruction that IPC counts
    #[arg(long, value_parser = choice::<IpcUnit>(), default_value = IpcUnit::Thread.name(), requires = "stats")]
    pub(super) ipc: IpcUnit,
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
    /// GPU by name, or a TOML file
    #[arg(long, default_value = "rtx2060")]
    pub(super) gpu: String,
    /// Window of each run in core cycles, launch latency included; a kernel that ends sooner starts again
    #[arg(long, default_value_t = DEFAULT_CYCLES, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(super) cycles: u64,
    /// End a window as soon as the kernel's instructions are known so well, as in `1 %` (half of a 95 % interval), and estimate the rest
    #[arg(long, value_name = "PERCENT")]
    pub(super) precision: Option<Precision>,
    /// The instruction that IPC counts
    #[arg(long, value_parser = choice::<IpcUnit>(), default_value = IpcUnit::Thread.name())]
    pub(super) ipc: IpcUnit,
    /// Let the L2 hold at cycle 0 what a trace's program had copied to the device (MemcpyHtoD in its list)
    #[arg(long)]
    pub(super) warm_l2: bool,
    /// Threads: one for each run that goes on, and the rest inside of runs; results do not depend on it [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(super) threads: Option<u16>,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub(super) format: TableFormat,
    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_are_consistent() {
        Arguments::command().debug_assert();
    }
}
