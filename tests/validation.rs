//! The timing model against the reference numbers, on the traces in `tests/data/reference`: the bounds are those of
//! `mias_lab::validation`, the document is what `cargo xtask validate` writes.

use mias_lab::validation::{Suite, mean_error_percent, own_markdown};
use std::path::Path;
use std::sync::OnceLock;

fn suite() -> &'static Suite {
    static SUITE: OnceLock<Suite> = OnceLock::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference");
    SUITE.get_or_init(|| Suite::run(&folder).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn every_number_is_within_its_bound() {
    let violations = suite().violations();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert!(mean_error_percent(&suite().launches) <= 5.0);
}

/// Nothing dropped out: the reference numbers that the project holds are 18 micro-benchmarks, 3 launches and 2 co-runs.
#[test]
fn everything_is_compared() {
    let suite = suite();
    assert_eq!((suite.micro.len(), suite.launches.len(), suite.corun.len()), (18, 3, 2));
}

#[test]
fn the_document_shows_todays_numbers() {
    let document = include_str!("../docs/validation.md");
    assert!(document.contains(&own_markdown(suite())), "docs/validation.md is out of date: run `cargo xtask validate`");
}
