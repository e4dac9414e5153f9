//! The options of `mias evaluate`.

use super::super::args::TraceArgs;
use super::scripts::Engine;
use mias_lab::evaluate::shard::{MOST_SHARDS, Shard};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct EvaluateArgs {
    /// `thesis`, `extended`, `quick`, `baselines`, `rules`, `sensitivity`, `linear`, `memory-pairs`, `roofline`, `rules-elsewhere`, `precision`, `dai`, `dai-limits`, `dai-why`, `shieh`, `transitions`, `zhao`, `zhao-twelve`, `zhao-elsewhere`, `inside-or-beside`, `lin`, `field`, `decisions-making`, `decisions`, `decisions-small`, `stack`, `maestro`, or the TOML file of a plan of your own [default: thesis]
    pub(super) plan: Option<String>,
    /// The same as an option
    #[arg(long = "plan", value_name = "PLAN")]
    pub(super) instead: Option<String>,
    /// The plan's quick form: smaller inputs, shorter windows, a third of the machine; without a plan, `quick`
    #[arg(long)]
    pub(super) quick: bool,
    /// Folder of runs and results; one that is there goes on where it was left [default: results-PLAN]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Runs at a time; results do not depend on it [default: one per core]; with --emit cores of a shard [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(super) jobs: Option<u16>,
    /// Set a parameter or a key of the GPUs in every experiment, whatever the plan says, as in precision=off; `mias options` lists them
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(super) set: Vec<String>,
    #[command(flatten)]
    pub(super) part: PartArgs,
    #[command(flatten)]
    pub(super) traces: TraceArgs,
}

/// What of an evaluation is done, where that is not all of it at once.
#[derive(Debug, clap::Args)]
pub(super) struct PartArgs {
    /// Only print the runs of the plan, a line each, whether they are there or not
    #[arg(long, conflicts_with_all = ["shard", "merge", "status", "emit"])]
    pub(super) list: bool,
    /// Only the runs of this shard, the I-th of N, in a folder that all shards share; no report
    #[arg(long, value_name = "I/N", conflicts_with_all = ["merge", "status", "emit"], help_heading = "On many machines")]
    pub(super) shard: Option<Shard>,
    /// Run nothing: write results and report of the runs that shards have left, or say which are missing (exit code 1)
    #[arg(long, conflicts_with_all = ["status", "emit"], help_heading = "On many machines")]
    pub(super) merge: bool,
    /// Run nothing: say how much is done, of all and of every shard
    #[arg(long, conflicts_with = "emit", help_heading = "On many machines")]
    pub(super) status: bool,
    /// Run nothing: write scripts that run the shards and merge them, into a folder of this name in DIR
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "On many machines")]
    pub(super) emit: Option<Engine>,
    /// With --emit, how many shards [default: by estimated cost, two hours each]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SHARDS)), value_name = "N", requires = "emit", help_heading = "On many machines")]
    pub(super) shards: Option<u32>,
}
