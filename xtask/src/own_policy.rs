//! The example of a policy of one's own, `examples/own-policy`: a package outside the workspace, which is to be copied, and so is held to
//! what it says of itself here.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;

use crate::util::{Report, cargo, root, run as run_command, target_dir};

/// Its folder, from the workspace root.
const FOLDER: &str = "examples/own-policy";

/// The steps, for `ci` to take them into its own report.
pub(crate) fn steps(report: &mut Report) {
    report.step("a policy of one's own", || {
        check_versions(FOLDER)?;
        let manifest = format!("{FOLDER}/Cargo.toml");
        run_command(&mut cargo(["fmt", "--manifest-path", &manifest, "--check"]))?;
        // In the workspace's folder: other people's crates are there already.
        run_command(cargo(["test", "--locked", "--manifest-path", &manifest, "--target-dir"]).arg(target_dir()))
    });
}

/// That every package of an example's lock file is in the workspace's, in the same version: else all of them would be built twice.
pub(crate) fn check_versions(folder: &str) -> Result<()> {
    let read = |file: String| fs::read_to_string(root().join(&file)).with_context(|| format!("cannot read {file}"));
    let (ours, theirs) = (read("Cargo.lock".into())?, read(format!("{folder}/Cargo.lock"))?);
    let (ours, theirs) = (packages(&ours), packages(&theirs));
    let itself = folder.rsplit('/').next();
    match theirs.iter().find(|package| Some(package.0) != itself && !ours.contains(package)) {
        None => Ok(()),
        Some((name, version)) => bail!(
            "{folder}/Cargo.lock has {name} {version}, the workspace's has not; \
             `cp Cargo.lock {folder}/ && cargo metadata --manifest-path {folder}/Cargo.toml --format-version 1` makes them agree"
        ),
    }
}

/// Name and version of every package in a lock file.
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

/// The text between quotes after `key`, if the line is that.
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
