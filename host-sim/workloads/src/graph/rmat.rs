//! R-MAT graphs (Chakrabarti, Zhan and Faloutsos, "R-MAT: A recursive model for graph mining", SDM
//! 2004): few nodes with very many edges, most with few. Probabilities and the permutation of node
//! numbers are those of the Graph500 benchmark (specification 2.0, section 3, "Generating the edge
//! list").

use super::{EdgeList, Names};
use crate::random::Random;

/// Cumulative probabilities of the matrix quarters by Graph500, times 2^32: upper left (a), upper
/// right (b), lower left (c). The rest is lower right. The sums are 0.57, 0.57 + 0.19, 0.57 + 0.19
/// + 0.19.
const BELOW: [u64; 3] = [(57 << 32) / 100, (76 << 32) / 100, (95 << 32) / 100];

/// Generates a graph of `count` nodes, a power of two, with `degree` times as many edges, before
/// their reverses are added. Each edge falls into a quarter of the matrix, and recursively into one
/// element. The nodes are then numbered at random, so a node's number is independent of its edges.
pub fn rmat(count: u32, degree: u32, seed: u64) -> EdgeList {
    let mut random = Random::new(seed);
    let levels = count.ilog2();
    let mut number: Vec<u32> = (0..count).collect();
    // Fisher-Yates shuffle.
    for last in (1..count as usize).rev() {
        let other = (random.bits() % (last as u64 + 1)) as usize;
        number.swap(last, other);
    }
    let mut pair = || {
        let (mut from, mut to) = (0usize, 0usize);
        for _ in 0..levels {
            let draw = random.bits() >> 32;
            let quarter = BELOW.iter().filter(|&&below| below <= draw).count();
            from = from << 1 | quarter >> 1;
            to = to << 1 | quarter & 1;
        }
        [number[from], number[to]]
    };
    let pairs = (0..u64::from(count) * u64::from(degree)).map(|_| pair()).collect();
    EdgeList { nodes: count as usize, pairs, names: Names::From(0) }
}
