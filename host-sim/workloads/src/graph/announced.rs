//! Sizes in the header of a DIMACS or Matrix-Market file, and checks against the content.

use super::{MAX_EDGES, MAX_NODES};
use crate::input::file::{InputFileError, Line};

/// Numbers of nodes and edges, with the line that states them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    pub(super) nodes: u64,
    pub(super) edges: u64,
    line: usize,
}

impl Announced {
    /// Parses both numbers from words of `line`.
    pub(super) fn read(line: &Line<'_>, nodes: &str, edges: &str) -> Result<Self, InputFileError> {
        let announced =
            Announced { nodes: line.number("number of nodes", nodes)?, edges: line.number("number of edges", edges)?, line: line.number };
        match announced {
            Announced { nodes: 0, .. } => Err(line.fail("a graph of 0 nodes; a search needs a start node")),
            Announced { nodes, .. } if nodes > MAX_NODES => Err(line.fail(format!("{nodes} nodes; a search supports at most {MAX_NODES}"))),
            Announced { edges, .. } if edges > MAX_EDGES => Err(line.fail(format!("{edges} edges; a search supports at most {MAX_EDGES}"))),
            announced => Ok(announced),
        }
    }

    /// Parses the end of an edge. Nodes are numbered from 1 in these files, and from 0 here.
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

    /// Checks the edge number `count` of the file.
    pub(super) fn one_more(&self, line: &Line<'_>, count: u64) -> Result<(), InputFileError> {
        let Announced { edges, line: head, .. } = self;
        if count > *edges {
            Err(line.fail(format!("more edges than the {edges} that line {head} announces; correct one of the two")))
        } else {
            Ok(())
        }
    }

    /// Checks the end of the file after `count` edges.
    pub(super) fn complete(&self, file: &str, count: u64) -> Result<(), InputFileError> {
        let Announced { edges, line, .. } = self;
        if count == *edges {
            return Ok(());
        }
        Err(InputFileError::at(
            file,
            *line,
            format!("{edges} edges announced, {count} found: correct the number, or use the complete file"),
        ))
    }
}
