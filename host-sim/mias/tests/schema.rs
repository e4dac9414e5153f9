//! `mias schema`: its output equals `docs/generated/`, and it writes files as other commands do.

use crate::support::{mias, printed, refused};
use std::path::Path;

const KINDS: [&str; 3] = ["gpu", "plan", "kernel"];

#[test]
fn the_schemas_of_the_project_are_current() {
    for kind in KINDS {
        let file = format!("docs/generated/{kind}.schema.json");
        let written = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&file)).unwrap_or_default();
        assert!(written == printed(&["schema", kind]), "{file} is not what is read; write it with `cargo xtask schema`");
    }
}

#[test]
fn a_file_has_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.schema.json");
    mias(&["schema", "plan", "--out", file.to_str().unwrap()]).assert().success().stdout("");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed(&["schema", "plan"]));
    refused(&["schema", "plan", "--out", folder.path().to_str().unwrap()], &["cannot write"]);
}

#[test]
fn another_kind_is_refused_with_those_that_there_are() {
    refused(&["schema", "plans"], &["'plans'", "gpu, plan, kernel", "'plan'"]);
    refused(&["schema"], &["<KIND>"]);
}
