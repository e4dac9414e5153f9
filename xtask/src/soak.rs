//! `cargo xtask soak`: the firmware's properties, with a million cases each instead of the hundreds or thousands of a test run.

use anyhow::Result;

use crate::util::{cargo, run as run_command};

/// The variable in which the tests find the number of cases.
const VARIABLE: &str = "MIAS_CASES";

/// What to soak.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Cases per property.
    #[arg(long, default_value_t = 1_000_000)]
    cases: u32,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

/// Runs them. Optimised, with overflow checks, as the tests are.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut soak = cargo(["test", "--package", "mias-firmware", "--tests", "--no-fail-fast", "--"]);
    run_command(soak.args(&args.filter).env(VARIABLE, args.cases.to_string()))
}
