//! Directed graphs for `bfs`: in compressed rows, from a file or a generator.
//!
//! Edges from a node to itself and edges given several times are kept: they are work for a kernel, and change no distance. Weights
//! are read, and not used.

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

/// Most nodes of a graph (assumption: with the arrays of a search, about 4 GiB on the host).
pub const MAX_NODES: u64 = 1 << 27;

/// Most edges: kernels number them with 32-bit signed integers.
pub const MAX_EDGES: u64 = i32::MAX as u64;

/// Distance of a node that no way leads to.
pub const UNREACHED: i32 = -1;

/// How the nodes are called where they come from. Inside they are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// One after the other, from this on.
    From(u64),
    /// By any numbers, ascending.
    Listed(Vec<u64>),
}

/// A graph as a list: what files hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeList {
    /// Number of nodes.
    pub nodes: usize,
    /// From, to; both below `nodes`.
    pub pairs: Vec<[u32; 2]>,
    /// Their names.
    pub names: Names,
}

/// A graph in compressed rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// First edge and number of edges of each node.
    pub nodes: Vec<[u32; 2]>,
    /// The nodes that edges lead to.
    pub edges: Vec<u32>,
    /// The nodes' names.
    pub names: Names,
}

/// Reads a graph file; its name's end tells the format: `.gr` DIMACS, `.mtx` Matrix-Market, `.txt` or `.el` an edge list.
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
    /// With the opposite of every edge added after it, but for those from a node to itself.
    #[must_use]
    pub fn both_ways(self) -> Self {
        let both = |[from, to]: [u32; 2]| [Some([from, to]), (from != to).then_some([to, from])];
        EdgeList { pairs: self.pairs.into_iter().flat_map(both).flatten().collect(), ..self }
    }
}

impl Graph {
    /// In compressed rows; the edges of a node stay in the list's order.
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

    /// The node called `name`, if there is one.
    pub fn node(&self, name: u64) -> Option<u32> {
        let index = match &self.names {
            Names::From(first) => name.checked_sub(*first)?,
            Names::Listed(names) => names.binary_search(&name).ok()? as u64,
        };
        (index < self.nodes.len() as u64).then_some(index as u32)
    }

    /// The least and the greatest name; none if there is no node.
    pub fn range(&self) -> Option<[u64; 2]> {
        let last = (self.nodes.len() as u64).checked_sub(1)?;
        Some(match &self.names {
            Names::From(first) => [*first, first + last],
            Names::Listed(names) => [*names.first()?, *names.last()?],
        })
    }

    /// The node that most edges leave, the first of several; 0 if there is none.
    pub fn hub(&self) -> u32 {
        let count = |&node: &usize| self.nodes[node][1];
        (0..self.nodes.len()).rev().max_by_key(count).unwrap_or(0) as u32
    }

    /// Edges from `start` to each node on a shortest way, or [`UNREACHED`]: with a queue, node by node. An edge to no node is
    /// skipped.
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
