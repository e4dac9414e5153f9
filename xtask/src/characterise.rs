//! `cargo xtask characterise`: the seven kernels, measured and compared. The tables are
//! `mias_report::characterisation`, run in release through its example; here they are put into
//! `docs/results/kernels.md`, beside what people wrote there.

use anyhow::{Context, Result};

use crate::citations::linked;
use crate::util::{cargo, root, stdout, write_file};

/// Path of the written document, relative to the root.
const DOCUMENT: &str = "docs/results/kernels.md";
/// Mark before the tables; text outside of this mark and the next is kept.
const BEGIN: &str = "<!-- generated: tables -->\n";
const END: &str = "<!-- end generated -->\n";

/// Creates the tables and inserts them into the document.
pub(crate) fn run() -> Result<()> {
    let document = std::fs::read_to_string(root().join(DOCUMENT)).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let outside = outside(&document).with_context(|| format!("{DOCUMENT} has no lines `{}` and `{}`", BEGIN.trim(), END.trim()))?;
    let tables = stdout(&mut cargo(["run", "--quiet", "--release", "--package", "mias-report", "--example", "characterise"]))?;
    write_file(DOCUMENT, with_tables(outside, &linked(&tables)))?;
    println!("check the text about the tables, too");
    Ok(())
}

/// Returns the text before and after the tables.
fn outside(document: &str) -> Option<(&str, &str)> {
    let (before, rest) = document.split_once(BEGIN)?;
    Some((before, rest.split_once(END)?.1))
}

fn with_tables((before, after): (&str, &str), tables: &str) -> String {
    format!("{before}{BEGIN}\n{tables}\n{END}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_is_kept() {
        let first = with_tables(("before\n", "after\n"), "one\n");
        let second = with_tables(outside(&first).unwrap(), "two\n");
        assert_eq!(second, first.replace("one", "two"));
        assert_eq!(outside("no markers"), None);
    }

    #[test]
    fn the_example_and_the_document_are_there() {
        assert!(root().join("host-sim/report/examples/characterise.rs").is_file());
        assert!(outside(&std::fs::read_to_string(root().join(DOCUMENT)).unwrap()).is_some());
    }
}
