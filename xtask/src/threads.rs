//! `cargo xtask threads`: the tests of the model and its dependents with a given number of threads
//! inside every run, overriding the tests' own numbers. Every cycle is distributed to the threads,
//! even if that is slower. Expected values are those of one thread.
//!
//! With `--sanitize`, the model's own tests run in ThreadSanitizer, which detects data races. Not
//! part of the tests: it rebuilds everything, and the sanitizer needs a nightly compiler.

use anyhow::{Context, Result, bail};

use crate::util::{Report, cargo, command, run as run_command, stdout};

/// Feature that makes the model read the environment variable, and the variable.
const FEATURE: &str = "mias-hw-model/threads-of-environment";
const THREADS: &str = "MIAS_THREADS";

/// Numbers of threads and filter of tests.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Threads of every run, one number after the other.
    #[arg(long, value_delimiter = ',', default_value = "2,4,16")]
    threads: Vec<u16>,
    /// Runs the model's tests in ThreadSanitizer, instead of all suites.
    #[arg(long)]
    sanitize: bool,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

/// Runs the tests.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.threads.contains(&0) {
        bail!("0 threads cannot run: use numbers from 1, as in --threads 2,4");
    }
    let mut report = Report::default();
    if args.sanitize {
        let target = host()?;
        for threads in &args.threads {
            report.step(&format!("the model with {threads} threads in ThreadSanitizer"), || {
                let mut tests = command("rustup", ["run", "nightly", "cargo", "test", "--package", "mias-hw-model", "--lib"]);
                tests.args(["--features", FEATURE, "-Zbuild-std", "--target", &target, "--target-dir", "target/sanitize", "--"]);
                tests.args(&args.filter).env("RUSTFLAGS", "-Zsanitizer=thread");
                // Much slower: fewer cases, unless a test sets their number.
                run_command(tests.env(THREADS, threads.to_string()).env("PROPTEST_CASES", "8"))
            });
        }
    } else {
        for threads in &args.threads {
            report.step(&format!("tests with {threads} threads in every run"), || {
                let mut tests = cargo(["test", "--workspace", "--exclude", "xtask", "--exclude", "mias-firmware", "--no-fail-fast"]);
                tests.args(["--lib", "--bins", "--tests", "--features", FEATURE, "--target-dir", "target/threads", "--"]);
                run_command(tests.args(&args.filter).env(THREADS, threads.to_string()))
            });
        }
    }
    report.finish("cargo xtask threads")
}

/// Returns the target triple of this host, from a nightly compiler.
fn host() -> Result<String> {
    let Ok(version) = stdout(&mut command("rustup", ["run", "nightly", "rustc", "--version", "--verbose"])) else {
        bail!(
            "ThreadSanitizer requires a nightly compiler, and none is installed. Install one, and run the command again:\n  \
             rustup toolchain install nightly --component rust-src"
        );
    };
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("`rustc --version --verbose` prints no host")
}
