//! Algorithm 1 of Nasef 2023 as printed: a tree with parent pointers, then pruning.
//!
//! It is a reference for tests and for the benchmark on the target. The loop bound that overruns in
//! print is corrected (sources.md D16).

use alloc::vec::Vec;

use mias_firmware::configs::TbVector;
use mias_firmware::resources::Resources;

/// Results of the two steps of the algorithm.
pub(crate) struct Tree {
    /// One vector per leaf, from left to right.
    pub(crate) leaves: Vec<TbVector>,
    /// The complete vectors among the leaves.
    pub(crate) configurations: Vec<TbVector>,
}

struct Node {
    parent: Option<usize>,
    tbs: u8,
}

/// Runs algorithm 1.
pub(crate) fn generate(capacity: &Resources, demands: &[Resources]) -> Tree {
    let mut nodes = Vec::new();
    let mut leaves = Vec::new();
    if !demands.is_empty() {
        subtree(None, *capacity, 0, demands, &mut nodes, &mut leaves);
    }
    let mut tree = Tree { leaves: Vec::new(), configurations: Vec::new() };
    for leaf in leaves {
        let mut vector = TbVector::default();
        let mut rest = *capacity;
        let mut node = Some(leaf);
        for kernel in (0..demands.len()).rev() {
            let Node { parent, tbs } = &nodes[node.expect("one node per kernel")];
            vector.set(kernel, *tbs);
            rest = rest.minus(&demands[kernel], u32::from(*tbs)).expect("a leaf is feasible");
            node = *parent;
        }
        tree.leaves.push(vector);
        if demands.iter().all(|demand| !rest.fits(demand)) {
            tree.configurations.push(vector);
        }
    }
    tree
}

fn subtree(parent: Option<usize>, rest: Resources, kernel: usize, demands: &[Resources], nodes: &mut Vec<Node>, leaves: &mut Vec<usize>) {
    let most = rest.max_tbs(&demands[kernel]);
    let node = |nodes: &mut Vec<Node>, tbs: u32| {
        nodes.push(Node { parent, tbs: u8::try_from(tbs).expect("at most 255 slots") });
        nodes.len() - 1
    };
    if kernel == demands.len() - 1 {
        leaves.push(node(nodes, most));
        return;
    }
    for tbs in 0..=most {
        let child = node(nodes, tbs);
        let left = rest.minus(&demands[kernel], tbs).expect("max_tbs fits");
        subtree(Some(child), left, kernel + 1, demands, nodes, leaves);
    }
}

/// Counts the feasible prefixes `(n_0 .. n_{K-2})` by plain nested trial, which is the number of
/// leaves (invariant 5).
#[allow(dead_code, reason = "the bench does not count them")]
pub(crate) fn feasible_prefixes(capacity: &Resources, demands: &[Resources]) -> usize {
    let Some((_, prefix)) = demands.split_last() else { return 0 };
    let mut rests: Vec<Resources> = [*capacity].into();
    for demand in prefix {
        rests = rests.iter().flat_map(|rest| (0..=255).map_while(|tbs| rest.minus(demand, tbs))).collect();
    }
    rests.len()
}
