//! `cargo xtask ci`: everything that a change must pass. `.ci/run` calls this and nothing else.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::slurm::Beside;
use crate::targets::{IMAGES, TARGETS};
use crate::test::{self, Scope};
use crate::util::{Report, cargo, run as run_command};

/// Runs all of it and fails at the end if any part did.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    report.step("format", || run_command(&mut cargo(["fmt", "--all", "--check"])));
    report.step("lints", || run_command(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])));
    report.step("documentation", || run_command(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")));
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
            // With the logs, so that the image of the rehearsal is among them.
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
    // Offline: the steps before have fetched all that it needs, and without a network it would wait for the registry.
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
    // That of the firmware is built from the package alone; of the others it is enough that they can be packed.
    report.step("packages", || {
        let all = ["package", "--workspace", "--no-verify", "--allow-dirty", "--offline"];
        let unpublished = ["mias-suites", "mias-input-file-tests", "mias-benches", "mias-target-bench", IMAGES, "xtask"];
        run_command(cargo(all).args(unpublished.map(|package| ["--exclude", package]).as_flattened()))
    });
    if let Some(cluster) = cluster {
        report.step("an evaluation on a cluster, of which a node is lost, gives the bytes of a local run", || cluster.join());
    }
    report.finish("cargo xtask ci")
}

/// Removes what cargo has unpacked of this workspace's packages: it keeps them by name and version, and would build one package against what
/// another one was when the step ran before. Such folders of a local registry have no host in their name.
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
