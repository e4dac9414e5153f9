//! `cargo xtask threads`: the tests of the model and of all that is built on it, with so many threads inside of every run as are asked for, whatever a test asks for, and every cycle
//! handed to them, also where that does not pay. Expected values are those of one thread. With `--sanitize` the model's own tests in ThreadSanitizer, which watches for data races. Not part of the
//! tests: it builds everything anew, and the sanitizer needs a nightly compiler.

use anyhow::{Context, Result, bail};

use crate::util::{Report, cargo, command, run as run_command, stdout};

/// The feature that makes the model look at the variable, and the variable.
const FEATURE: &str = "mias-hw-model/threads-of-environment";
const THREADS: &str = "MIAS_THREADS";

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Threads of every run, one number after the other.
    #[arg(long, value_delimiter = ',', default_value = "2,4,16")]
    threads: Vec<u16>,
    /// The model's tests in ThreadSanitizer, in place of all suites.
    #[arg(long)]
    sanitize: bool,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

/// Runs them.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.threads.contains(&0) {
        bail!("0 threads run nothing: give numbers from 1, as in --threads 2,4");
    }
    let mut report = Report::default();
    if args.sanitize {
        let target = host()?;
        for threads in &args.threads {
            report.step(&format!("the model with {threads} threads in ThreadSanitizer"), || {
                let mut tests = command("rustup", ["run", "nightly", "cargo", "test", "--package", "mias-hw-model", "--lib"]);
                tests.args(["--features", FEATURE, "-Zbuild-std", "--target", &target, "--target-dir", "target/sanitize", "--"]);
                tests.args(&args.filter).env("RUSTFLAGS", "-Zsanitizer=thread");
                // Slower by far: fewer cases, where a test does not say how many.
                run_command(tests.env(THREADS, threads.to_string()).env("PROPTEST_CASES", "8"))
            });
        }
    } else {
        for threads in &args.threads {
            report.step(&format!("tests with {threads} threads inside of every run"), || {
                let mut tests = cargo(["test", "--workspace", "--exclude", "xtask", "--exclude", "mias-firmware", "--no-fail-fast"]);
                tests.args(["--lib", "--bins", "--tests", "--features", FEATURE, "--target-dir", "target/threads", "--"]);
                run_command(tests.args(&args.filter).env(THREADS, threads.to_string()))
            });
        }
    }
    report.finish("cargo xtask threads")
}

/// The triple of this machine, as a nightly compiler says it.
fn host() -> Result<String> {
    let Ok(version) = stdout(&mut command("rustup", ["run", "nightly", "rustc", "--version", "--verbose"])) else {
        bail!(
            "ThreadSanitizer is part of nightly compilers only, and none is installed. Install one, and run the command again:\n  \
             rustup toolchain install nightly --component rust-src"
        );
    };
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("`rustc --version --verbose` names no host")
}
