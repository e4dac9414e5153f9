//! Example of a custom policy, `examples/own-policy`: a package outside the workspace, to be
//! copied, whose own checks run here.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;

use crate::util::{Report, cargo, root, run as run_command, target_dir};

/// Folder of the example, from the workspace root.
const FOLDER: &str = "examples/own-policy";

/// Adds the steps to the report of `ci`.
pub(crate) fn steps(report: &mut Report) {
    report.step("the example policy", || {
        check_versions(FOLDER)?;
        let manifest = format!("{FOLDER}/Cargo.toml");
        run_command(&mut cargo(["fmt", "--manifest-path", &manifest, "--check"]))?;
        // Built in the workspace's target folder, which already has the dependencies.
        run_command(cargo(["test", "--locked", "--manifest-path", &manifest, "--target-dir"]).arg(target_dir()))
    });
}

/// Checks that every package of an example's lock file is in the workspace's, in the same version.
/// Otherwise all of them would be built twice.
pub(crate) fn check_versions(folder: &str) -> Result<()> {
    let read = |file: String| fs::read_to_string(root().join(&file)).with_context(|| format!("cannot read {file}"));
    let (ours, theirs) = (read("Cargo.lock".into())?, read(format!("{folder}/Cargo.lock"))?);
    let (ours, theirs) = (packages(&ours), packages(&theirs));
    let itself = folder.rsplit('/').next();
    match theirs.iter().find(|package| Some(package.0) != itself && !ours.contains(package)) {
        None => Ok(()),
        Some((name, version)) => bail!(
            "{folder}/Cargo.lock has {name} {version}, the workspace's lacks it; \
             `cp Cargo.lock {folder}/ && cargo metadata --manifest-path {folder}/Cargo.toml --format-version 1` makes them agree"
        ),
    }
}

/// Returns name and version of every package in a lock file.
fn packages(lock: &str) -> BTreeSet<(&str, &str)> {
    let mut packages = BTreeSet::new();
    let mut name = None;
    for line in lock.lines() {
        if let Some(value) = quoted(line, "name = ") {
            name = Some(value);
        } else if let (Some(name), Some(version)) = (name, quoted(line, "version = ")) {
            packages.insert((name, version));
        }
    }
    packages
}

/// Returns the text between quotes after `key`, if the line has that form.
fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_packages_are_the_workspaces() {
        check_versions(FOLDER).unwrap();
    }

    #[test]
    fn packages_are_read_from_a_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0+x\"\n";
        assert_eq!(packages(lock), BTreeSet::from([("a", "1.0"), ("b", "2.0+x")]));
    }
}
