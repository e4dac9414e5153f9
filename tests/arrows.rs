//! The crates depend on each other as drawn in `docs/explanation/architecture.md`, and only on
//! allowed external crates.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Returns the dependencies of each package of the workspace, without those of its tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let printed = cargo.output().expect("cargo runs").stdout;
    let metadata: Value = serde_json::from_slice(&printed).expect("cargo metadata prints JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let used = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        dependencies.filter(|dependency| dependency["kind"].is_null()).map(|dependency| text(&dependency["name"])).collect()
    };
    packages.map(|package| (text(&package["name"]), used(package))).collect()
}

/// Returns the arrows of the drawing: `a --> b` in the block of `docs/explanation/architecture.md`
/// that starts with `flowchart`.
fn drawn() -> BTreeSet<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/explanation/architecture.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, drawing) = page.split_once("```mermaid\nflowchart").expect("a drawing");
    let (drawing, _) = drawing.split_once("```").expect("its end");
    let mut arrows = BTreeSet::new();
    for line in drawing.lines().filter(|line| line.contains("-->")) {
        let (from, to) = line.trim().split_once(" --> ").expect("`a --> b & c`");
        arrows.extend(to.split(" & ").map(|to| (from.to_owned(), to.to_owned())));
    }
    arrows
}

/// Packages with suites, benchmarks and scripts: they may use everything, and no package uses them.
const AROUND: [&str; 5] = ["mias-suites", "mias-input-file-tests", "mias-benches", "mias-target-bench", "xtask"];

#[test]
fn the_crates_depend_on_each_other_as_drawn() {
    let packages = dependencies();
    let ours: BTreeSet<&String> = packages.keys().collect();
    let mut found = BTreeSet::new();
    for (package, used) in packages.iter().filter(|(package, _)| !AROUND.contains(&package.as_str())) {
        found.extend(used.iter().filter(|name| ours.contains(name)).map(|name| (package.clone(), name.clone())));
    }
    assert_eq!(found, drawn(), "what cargo says, and what docs/explanation/architecture.md draws");
    assert!(found.iter().all(|(_, to)| !AROUND.contains(&to.as_str())));
}

#[test]
fn only_the_command_parses_a_command_line() {
    for (package, used) in dependencies() {
        if package != "mias" && package != "xtask" {
            assert!(!used.contains("clap"), "{package}");
        }
    }
}

/// A board has its own runtime, perhaps in another version.
#[test]
fn the_firmware_drags_no_runtime_of_a_processor_along() {
    let used = &dependencies()["mias-firmware"];
    for runtime in ["cortex-m", "cortex-m-rt", "riscv", "riscv-rt", "semihosting"] {
        assert!(!used.contains(runtime), "{runtime}");
    }
}
