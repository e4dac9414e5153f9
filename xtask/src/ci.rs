//! `cargo xtask ci`: everything that a change must pass. `.ci/run` calls only this.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::slurm::Beside;
use crate::targets::{IMAGES, TARGETS};
use crate::test::{self, Scope};
use crate::util::{Report, cargo, run as run_command};
use crate::{book, subjects};

/// Runs all steps and fails at the end if any step failed.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    report.step("format", || run_command(&mut cargo(["fmt", "--all", "--check"])));
    report.step("lints", || run_command(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])));
    // `--all-targets` excludes a test that `cargo test` does not run by default.
    report.step("lints of the co-simulation", || {
        run_command(&mut cargo(["clippy", "--package", "mias", "--test", "cosim", "--", "-D", "warnings"]))
    });
    report.step("documentation", || run_command(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")));
    report.step("commit subjects", subjects::check);
    report.step("book", book::run);
    test::steps(&mut report, Scope::All);
    let mut cluster = None;
    report.step("Slurm", || {
        cluster = Some(Beside::start()?);
        Ok(())
    });
    for target in &TARGETS {
        report.step(&format!("lints for the {}", target.board.core), || {
            let packages =
                ["mias-registers", "mias-firmware", "mias-policies", IMAGES, "mias-target-bench"].map(|package| ["--package", package]);
            // With logs, so that this includes the image of the rehearsal.
            let logs = format!("{IMAGES}/defmt");
            let mut clippy = cargo(["clippy", "--lib", "--bins", "--target", target.board.target, "--features", &logs]);
            run_command(clippy.args(packages.as_flattened()).args(["--", "-D", "warnings"]))
        });
        report.step(&format!("firmware library for the {}", target.board.core), || {
            run_command(&mut cargo([
                "build",
                "--package",
                "mias-firmware",
                "--lib",
                "--profile",
                target.board.profile,
                "--target",
                target.board.target,
            ]))
        });
    }
    // Offline: earlier steps have fetched all dependencies, and without a network cargo would wait
    // for the registry.
    report.step("firmware package", || {
        forget_packed_sources()?;
        run_command(&mut cargo([
            "package",
            "--package",
            "mias-registers",
            "--package",
            "mias-firmware",
            "--package",
            "mias-policies",
            "--allow-dirty",
            "--offline",
        ]))
    });
    // The firmware package is built from the package alone; for the others, packing suffices.
    report.step("packages", || {
        let all = ["package", "--workspace", "--no-verify", "--allow-dirty", "--offline"];
        let unpublished = ["mias-suites", "mias-input-file-tests", "mias-benches", "mias-target-bench", IMAGES, "xtask"];
        run_command(cargo(all).args(unpublished.map(|package| ["--exclude", package]).as_flattened()))
    });
    if let Some(cluster) = cluster {
        report.step("an evaluation on a cluster that loses a node gives the bytes of a local run", || cluster.join());
    }
    report.finish("cargo xtask ci")
}

/// Removes unpacked sources of this workspace's packages. cargo keeps them by name and version, and
/// would build one package against an earlier version of another. The folders of a local registry
/// have no host in their name.
fn forget_packed_sources() -> Result<()> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok()).into_iter().flatten();
    for registry in registries.filter_map(Result::ok).filter(|registry| registry.file_name().to_string_lossy().starts_with('-')) {
        for package in fs::read_dir(registry.path())?.filter_map(Result::ok) {
            if package.file_name().to_string_lossy().starts_with("mias-") {
                fs::remove_dir_all(package.path()).with_context(|| format!("cannot remove {}", package.path().display()))?;
            }
        }
    }
    Ok(())
}
