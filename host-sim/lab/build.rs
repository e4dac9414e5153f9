//! A fingerprint of the sources that decide what a simulation gives, so that results of one program are never taken for those of
//! another. Comments, blank lines and unit tests do not count.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files with such sources, from this crate's folder. The time of decisions is among them: its table, and what reads it.
const SOURCES: [&str; 5] =
    ["../../firmware/src", "../../firmware/decision-latency.toml", "../../hw-model/src", "src/experiment", "src/decision_cost"];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // FNV-1a, 64 bits, as in `mias-trace`'s `fingerprint.rs`.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        for file in files(&root.join(source)) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
            for byte in code.flat_map(str::bytes) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    println!("cargo:rustc-env=MIAS_MODEL={hash:016x}");
}

/// All files under a folder that are no tests, in the order of their paths; of a file itself, just it.
fn files(source: &Path) -> Vec<PathBuf> {
    if source.is_file() {
        return vec![source.to_owned()];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(source).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match path.is_dir() {
            _ if stem == "tests" || stem.ends_with("_tests") => {}
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}
