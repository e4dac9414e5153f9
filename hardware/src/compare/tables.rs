//! Markdown tables.

/// A table with its rows so far.
#[derive(Debug)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with columns. All but the first are numbers and right-aligned.
    pub fn new(columns: &[&str]) -> Self {
        Table { head: columns.iter().map(|&column| column.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the text, below a title line.
    pub fn text(&self, title: &str) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|---{}|\n", "|---:".repeat(self.head.len().saturating_sub(1)));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{title}\n\n{}{rule}{rows}\n", line(&self.head))
    }
}

/// Formats a configuration: TBs per SM, or twelfths of the SMs.
pub fn configuration(counts: &[u32]) -> String {
    counts.iter().map(u32::to_string).collect::<Vec<_>>().join("-")
}

/// Formats a fraction in percent.
pub fn percent(part: f64) -> String {
    let text = format!("{:.1} %", 100.0 * part);
    if text == "-0.0 %" { "0.0 %".to_owned() } else { text }
}

/// Formats a ratio.
pub fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// Formats an optional value, with a dash for none.
pub fn or_dash(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or("-".to_owned(), form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_rule_as_wide_as_its_head() {
        let mut table = Table::new(&["pair", "STP"]);
        table.row(vec!["a + b".into(), ratio(1.005)]);
        assert_eq!(table.text("Pairs"), "Pairs\n\n| pair | STP |\n|---|---:|\n| a + b | 1.00 |\n\n");
        assert_eq!((percent(-0.0001), percent(0.125), or_dash(None, ratio)), ("0.0 %".into(), "12.5 %".into(), "-".into()));
    }
}
