//! A package contains all files that it includes. `cargo package` would not find files outside its
//! folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders of the published packages, from the root.
const PACKAGES: [&str; 14] = [
    "firmware",
    "firmware/registers",
    "firmware/policies",
    "hw-model",
    "hw-model/warp-trace",
    "configs",
    "plans",
    "kernels",
    "host-sim/ptx",
    "host-sim/trace",
    "host-sim/workloads",
    "host-sim/lab",
    "host-sim/report",
    "host-sim/mias",
];

/// Collects the Rust files under a folder, except those of tests and of nested packages.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && stem != "tests" && stem != "examples" && stem != "target" && !path.join("Cargo.toml").is_file() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" && !stem.ends_with("_tests") {
            found.push(path);
        }
    }
}

/// Returns a path without `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// Returns the paths that a source includes, outside of its own tests.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let calls = ["include_str!(\"", "include_bytes!(\"", "include!(\""].into_iter();
    calls.flat_map(move |call| code.split(call).skip(1).filter_map(|rest| rest.split('"').next()))
}

#[test]
fn no_package_includes_files_of_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut includes = 0;
    for package in PACKAGES.map(|package| root.join(package)) {
        let mut files = Vec::new();
        sources(&package, &mut files);
        assert!(!files.is_empty(), "{}", package.display());
        for file in files {
            for path in included(&fs::read_to_string(&file).unwrap()) {
                let place = plain(&file.parent().unwrap().join(path));
                assert!(place.starts_with(&package), "{} includes {path}, which is not in its package", file.display());
                assert!(place.is_file(), "{}: {path}", file.display());
                includes += 1;
            }
        }
    }
    assert!(includes > 0, "the sources were looked through");
}
