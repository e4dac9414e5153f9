//! Reader of the Matrix-Market coordinate format (Boisvert, Pozo and Remington, "The Matrix Market
//! exchange formats: initial design", NISTIR 5935, 1996). An entry in row i and column j is an edge
//! from node i to node j, with its value as weight. Nodes are numbered from 1.

use super::announced::Announced;
use super::{EdgeList, MAX_EDGES, Names};
use crate::input::file::{self, InputFileError, Line};
use std::io::BufRead;

const BANNER: &str = "%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric";

/// Type of an entry's third word.
#[derive(Clone, Copy)]
enum Value {
    None,
    Integer,
    Real,
}

#[derive(Clone, Copy)]
struct Banner {
    value: Value,
    /// Only one triangle is stored: each entry off the diagonal represents two.
    symmetric: bool,
}

pub(super) fn read(file: &str, reader: &mut dyn BufRead) -> Result<EdgeList, InputFileError> {
    let (mut banner, mut head) = (None, None);
    let (mut pairs, mut entries) = (Vec::new(), 0);
    file::lines(file, reader, |line: Line<'_>| {
        let Some(Banner { value, symmetric }) = banner else {
            banner = Some(read_banner(&line)?);
            return Ok(());
        };
        if line.text.starts_with('%') || line.text.trim().is_empty() {
            return Ok(());
        }
        let Some(head) = head else {
            head = Some(read_head(&line)?);
            return Ok(());
        };
        let [row, column] = match value {
            Value::None => line.words("ROW COLUMN")?,
            Value::Integer | Value::Real => {
                let [row, column, number] = line.words("ROW COLUMN VALUE")?;
                let (valid, expected) = match value {
                    Value::Integer => (number.parse::<i64>().is_ok(), "a whole number"),
                    _ => (number.parse::<f64>().is_ok(), "a number"),
                };
                if !valid {
                    return Err(line.fail(format!("value `{number}`: expected {expected}")));
                }
                [row, column]
            }
        };
        entries += 1;
        head.one_more(&line, entries)?;
        let [from, to] = [head.node(&line, row)?, head.node(&line, column)?];
        pairs.push([from, to]);
        if symmetric && from != to {
            pairs.push([to, from]);
        }
        if pairs.len() as u64 > MAX_EDGES {
            return Err(line.fail(format!("more than {MAX_EDGES} edges, both directions counted; a search supports no more")));
        }
        Ok(())
    })?;
    let Some(head) = head else { return Err(InputFileError::whole(file, "no line `ROWS COLUMNS ENTRIES`; use the complete file")) };
    head.complete(file, entries)?;
    Ok(EdgeList { nodes: head.nodes as usize, pairs, names: Names::From(1) })
}

/// Reads the first line, without regard to case.
fn read_banner(line: &Line<'_>) -> Result<Banner, InputFileError> {
    let text = line.text.to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let unknown = || line.fail(format!("expected `{BANNER}`"));
    let ["%%matrixmarket", "matrix", "coordinate", value, symmetry] = words[..] else { return Err(unknown()) };
    let value = match value {
        "pattern" => Value::None,
        "integer" => Value::Integer,
        "real" => Value::Real,
        _ => return Err(unknown()),
    };
    let symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        _ => return Err(unknown()),
    };
    Ok(Banner { value, symmetric })
}

fn read_head(line: &Line<'_>) -> Result<Announced, InputFileError> {
    let [rows, columns, entries] = line.words("ROWS COLUMNS ENTRIES")?;
    if line.number("number of rows", rows)? != line.number("number of columns", columns)? {
        return Err(line.fail(format!("{rows} rows and {columns} columns: the matrix of a graph is square")));
    }
    Announced::read(line, rows, entries)
}
