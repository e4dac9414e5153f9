//! Golden files, which are [insta](https://insta.rs) snapshots: tests may not write any, and each
//! must be used by a test.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::util::{Report, root, run as run_command, target_dir};

/// Runs `tests`, and checks that every snapshot is used.
pub(crate) fn steps(report: &mut Report, name: &str, tests: &mut Command) {
    // A line per snapshot that a test used; insta appends.
    let list = target_dir().join("snapshots-asked-for.txt");
    let _ = fs::remove_file(&list);
    tests.env("INSTA_UPDATE", "no").env("INSTA_SNAPSHOT_REFERENCES_FILE", &list);
    if report.step(name, || run_command(tests)) {
        report.step("golden files", || all_are_asked_for(&list));
    } else {
        report.blocked("golden files", &format!("{name} failed"));
    }
}

fn all_are_asked_for(list: &Path) -> Result<()> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}: no test requested a snapshot", list.display()))?;
    let asked_for: BTreeSet<PathBuf> = text.lines().filter_map(|line| Path::new(line).canonicalize().ok()).collect();
    let mut there = Vec::new();
    snapshots(&root().canonicalize()?, &mut there)?;
    match there.iter().find(|snapshot| !asked_for.contains(*snapshot)) {
        None => Ok(()),
        Some(other) => bail!("no test uses {}: remove it, or restore its test", other.display()),
    }
}

/// Collects the snapshots under a folder, accepted (`.snap`) or not (`.snap.new`), except those of
/// other packages' builds.
fn snapshots(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            snapshots(&path, found)?;
        } else if name.ends_with(".snap") || name.ends_with(".snap.new") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_that_no_test_asks_for_is_found() {
        let mut there = Vec::new();
        snapshots(&root().canonicalize().unwrap(), &mut there).unwrap();
        assert!(there.len() > 2, "{there:?}");
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        assert!(all_are_asked_for(&list).is_err(), "there is no list");
        let judged = |asked_for: &[PathBuf]| {
            let lines: String = asked_for.iter().map(|path| format!("{}\n", path.display())).collect();
            fs::write(&list, lines).unwrap();
            all_are_asked_for(&list).map_err(|error| error.to_string())
        };
        assert_eq!(judged(&there), Ok(()));
        assert!(judged(&there[1..]).unwrap_err().contains(&*there[0].to_string_lossy()));
    }
}
