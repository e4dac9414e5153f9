//! `cargo xtask ci`: everything that a change must pass. `.ci/run` calls this and nothing else.

use anyhow::Result;

use crate::setup::TARGET;
use crate::test;
use crate::util::{Report, cargo, run as run_command};

/// Runs all of it and fails at the end if any part did.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    report.step("format", || run_command(&mut cargo(["fmt", "--all", "--check"])));
    report.step("lints", || run_command(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])));
    report.step("documentation", || run_command(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")));
    test::steps(&mut report);
    report.step("lints for the target", || {
        run_command(&mut cargo(["clippy", "--package", "mias-firmware", "--lib", "--bins", "--target", TARGET, "--", "-D", "warnings"]))
    });
    report.step("firmware library for the target", || {
        run_command(&mut cargo(["build", "--package", "mias-firmware", "--lib", "--target", TARGET, "--profile", "image"]))
    });
    // Offline: the steps before have fetched all that it needs, and without a network it would wait for the registry.
    report.step("firmware package", || run_command(&mut cargo(["package", "--package", "mias-firmware", "--allow-dirty", "--offline"])));
    report.finish("cargo xtask ci")
}
