//! Reader of plain edge lists, as in the SNAP and KONECT collections: `FROM TO` per line, an
//! optional weight, and comments after `#` or `%`. The numbers are only names: the nodes are those
//! that occur, in ascending order. Numbering may start at 0 or 1 and have gaps.

use super::{EdgeList, MAX_EDGES, MAX_NODES, Names};
use crate::input::file::{self, InputFileError, Line};
use rayon::prelude::*;
use std::io::BufRead;

const FORM: &str = "FROM TO";

pub(super) fn read(file: &str, reader: &mut dyn BufRead) -> Result<EdgeList, InputFileError> {
    let mut named: Vec<[u64; 2]> = Vec::new();
    file::lines(file, reader, |line: Line<'_>| {
        let text = line.text.split(['#', '%']).next().unwrap_or_default();
        let mut words = text.split_ascii_whitespace();
        let (Some(from), to) = (words.next(), words.next()) else { return Ok(()) };
        let Some(to) = to else { return Err(line.fail(format!("one field, expected `{FORM}`"))) };
        named.push([line.number("node", from)?, line.number("node", to)?]);
        if let Some(weight) = words.next()
            && weight.parse::<f64>().is_err()
        {
            return Err(line.fail(format!("weight `{weight}`: expected a number, or nothing after `{FORM}`")));
        }
        if words.next().is_some() {
            return Err(line.fail(format!("more than 3 fields, expected `{FORM}` and optionally a weight")));
        }
        if named.len() as u64 > MAX_EDGES {
            return Err(line.fail(format!("more than {MAX_EDGES} edges; a search supports no more")));
        }
        Ok(())
    })?;
    let mut names: Vec<u64> = named.iter().flatten().copied().collect();
    names.par_sort_unstable();
    names.dedup();
    match names.len() as u64 {
        0 => Err(InputFileError::whole(file, format!("no edge; expected lines `{FORM}`"))),
        nodes if nodes > MAX_NODES => Err(InputFileError::whole(file, format!("{nodes} nodes; a search supports at most {MAX_NODES}"))),
        nodes => {
            // The list of names was built from these edges, so it contains every name.
            let index = |name: u64| names.partition_point(|&other| other < name) as u32;
            let pairs = named.into_par_iter().map(|pair| pair.map(index)).collect();
            Ok(EdgeList { nodes: nodes as usize, pairs, names: Names::Listed(names) })
        }
    }
}
