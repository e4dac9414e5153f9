//! Directed graphs for the `bfs` kernels, in compressed rows, from a file or a generator.
//!
//! Self-loops and repeated edges are kept: they are work for a kernel and change no distance.
//! Weights are parsed but not used.

mod announced;
mod dimacs;
mod edge_list;
mod matrix_market;
mod rmat;
#[cfg(test)]
mod tests;
mod uniform;

pub use rmat::rmat;
pub use uniform::uniform;

use crate::input::file::{self, InputFileError};
use std::io::BufReader;
use std::path::Path;

/// Maximum number of nodes (assumption: with the arrays of a search, about 4 GiB on the host).
pub const MAX_NODES: u64 = 1 << 27;

/// Maximum number of edges: kernels number them with 32-bit signed integers.
pub const MAX_EDGES: u64 = i32::MAX as u64;

/// Distance of an unreachable node.
pub const UNREACHED: i32 = -1;

/// Names of nodes in their source. Internally, nodes are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Consecutive numbers from this one on.
    From(u64),
    /// Arbitrary numbers in ascending order.
    Listed(Vec<u64>),
}

/// A graph as a list of edges, as files store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeList {
    /// Number of nodes.
    pub nodes: usize,
    /// Source and target of each edge; both below `nodes`.
    pub pairs: Vec<[u32; 2]>,
    /// Names of the nodes.
    pub names: Names,
}

/// A graph in compressed rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// First edge and number of edges of each node.
    pub nodes: Vec<[u32; 2]>,
    /// Target nodes of the edges.
    pub edges: Vec<u32>,
    /// Names of the nodes.
    pub names: Names,
}

/// Reads a graph file.
///
/// The extension selects the format: `.gr` for DIMACS, `.mtx` for Matrix-Market, `.txt` or `.el`
/// for an edge list.
///
/// # Errors
/// [`InputFileError`].
pub fn load(file: &str) -> Result<EdgeList, InputFileError> {
    let extension = Path::new(file).extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let read = match extension.as_deref() {
        Some("gr") => dimacs::read,
        Some("mtx") => matrix_market::read,
        Some("txt" | "el") => edge_list::read,
        _ => {
            let known = "expected `.gr` (DIMACS), `.mtx` (Matrix-Market), `.txt` or `.el` (edge list), unpacked";
            return Err(InputFileError::whole(file, format!("the name does not end as that of a graph file: {known}")));
        }
    };
    let open = file::open(Path::new(file)).map_err(|message| InputFileError::whole(file, message))?;
    read(file, &mut BufReader::new(open))
}

impl EdgeList {
    /// Adds the reverse of every edge after it, except for self-loops.
    #[must_use]
    pub fn both_ways(self) -> Self {
        let both = |[from, to]: [u32; 2]| [Some([from, to]), (from != to).then_some([to, from])];
        EdgeList { pairs: self.pairs.into_iter().flat_map(both).flatten().collect(), ..self }
    }
}

impl Graph {
    /// Builds a graph in compressed rows; the edges of a node keep their order.
    pub fn new(list: EdgeList) -> Self {
        let mut nodes = vec![[0u32; 2]; list.nodes];
        list.pairs.iter().for_each(|&[from, _]| nodes[from as usize][1] += 1);
        let mut first = 0;
        for node in &mut nodes {
            node[0] = first;
            first += node[1];
        }
        let mut next: Vec<u32> = nodes.iter().map(|node| node[0]).collect();
        let mut edges = vec![0; list.pairs.len()];
        for [from, to] in list.pairs {
            let place = &mut next[from as usize];
            edges[*place as usize] = to;
            *place += 1;
        }
        Graph { nodes, edges, names: list.names }
    }

    /// Returns the number of the node called `name`, if it exists.
    pub fn node(&self, name: u64) -> Option<u32> {
        let index = match &self.names {
            Names::From(first) => name.checked_sub(*first)?,
            Names::Listed(names) => names.binary_search(&name).ok()? as u64,
        };
        (index < self.nodes.len() as u64).then_some(index as u32)
    }

    /// Returns the smallest and largest name; `None` without nodes.
    pub fn range(&self) -> Option<[u64; 2]> {
        let last = (self.nodes.len() as u64).checked_sub(1)?;
        Some(match &self.names {
            Names::From(first) => [*first, first + last],
            Names::Listed(names) => [*names.first()?, *names.last()?],
        })
    }

    /// Returns the node with the most outgoing edges, the first of several; 0 without nodes.
    pub fn hub(&self) -> u32 {
        let count = |&node: &usize| self.nodes[node][1];
        (0..self.nodes.len()).rev().max_by_key(count).unwrap_or(0) as u32
    }

    /// Returns the distance in edges from `start` to each node, or [`UNREACHED`]. A queue-based
    /// search visits node by node and skips edges to nonexistent nodes.
    pub fn distances(&self, start: u32) -> Vec<i32> {
        let mut distances = vec![UNREACHED; self.nodes.len()];
        distances[start as usize] = 0;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            let [first, count] = self.nodes[node as usize];
            for &to in &self.edges[first as usize..][..count as usize] {
                if distances.get(to as usize) == Some(&UNREACHED) {
                    distances[to as usize] = distances[node as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        distances
    }
}
