//! Plain tables: numbers right-aligned, with a dash for missing ones.

use comfy_table::{CellAlignment, Table, presets};

/// Placeholder for a missing value.
pub const DASH: &str = "-";

/// Creates a table with these headings; the first column is left-aligned, the others right-aligned.
pub fn new(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(headings.iter().copied());
    for (at, column) in table.column_iter_mut().enumerate() {
        let right = if at == 0 { 0 } else { 2 };
        column.set_padding((right, 0));
        column.set_cell_alignment(if at == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table
}

/// Creates a table of these rows; columns of words are left-aligned, those with a number
/// right-aligned.
pub fn of(headings: &[String], rows: &[Vec<String>]) -> Table {
    let mut table = new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    rows.iter().for_each(|row| {
        table.add_row(row);
    });
    for (at, column) in table.column_iter_mut().enumerate() {
        if are_words(rows, at) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    table
}

/// Returns whether column `at` holds words, and no number or dash.
pub fn are_words(rows: &[Vec<String>], at: usize) -> bool {
    rows.iter().all(|row| row.get(at).is_some_and(|cell| cell.is_empty() || cell.starts_with(char::is_alphabetic)))
}

/// Formats the table, without blanks at line ends.
pub fn text(table: &Table) -> String {
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Formats a number with `digits` decimals, or a dash.
pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| DASH.to_owned(), |value| format!("{value:.digits$}"))
}

/// Formats a number with `digits` decimals and its half-width, if it has one.
pub fn estimate(value: Option<f64>, half_width: Option<f64>, digits: usize) -> String {
    match (value, half_width) {
        (Some(_), Some(half)) => format!("{} \u{b1}{half:.digits$}", number(value, digits)),
        _ => number(value, digits),
    }
}

/// Formats a fraction as a percentage with one decimal, or a dash.
pub fn percent(value: Option<f64>) -> String {
    // Adding zero turns -0.0 into 0.0.
    value.map_or_else(|| DASH.to_owned(), |value| format!("{:.1} %", (value * 1000.0).round() / 10.0 + 0.0))
}

/// Formats a ratio as a change, with its sign and one decimal: `+3.2 %`.
pub fn change(ratio: f64) -> String {
    format!("{:+.1} %", (1000.0 * (ratio - 1.0)).round() / 10.0 + 0.0).replace('-', "\u{2212}")
}

/// Formats a configuration as `1-3`, or a dash.
pub fn config(config: Option<&[u32]>) -> String {
    match config {
        Some(config) => config.iter().map(u32::to_string).collect::<Vec<_>>().join("-"),
        None => DASH.to_owned(),
    }
}

/// Formats a whole number in groups of three digits.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats SM numbers as ranges: `0-9,12`.
pub fn ranges(sms: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &sm in sms {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == sm => *last = sm,
            _ => parts.push((sm, sm)),
        }
    }
    let part = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_as_people_write() {
        assert_eq!(number(Some(1.23456), 3), "1.235");
        assert_eq!(number(None, 3), "-");
        assert_eq!(percent(Some(0.0314)), "3.1 %");
        assert_eq!(percent(Some(-0.00001)), "0.0 %");
        assert_eq!(config(Some(&[1, 3])), "1-3");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(300), "300");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }

    #[test]
    fn words_stand_left_and_numbers_right() {
        let strings = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let rows = [strings(&["mm", "C", "812.5"]), strings(&["fwt", "memory", "-"])];
        assert_eq!(
            text(&of(&strings(&["kernel", "type", "ipc"]), &rows)),
            "kernel  type      ipc\nmm      C       812.5\nfwt     memory      -\n"
        );
    }

    #[test]
    fn columns_line_up() {
        let mut table = new(&["kernel", "ipc"]);
        table.add_row(["mm", "812.5"]).add_row(["fwt", "9.0"]);
        assert_eq!(text(&table), "kernel    ipc\nmm      812.5\nfwt       9.0\n");
    }
}
