//! Reader of the DIMACS format of shortest-path problems (9th DIMACS Implementation Challenge,
//! "File formats": `c`, `p sp`, `a` lines). Nodes are numbered from 1; arcs are directed and
//! weighted.

use super::announced::Announced;
use super::{EdgeList, Names};
use crate::input::file::{self, InputFileError, Line};
use std::io::BufRead;

const HEAD: &str = "p sp NODES ARCS";
const ARC: &str = "a FROM TO WEIGHT";

pub(super) fn read(file: &str, reader: &mut dyn BufRead) -> Result<EdgeList, InputFileError> {
    let mut head: Option<Announced> = None;
    let mut pairs = Vec::new();
    file::lines(file, reader, |line: Line<'_>| {
        match (line.text.bytes().next(), head) {
            (None | Some(b'c'), _) => {}
            (Some(b'p'), None) => {
                let [_, kind, nodes, arcs] = line.words(HEAD)?;
                if kind != "sp" {
                    return Err(line.fail(format!("problem `{kind}`: expected `{HEAD}`")));
                }
                head = Some(Announced::read(&line, nodes, arcs)?);
            }
            (Some(b'p'), Some(_)) => return Err(line.fail("a second `p` line; a file holds one graph")),
            (Some(b'a'), None) => return Err(line.fail(format!("an arc before the line `{HEAD}`; put that first"))),
            (Some(b'a'), Some(head)) => {
                let [_, from, to, weight] = line.words(ARC)?;
                weight.parse::<i64>().map_err(|_| line.fail(format!("weight `{weight}`: expected a whole number")))?;
                head.one_more(&line, pairs.len() as u64 + 1)?;
                pairs.push([head.node(&line, from)?, head.node(&line, to)?]);
            }
            _ => return Err(line.fail(format!("expected a line `c ...`, `{HEAD}` or `{ARC}`"))),
        }
        Ok(())
    })?;
    let Some(head) = head else { return Err(InputFileError::whole(file, format!("no line `{HEAD}`; use a DIMACS graph"))) };
    head.complete(file, pairs.len() as u64)?;
    Ok(EdgeList { nodes: head.nodes as usize, pairs, names: Names::From(1) })
}
