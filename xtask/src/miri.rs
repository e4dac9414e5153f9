//! `cargo xtask miri`: the firmware's tests in Miri, which detects undefined behavior in the
//! firmware and its dependencies. The firmware itself has no `unsafe` on the host. Few cases per
//! property, since Miri interprets. Not part of the tests, since it needs a nightly compiler and
//! the workspace pins none.

use anyhow::{Result, bail};

use crate::util::{command, output, run as run_command};

/// Number of cases and filter of tests.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Cases per property.
    #[arg(long, default_value_t = 2)]
    cases: u32,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

/// Runs the tests.
pub(crate) fn run(args: &Args) -> Result<()> {
    let found = output(&mut command("rustup", ["run", "nightly", "cargo", "miri", "--version"]));
    if !found.is_ok_and(|result| result.status.success()) {
        bail!(
            "Miri requires a nightly compiler, and none with it is installed. Install one, and run the command again:\n  \
             rustup toolchain install nightly --component miri rust-src"
        );
    }
    let cases = args.cases.to_string();
    let mut miri = command(
        "rustup",
        [
            "run",
            "nightly",
            "cargo",
            "miri",
            "test",
            "--package",
            "mias-registers",
            "--package",
            "mias-firmware",
            "--package",
            "mias-policies",
            "--all-features",
            "--lib",
            "--tests",
        ],
    );
    miri.args(["--target-dir", "target/miri", "--no-fail-fast", "--"]).args(&args.filter);
    // Proptest searches for the folder in which it stores failures.
    miri.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("MIAS_CASES", &cases).env("PROPTEST_CASES", &cases);
    run_command(&mut miri)
}
