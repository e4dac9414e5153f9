//! Uniform random graphs: every node has few edges, to random nodes.

use super::{EdgeList, Names};
use crate::random::Random;

/// Minimum number of edges of a node: with fewer, a search may end at once.
const FEWEST: i32 = 2;

/// Generates a graph of `count` nodes, each with 2 to 2 `degree` - 2 edges, uniformly distributed
/// with mean `degree` (at least 2). The target of an edge is any node, including the same one,
/// possibly several times.
pub fn uniform(count: u32, degree: u32, seed: u64) -> EdgeList {
    let most = 2 * degree.max(FEWEST as u32) as i32 - FEWEST;
    let mut random = Random::new(seed);
    let mut pairs = Vec::new();
    for from in 0..count {
        let degree = random.integer(FEWEST, most);
        pairs.extend((0..degree).map(|_| [from, random.integer(0, count as i32 - 1) as u32]));
    }
    EdgeList { nodes: count as usize, pairs, names: Names::From(0) }
}
