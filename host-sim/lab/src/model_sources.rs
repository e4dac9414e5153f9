//! Sources that determine simulation results, and their relevant lines, from which the model's
//! fingerprint is computed. So stored results of one model are never mistaken for another's, and no
//! result is discarded for a changed comment. Used by `build.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files with such sources, relative to this crate's folder. They include the time of
/// decisions: its table and reader.
pub(crate) const DECIDING: [&str; 8] = [
    "../../firmware/registers/src",
    "../../firmware/src",
    "../../firmware/policies/src",
    "decision-latency.toml",
    "../../hw-model/src",
    "../../hw-model/warp-trace/src",
    "src/experiment",
    "src/decision_cost",
];

/// Files in those folders without effect on results: code only for images, reports, drawings,
/// checks or proofs, and evaluation of finished runs. Unit tests (`tests`, `*_tests`,
/// `#[cfg(test)]`) are excluded anyway.
const NOT_DECIDING: [&str; 18] = [
    "firmware/src/crash_record.rs",
    "firmware/src/log.rs",
    "firmware/src/proofs.rs",
    "firmware/policies/src/proofs.rs",
    "firmware/registers/src/remote.rs",
    "firmware/src/service.rs",
    "firmware/registers/src/describe.rs",
    "firmware/registers/src/fingerprint.rs",
    "hw-model/src/gpu/validate.rs",
    "hw-model/src/sm/validate.rs",
    "src/experiment/compare.rs",
    "src/experiment/fit.rs",
    "src/experiment/judge.rs",
    "src/experiment/least_squares.rs",
    "src/experiment/policies.rs",
    "src/experiment/sequential.rs",
    "src/experiment/shape.rs",
    "src/experiment/sweep.rs",
];

/// Returns all relevant files of a folder or file, in the order of their paths.
pub(crate) fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match path.is_dir() {
            _ if stem == "tests" || stem.ends_with("_tests") || NOT_DECIDING.iter().any(|other| path.ends_with(other)) => {}
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// Returns the relevant lines of a source text: without comments, blank lines, and items for tests.
/// It assumes rustfmt's layout, with the closing brace of an item indented like its first line.
pub(crate) fn code(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let margin = &line[..line.len() - line.trim_start().len()];
            let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
            if item.next().is_some_and(|first| !first.ends_with(';') && !first.ends_with('}')) {
                item.find(|line| line.strip_prefix(margin).is_some_and(|rest| rest.starts_with('}')));
            }
            continue;
        }
        // A comment of a TOML file; a Rust attribute begins differently.
        let is_toml_comment = line == "#" || line.starts_with("# ");
        let line = if is_toml_comment { "" } else { without_comment(line).trim() };
        if !line.is_empty() {
            kept.push(line);
        }
    }
    kept
}

/// Returns a line up to its comment, which begins at its start or after a blank, outside of quotes.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with("//") {
        return "";
    }
    let outside = |at: &usize| line[..*at].matches('"').count().is_multiple_of(2);
    let end = line.match_indices(" // ").map(|(at, _)| at).find(outside);
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_tests_do_not_count() {
        let text = "//! Doc.\n\nfn a() {\n    // why\n    b(\"x // y\"); // so\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {\n    }\n}\n\n\
            #[cfg(test)]\n#[path = \"t.rs\"]\nmod t;\n\nimpl A {\n    #[cfg(test)]\n    fn d() {\n        e();\n    }\n    fn f() {}\n}\n";
        assert_eq!(code(text), ["fn a() {", "b(\"x // y\");", "}", "impl A {", "fn f() {}", "}"]);
        assert_eq!(code("# Written by\n#\n[cortex]\na = 1\n"), ["[cortex]", "a = 1"]);
    }

    /// A wrong name, or that of a moved file, would silently exclude nothing.
    #[test]
    fn what_is_left_out_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in NOT_DECIDING {
            let place = if name.starts_with("src/") { root.join(name) } else { root.join("../..").join(name) };
            assert!(place.is_file(), "{name}");
        }
        for place in DECIDING {
            assert!(!files(&root.join(place)).is_empty(), "{place}");
        }
    }
}
