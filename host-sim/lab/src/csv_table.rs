//! CSV tables (RFC 4180): a heading that names the columns, a line per row. Errors state the line.

use csv::{ErrorKind, Position, Reader, ReaderBuilder, StringRecord, Trim, Writer};

/// Formats a table; cells with special characters are quoted.
///
/// # Errors
/// None in practice: memory takes every row.
pub fn text<const N: usize>(headings: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> csv::Result<String> {
    self::rows(std::iter::once(headings.map(str::to_owned)).chain(rows))
}

/// Formats a table with columns known only at run time: the heading, then the rows, all of one
/// length.
///
/// # Errors
/// If the lengths differ.
pub fn rows<R: AsRef<[String]>>(rows: impl IntoIterator<Item = R>) -> csv::Result<String> {
    let mut writer = Writer::from_writer(Vec::new());
    rows.into_iter().try_for_each(|row| writer.write_record(row.as_ref()))?;
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses the rows of a table: `row` converts the cells of `columns`, which may be in any order and
/// among others. Blanks around cells are ignored.
///
/// # Errors
/// The line, a colon and a sentence: about the table, or that of `row`.
pub fn read<T>(text: &str, columns: &[&str], row: impl Fn(&[&str]) -> Result<T, String>) -> Result<Vec<T>, String> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
    let places = places(&mut reader, columns).map_err(|message| format!("1: {message}"))?;
    let read = |record: csv::Result<StringRecord>| {
        let record = record.map_err(|error| match error.kind() {
            ErrorKind::UnequalLengths { pos, expected_len, len } => {
                format!("{}: {len} fields, expected {expected_len} as in the heading", line(text, pos.as_ref()))
            }
            _ => error.to_string(),
        })?;
        let cells: Vec<&str> = places.iter().map(|&at| record.get(at).unwrap_or_default()).collect();
        row(&cells).map_err(|message| format!("{}: {message}", line(text, record.position())))
    };
    reader.records().map(read).collect()
}

/// Returns the indices of the columns.
fn places(reader: &mut Reader<&[u8]>, columns: &[&str]) -> Result<Vec<usize>, String> {
    let headings = reader.headers().map_err(|error| error.to_string())?;
    let place = |column: &&str| {
        headings.iter().position(|heading| heading == *column).ok_or_else(|| format!("no column `{column}` in the heading"))
    };
    columns.iter().map(place).collect()
}

/// Returns the line of a row, from 1. The reader includes the empty lines before it.
fn line(text: &str, at: Option<&Position>) -> usize {
    let from = at.map_or(1, |at| at.line() as usize);
    from + text.lines().skip(from - 1).take_while(|line| line.is_empty()).count()
}

/// Parses a cell as a nonnegative whole number.
///
/// # Errors
/// A sentence with the cell.
pub fn number(cell: &str) -> Result<u64, String> {
    cell.parse().map_err(|_| format!("`{cell}` is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_hold_what_ends_a_cell_are_quoted() {
        let row = ["a b", "a,b", "a\"b"].map(str::to_owned);
        assert_eq!(text(["x", "y", "z"], [row]).unwrap(), "x,y,z\na b,\"a,b\",\"a\"\"b\"\n");
    }

    #[test]
    fn what_was_written_is_read() {
        let rows = [["mm", "1,024"], ["a \"b\"\nc", "7"]].map(|row| row.map(str::to_owned));
        let text = text(["kernel", "value"], rows.clone()).unwrap();
        let read = read(&text, &["value", "kernel"], |cells| Ok([cells[1], cells[0]].map(str::to_owned)));
        assert_eq!(read.unwrap(), rows);
    }

    #[test]
    fn a_mistake_is_shown_with_its_line() {
        let sum = |text| read(text, &["b", "a"], |cells| Ok(number(cells[0])? + number(cells[1])?));
        assert_eq!(sum("a,x,b\n1, y , 2\n\n3,,4\n"), Ok(vec![3, 7]));
        assert_eq!(sum("a,x\n1,2\n"), Err("1: no column `b` in the heading".into()));
        assert_eq!(sum("a,b\n1,2\n\n3,4k\n"), Err("4: `4k` is not a number".into()));
        assert_eq!(sum("a,b\n1,2\n3\n"), Err("3: 1 fields, expected 2 as in the heading".into()));
    }
}
