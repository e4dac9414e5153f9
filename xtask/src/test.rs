//! `cargo xtask test`, the README's test command: the tests of the workspace but for the slow ones, then the images, the proofs on them, the
//! decision's latency on its processors, and the images in the loop. `cargo xtask ci` takes the same steps with the slow ones.

use anyhow::Result;

use crate::util::{Report, cargo};
use crate::{cosim, image, latency, own_board, own_policy, rehearse, setup, snapshots};

/// Which of the tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What takes minutes.
    Quick,
    /// Also modules named `slow`, and the example that builds every crate once more.
    All,
}

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
        tests.args(["--", "--skip", "slow::"]);
    }
    snapshots::steps(report, "tests and doctests", &mut tests);
    if scope == Scope::All {
        own_policy::steps(report);
    }
    own_board::steps(report, ready);
    if ready {
        image::steps(report);
        rehearse::steps(report);
        latency::steps(report);
        cosim::steps(report);
    } else {
        report.blocked("image", "setup failed");
        report.blocked("decision latency", "setup failed");
        report.blocked("co-simulation", "setup failed");
    }
}
