//! The sizes that the head of a DIMACS or Matrix-Market file announces, and the checks against what follows.

use super::{MAX_EDGES, MAX_NODES};
use crate::input::file::{InputFileError, Line};

/// Number of nodes and of edges, and the line that says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    pub(super) nodes: u64,
    pub(super) edges: u64,
    line: usize,
}

impl Announced {
    /// From two words of `line`.
    pub(super) fn read(line: &Line<'_>, nodes: &str, edges: &str) -> Result<Self, InputFileError> {
        let announced =
            Announced { nodes: line.number("number of nodes", nodes)?, edges: line.number("number of edges", edges)?, line: line.number };
        match announced {
            Announced { nodes: 0, .. } => Err(line.fail("a graph of 0 nodes; a search needs one to start from")),
            Announced { nodes, .. } if nodes > MAX_NODES => Err(line.fail(format!("{nodes} nodes; at most {MAX_NODES} can be searched"))),
            Announced { edges, .. } if edges > MAX_EDGES => Err(line.fail(format!("{edges} edges; at most {MAX_EDGES} can be searched"))),
            announced => Ok(announced),
        }
    }

    /// An end of an edge: nodes are numbered from 1 in these files, from 0 inside.
    pub(super) fn node(&self, line: &Line<'_>, word: &str) -> Result<u32, InputFileError> {
        match line.number("node", word)? {
            0 => Err(line.fail("node 0: in this format nodes are numbered from 1; add 1 to all of them, or make it an edge list (`.el`)")),
            node if node > self.nodes => {
                let Announced { nodes, line: head, .. } = self;
                Err(line.fail(format!("node {node}: line {head} announces {nodes} nodes; correct one of the two")))
            }
            node => Ok((node - 1) as u32),
        }
    }

    /// Another edge, the file's `count`th.
    pub(super) fn one_more(&self, line: &Line<'_>, count: u64) -> Result<(), InputFileError> {
        let Announced { edges, line: head, .. } = self;
        if count > *edges {
            Err(line.fail(format!("one edge more than the {edges} that line {head} announces; correct one of the two")))
        } else {
            Ok(())
        }
    }

    /// The file ends after `count` edges.
    pub(super) fn complete(&self, file: &str, count: u64) -> Result<(), InputFileError> {
        let Announced { edges, line, .. } = self;
        if count == *edges {
            return Ok(());
        }
        Err(InputFileError::at(
            file,
            *line,
            format!("{edges} edges are announced, and {count} follow: correct the number, or get the whole file"),
        ))
    }
}
