//! Reader of `works.bib`: BibTeX with one field per line.
//!
//! ```text
//! @kind{key,            begins an entry
//!   field = {value},    a title has a second pair of braces
//! }                     ends it
//! ```
//!
//! Lines that begin with `%`, and empty lines, are comments. Any other line is an error.

use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// An entry's fields.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entry(BTreeMap<String, String>);

impl Entry {
    /// Returns the value of a field, empty if there is none.
    pub(super) fn get(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }
}

/// Parses the entries, in the order of the file.
pub(super) fn entries(text: &str) -> Result<Vec<Entry>> {
    let (mut entries, mut open) = (Vec::new(), None::<Entry>);
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        match (&mut open, line.strip_suffix("},").and_then(|line| line.split_once(" = {"))) {
            (Some(entry), Some((field, value))) => {
                let value = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')).unwrap_or(value);
                entry.0.insert(field.to_owned(), value.to_owned());
            }
            (Some(_), None) if line == "}" => entries.extend(open.take()),
            (None, None) if line.starts_with('@') && line.ends_with(',') => open = Some(Entry::default()),
            _ => bail!("line {number}: `{line}` neither begins nor ends an entry, and is no field"),
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_other_lines_refused() {
        let text = "% comment\n@misc{a,\n  title = {{On {it}}},\n  year = {2018},\n}\n";
        let all = entries(text).unwrap();
        assert_eq!((all.len(), all[0].get("title"), all[0].get("year"), all[0].get("none")), (1, "On {it}", "2018", ""));
        for wrong in ["title = {a},", "@misc{a,\n@misc{b,\n", "@misc{a,\n title = a,\n"] {
            assert!(entries(wrong).unwrap_err().to_string().contains("line "), "{wrong}");
        }
    }
}
