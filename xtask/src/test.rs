//! `cargo xtask test`, the README's test command: the tests of the workspace but for the slow ones, then the images of one processor and the
//! proofs on them. `cargo xtask ci` adds the slow tests, the other processors, the decision's latency and the images in the loop.

use anyhow::Result;

use crate::targets::{TARGETS, Target};
use crate::util::{Report, cargo};
use crate::{cosim, image, latency, own_board, own_policy, rehearse, setup, snapshots};

/// Which of the tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What takes minutes: images for the first of the processors only.
    Quick,
    /// Also modules named `slow`, the packages of `RARE`, all processors, the decision's latency, and the examples, which build crates once more.
    All,
}

impl Scope {
    /// The processors whose images are built.
    pub(crate) fn targets(self) -> &'static [Target] {
        if self == Scope::Quick { &TARGETS[..1] } else { &TARGETS }
    }
}

/// Packages whose tests only `ci` runs, since what they need takes long to compile.
const RARE: [&str; 2] = ["mias-input-file-tests", "mias-benches"];

/// What leaves tests in modules named `slow` out.
const SKIP_SLOW: [&str; 3] = ["--", "--skip", "slow::"];

/// Runs all of it and fails at the end if any part did.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    steps(&mut report, Scope::Quick);
    report.finish("cargo xtask test")
}

/// The steps, for `ci` to take them into its own report.
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
