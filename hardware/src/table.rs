//! Table of results: a row per kernel of a run, written at once. `README.md` describes the columns.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Names of columns, in order.
const COLUMNS: [&str; 28] = [
    "kind",
    "set",
    "config",
    "repeat",
    "kernel",
    "tbs_per_sm",
    "tbs_per_million_cycles",
    "tb_cycles",
    "tbs",
    "slots",
    "fewest",
    "short",
    "span_cycles",
    "window_cycles",
    "warm_up_cycles",
    "clock_khz",
    "carve_out_kib",
    "registers",
    "shared_bytes",
    "arrived",
    "expected",
    "top_ups",
    "tries",
    "launched",
    "sms",
    "aid",
    "microseconds",
    "notes",
];

/// Cells of one row by column; others are empty.
pub type Row = Vec<(&'static str, String)>;

/// Open table of results.
pub struct Table(Box<dyn Write>);

impl Table {
    /// Creates the table in a file, or on standard output.
    ///
    /// # Errors
    /// A sentence if the file cannot be created.
    pub fn new(path: Option<&Path>) -> Result<Self, String> {
        let out: Box<dyn Write> = match path {
            Some(path) => Box::new(File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?),
            None => Box::new(io::stdout()),
        };
        Ok(Table(out))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.0, "{line}").and_then(|()| self.0.flush()).map_err(|error| format!("cannot write the table: {error}"))
    }

    /// Writes a remark of one or more lines.
    ///
    /// # Errors
    /// A sentence if it cannot be written, as for the others.
    pub fn remark(&mut self, text: &str) -> Result<(), String> {
        text.lines().try_for_each(|line| self.line(&format!("# {line}")))
    }

    /// Writes the names of the columns.
    ///
    /// # Errors
    /// As [`Table::remark`].
    pub fn head(&mut self) -> Result<(), String> {
        self.line(&COLUMNS.join(","))
    }

    /// Writes a row.
    ///
    /// # Errors
    /// As [`Table::remark`].
    pub fn row(&mut self, row: &Row) -> Result<(), String> {
        self.line(&text(row))
    }
}

/// Returns a row's text. Words of kernels may contain commas, and are put in quotes.
fn text(row: &Row) -> String {
    debug_assert!(row.iter().all(|(name, _)| COLUMNS.contains(name)), "columns that there are");
    let cell = |name: &str| {
        let value = row.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        if value.contains([',', '"']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.to_owned() }
    };
    COLUMNS.map(cell).join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_cell_for_each_column() {
        let row = text(&vec![("kernel", "bopt:480,steps=512".into()), ("kind", "alone".into())]);
        assert!(row.starts_with("alone,,,,\"bopt:480,steps=512\",,"), "{row}");
        assert_eq!(row.matches(',').count() - 1, COLUMNS.len() - 1);
    }
}
