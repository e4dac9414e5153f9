//! `cargo xtask book`: builds the book with mdBook, which it installs below `target/` where it is
//! missing. Warnings are errors.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::util::{cargo, root, run as run_command};

/// Version of mdBook.
const VERSION: &str = "0.5.4";

/// Folder of the installation, from the root.
const TOOLS: &str = "target/tools";

/// Builds the book into `target/book`.
pub(crate) fn run() -> Result<()> {
    let output = Command::new(installed()?).args(["build", "docs"]).current_dir(root()).output().context("cannot start mdbook")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<&str> = said.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
    ensure!(output.status.success() && complaints.is_empty(), "mdbook: {said}");
    ensure!(root().join("target/book/index.html").exists(), "mdbook wrote no target/book/index.html");
    Ok(())
}

/// Returns the path of mdBook, built if it is missing: without its server and its search, and
/// without optimization, since it runs for a second.
fn installed() -> Result<PathBuf> {
    let program = root().join(TOOLS).join("bin/mdbook");
    if !program.exists() {
        fs::create_dir_all(root().join(TOOLS))?;
        let version = ["--version", VERSION, "--root", TOOLS];
        run_command(cargo(["install", "mdbook", "--locked", "--debug", "--no-default-features"]).args(version))?;
    }
    Ok(program)
}
