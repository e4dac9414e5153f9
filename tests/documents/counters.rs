//! `docs/reference/counters.md` lists every hardware counter of an SM with its width.
#![allow(missing_docs)]

use mias_registers::counters::Counter;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn every_counter_has_a_row_with_its_width() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/counters.md")).expect("the page");
    let (_, section) = page.split_once("## Per SM").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("another section");
    let mut listed = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [_, names, bits, ..] = cells[..] else { panic!("{row}") };
        for name in names.split(", ") {
            listed.insert(name.trim_matches('`').to_owned(), bits.to_owned());
        }
    }
    for counter in Counter::ALL {
        assert_eq!(listed.get(&format!("{counter:?}")).map(String::as_str), Some(counter.width().to_string().as_str()), "{counter:?}");
    }
}
