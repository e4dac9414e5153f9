//! All tests that docs/porting/guarantees.md names for its invariants and promises exist.
#![allow(missing_docs)]

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

/// Numbers of the invariants on the page: those of configurations and decisions, and of preemption.
const INVARIANTS: [RangeInclusive<u32>; 2] = [1..=26, 35..=36];

/// Returns the tests that a line names: text between backquotes with a file and a function.
fn named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs::").map(|_| code.split_once("::").expect("found")))
}

#[test]
fn every_test_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/porting/guarantees.md")).expect("the page");
    let mut tests = 0;
    for (file, test) in page.lines().flat_map(named) {
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(source.contains(&format!("fn {test}(")), "{file} has no test {test}");
        tests += 1;
    }
    assert!(tests > 50, "{tests} tests are named");
}

#[test]
fn every_invariant_has_its_test() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/porting/guarantees.md")).expect("the page");
    for invariant in INVARIANTS.into_iter().flatten() {
        let row = page.lines().find(|line| line.starts_with(&format!("| {invariant} |")));
        assert!(row.is_some_and(|row| named(row).count() > 0), "invariant {invariant}");
    }
}
