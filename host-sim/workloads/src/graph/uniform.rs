//! A uniform random graph: every node has few edges, to any nodes.

use super::{EdgeList, Names};
use crate::random::Random;

/// Fewest edges of a node: with fewer, a search may end before it has begun.
const FEWEST: i32 = 2;

/// A graph of `count` nodes, each with 2 to 2 `degree` - 2 edges, all numbers as likely, `degree` (at least 2) in the mean; an edge
/// leads to any node, the same included, several times included.
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
