//! Tables of comma-separated values, as `mias-gpu` and `mias evaluate` write them. Cells with
//! commas are in quotes, and lines that start with `#` are remarks.

use std::collections::BTreeMap;

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A remark, without its mark.
    Remark(String),
    /// A row: cells by the name of their column.
    Row(BTreeMap<String, String>),
}

/// Reads all lines; the first line that is no remark has the column names.
///
/// # Errors
/// A sentence for a row whose cells do not match the columns.
pub fn read(text: &str) -> Result<Vec<Line>, String> {
    let mut columns: Option<Vec<String>> = None;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        if let Some(remark) = line.strip_prefix('#') {
            lines.push(Line::Remark(remark.trim().to_owned()));
            continue;
        }
        let cells = cells(line);
        match &columns {
            None => columns = Some(cells),
            Some(columns) if columns.len() == cells.len() => lines.push(Line::Row(columns.iter().cloned().zip(cells).collect())),
            Some(columns) => return Err(format!("line {} has {} cells, not {}", number + 1, cells.len(), columns.len())),
        }
    }
    Ok(lines)
}

/// Splits a line into cells. Within quotes, two quotes are one.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cells.last_mut().into_iter().for_each(|cell| cell.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().into_iter().for_each(|cell| cell.push(letter)),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_whole() {
        let lines = read("# head\na,b,c\n1,\"x,y=\"\"2\"\"\",\n").unwrap();
        let row = [("a", "1"), ("b", "x,y=\"2\""), ("c", "")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(lines, [Line::Remark("head".into()), Line::Row(row.into())]);
    }

    #[test]
    fn a_row_that_is_too_short_is_named() {
        assert_eq!(read("a,b\n1,2\n3\n"), Err("line 3 has 1 cells, not 2".into()));
    }
}
