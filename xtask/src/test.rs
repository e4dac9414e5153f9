//! `cargo xtask test`, the README's test command: the tests of the workspace except slow ones, then
//! the images of one processor and their checks. `cargo xtask ci` adds slow tests, the other
//! processors, decision latency and images in co-simulation.

use anyhow::Result;

use crate::targets::{TARGETS, Target};
use crate::util::{Report, cargo};
use crate::{cosim, image, latency, own_board, own_policy, rehearse, setup, snapshots};

/// Scope of the tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Tests that take minutes, with images for the first processor only.
    Quick,
    /// All tests, including modules named `slow`, the packages of `RARE`, all processors, decision
    /// latency, and the examples, which compile crates again.
    All,
}

impl Scope {
    /// Returns the processors whose images are built.
    pub(crate) fn targets(self) -> &'static [Target] {
        if self == Scope::Quick { &TARGETS[..1] } else { &TARGETS }
    }
}

/// Packages whose tests only `ci` runs, since their dependencies take long to compile.
const RARE: [&str; 2] = ["mias-input-file-tests", "mias-benches"];

/// Arguments that skip tests in modules named `slow`.
const SKIP_SLOW: [&str; 3] = ["--", "--skip", "slow::"];

/// Runs all steps and fails at the end if any step failed.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    steps(&mut report, Scope::Quick);
    report.finish("cargo xtask test")
}

/// Adds the steps to the report of `ci`.
pub(crate) fn steps(report: &mut Report, scope: Scope) {
    let ready = report.step("setup", setup::run);
    let mut tests = cargo(["test", "--workspace", "--no-fail-fast"]);
    if scope == Scope::Quick {
        tests.args(RARE.map(|package| ["--exclude", package]).as_flattened()).args(SKIP_SLOW);
    }
    snapshots::steps(report, "tests and doctests", &mut tests);
    if scope == Scope::All {
        own_policy::steps(report);
        own_board::steps(report, ready);
    }
    if ready {
        image::steps(report, scope);
        rehearse::steps(report, scope);
        if scope == Scope::All {
            latency::steps(report);
            cosim::steps(report);
        }
    } else {
        report.blocked("image", "setup failed");
        report.blocked("decision latency", "setup failed");
        report.blocked("co-simulation", "setup failed");
    }
}
