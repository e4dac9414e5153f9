//! `cargo xtask soak`: the firmware's properties with a million cases each instead of the hundreds
//! or thousands of a test run. It adds ten thousand random schedules of faults and as many of
//! launches for the firmware on the GPU model. It also adds a hundred thousand mutated files.

use anyhow::Result;

use crate::util::{Report, cargo, run as run_command};

/// Environment variables with the number of cases, and of fault schedules.
const CASES: &str = "MIAS_CASES";
const SCHEDULES: &str = "MIAS_SCHEDULES";

/// Numbers of cases, schedules and files, and filter of tests.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Cases per property.
    #[arg(long, default_value_t = 1_000_000)]
    cases: u32,
    /// Random schedules of faults, and of launches.
    #[arg(long, default_value_t = 10_000)]
    schedules: u32,
    /// Mutations of each kind of input file.
    #[arg(long, default_value_t = 100_000)]
    files: u32,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

/// Runs the tests, optimized, with overflow checks.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut report = Report::default();
    let (cases, schedules) = (args.cases.to_string(), args.schedules.to_string());
    report.step(&format!("{cases} cases of each property of the firmware"), || {
        let mut soak = cargo(["test", "--package", "mias-firmware", "--tests", "--no-fail-fast", "--"]);
        run_command(soak.args(&args.filter).env(CASES, &cases))
    });
    report.step(&format!("{schedules} random schedules of launches and of faults, with and without preemption"), || {
        let suites = ["fault_schedules::", "scheduling::", "preemption::", "preemption_faults::"];
        let mut soak = cargo(["test", "--package", "mias-suites", "--tests", "--no-fail-fast", "--"]);
        run_command(soak.args(chosen(&args.filter, &suites)).env(SCHEDULES, &schedules))
    });
    let files = args.files.to_string();
    report.step(&format!("{files} mutations of each kind of input file"), || {
        let mut soak = cargo(["test", "--package", "mias-input-file-tests", "--tests", "--no-fail-fast", "--"]);
        run_command(soak.args(chosen(&args.filter, &["mutations::"])).env(CASES, &files))
    });
    report.finish("cargo xtask soak")
}

/// Returns the tests that the user requests; those of `suites` by default.
fn chosen<'a>(filter: &'a Option<String>, suites: &'a [&'a str]) -> Vec<&'a str> {
    filter.as_deref().map_or(suites.to_vec(), |filter| vec![filter])
}
