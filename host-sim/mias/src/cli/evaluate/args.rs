//! Options of `mias evaluate`.

use super::super::args::TraceArgs;
use super::scripts::Engine;
use mias_lab::evaluate::shard::{MOST_SHARDS, Shard};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct EvaluateArgs {
    /// `thesis`, `extended`, `quick`, `baselines`, `rules`, `sensitivity`, `linear`,
    /// `memory-pairs`, `roofline`, `rules-elsewhere`, `precision`, `dai`, `dai-limits`, `dai-why`,
    /// `shieh`, `transitions`, `zhao`, `zhao-twelve`, `zhao-elsewhere`, `inside-or-beside`, `lin`,
    /// `field`, `decisions-making`, `decisions`, `decisions-small`, `stack`, `maestro`, or a TOML
    /// file [default: thesis]
    pub(super) plan: Option<String>,
    /// Plan, as an option
    #[arg(long = "plan", value_name = "PLAN")]
    pub(super) instead: Option<String>,
    /// Run the plan's quick form: smaller inputs, shorter windows, fewer SMs; without PLAN, `quick`
    #[arg(long)]
    pub(super) quick: bool,
    /// Folder for runs and results; an existing folder is resumed [default: results-PLAN]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Concurrent runs [default: one per core]; with --emit, cores per shard [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(super) jobs: Option<u16>,
    /// Override a parameter or GPU key in every experiment, as in precision=off; `mias options`
    /// lists them
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
    /// Print the plan's runs, one per line, and exit
    #[arg(long, conflicts_with_all = ["shard", "merge", "status", "emit"])]
    pub(super) list: bool,
    /// Run only shard I of N, in a folder shared by all shards; no report
    #[arg(long, value_name = "I/N", conflicts_with_all = ["merge", "status", "emit"], help_heading = "On many machines")]
    pub(super) shard: Option<Shard>,
    /// Write results and report from the shards' runs; exit code 1 if runs are missing
    #[arg(long, conflicts_with_all = ["status", "emit"], help_heading = "On many machines")]
    pub(super) merge: bool,
    /// Print the progress of the plan and of each shard, and exit
    #[arg(long, conflicts_with = "emit", help_heading = "On many machines")]
    pub(super) status: bool,
    /// Write job scripts that run and merge the shards into DIR/ENGINE, and exit
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "On many machines")]
    pub(super) emit: Option<Engine>,
    /// Number of shards for --emit [default: two hours of estimated cost each]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SHARDS)), value_name = "N", requires = "emit", help_heading = "On many machines")]
    pub(super) shards: Option<u32>,
}
