//! `cargo xtask test`, the README's test command: every test of the workspace and of the examples of a policy and a board of one's own, then
//! the images, the proofs on them, the decision's latency on its processors, and the images in the loop.

use anyhow::Result;

use crate::util::{Report, cargo};
use crate::{cosim, image, latency, own_board, own_policy, rehearse, setup, snapshots};

/// Runs all of it and fails at the end if any part did.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    steps(&mut report);
    report.finish("cargo xtask test")
}

/// The steps, for `ci` to take them into its own report.
pub(crate) fn steps(report: &mut Report) {
    let ready = report.step("setup", setup::run);
    snapshots::steps(report, "tests and doctests", &mut cargo(["test", "--workspace", "--no-fail-fast"]));
    own_policy::steps(report);
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
