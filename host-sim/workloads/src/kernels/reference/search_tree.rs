//! References `tree-keys` for `bt` and `tree-ranges` for `btr`: look-ups of keys and ranges of keys
//! in a B+ tree, as in Rodinia's b+tree (Fix et al. 2011). The reference generates the tree. Its
//! nodes have space for 256 children, of which `fill` exist. Below four levels are the leaves, with
//! as many records each.

use super::{Host, whole};
use crate::kernels::given::Inputs;
use crate::random::Random;

/// Keys of a node, as in the kernels' sources.
const ORDER: usize = 256;

/// Levels above the leaves, as in the kernels' files.
const LEVELS: u32 = 4;

/// Generated parts for keys: nodes, values of the records, and keys that occur.
pub(super) const KEY_PARTS: &[&str] = &["nodes", "records", "wanted"];

/// Generated parts for ranges: nodes, and first and last keys, which occur.
pub(super) const RANGE_PARTS: &[&str] = &["nodes", "from", "to"];

/// Maximum number of records in a range (assumption).
const LONGEST: i32 = 1000;

/// Returns the host side for `size` keys into `answers`; `current` and `next` become the leaf.
pub(super) fn keys(inputs: &Inputs) -> Result<Host, String> {
    let (tree, count, mut random) = given(inputs)?;
    let records: Vec<u32> = (0..tree.records()).map(|_| random.integer(0, 999_999) as u32).collect();
    let wanted: Vec<i32> = (0..count).map(|_| random.integer(0, tree.records() - 1)).collect();
    let parts = [tree.nodes(), records.clone(), wanted.iter().map(|&record| key(record)).collect()];
    let host = Host::new(move |filled| {
        Ok(whole(filled.buffers(["answers", "current", "next"])?, move || {
            let leaves = || wanted.iter().map(|&record| tree.leaf(record));
            wanted.iter().map(|&record| records[record as usize] as i32).chain(leaves()).chain(leaves()).collect()
        }))
    });
    Ok(KEY_PARTS.iter().zip(parts).fold(host, |host, (part, words)| host.with(part, words)))
}

/// Returns the host side for `size` ranges into `first` and `length`; the arrays of both ends
/// become their leaves.
pub(super) fn ranges(inputs: &Inputs) -> Result<Host, String> {
    let (tree, count, mut random) = given(inputs)?;
    let range = |_| {
        let first = random.integer(0, tree.records() - 1);
        (first, random.integer(first, (first + LONGEST).min(tree.records()) - 1))
    };
    let wanted: Vec<(i32, i32)> = (0..count).map(range).collect();
    let parts = [tree.nodes(), wanted.iter().map(|range| key(range.0)).collect(), wanted.iter().map(|range| key(range.1)).collect()];
    let host = Host::new(move |filled| {
        let buffers = filled.buffers(["first", "length", "current", "next", "last_current", "last_next"])?;
        Ok(whole(buffers, move || {
            let of = |what: &dyn Fn((i32, i32)) -> i32| wanted.iter().map(|&range| what(range)).collect::<Vec<i32>>();
            let (first, last) = (of(&|range| tree.leaf(range.0)), of(&|range| tree.leaf(range.1)));
            [of(&|range| range.0), of(&|range| range.1 - range.0 + 1), first.clone(), first, last.clone(), last].concat()
        }))
    });
    Ok(RANGE_PARTS.iter().zip(parts).fold(host, |host, (part, words)| host.with(part, words)))
}

fn given(inputs: &Inputs) -> Result<(Tree, u64, Random), String> {
    Ok((Tree { fill: inputs.value("fill")? as i32 }, inputs.value("size")?, Random::new(inputs.seed)))
}

/// Returns the key of a record: the odd numbers.
fn key(record: i32) -> u32 {
    2 * record as u32 + 1
}

/// A tree whose nodes all have the same number of children.
#[derive(Clone, Copy, Debug)]
struct Tree {
    /// Children of a node.
    fill: i32,
}

impl Tree {
    fn records(self) -> i32 {
        self.fill.pow(LEVELS + 1)
    }

    /// Returns the number of the first node of a level. Nodes are numbered level by level.
    fn first(self, level: u32) -> i32 {
        (0..level).map(|above| self.fill.pow(above)).sum()
    }

    /// Returns the number of the leaf that contains a record.
    fn leaf(self, record: i32) -> i32 {
        self.first(LEVELS) + record / self.fill
    }

    /// Returns the nodes in the kernels' form: keys and one more, children or records and one more.
    /// Unused entries have the largest key, and the number of nodes.
    fn nodes(self) -> Vec<u32> {
        let mut words = Vec::new();
        for level in 0..=LEVELS {
            // Records per child.
            let records = self.fill.pow(LEVELS - level);
            let below = if level == LEVELS { 0 } else { self.first(level + 1) };
            for node in 0..self.fill.pow(level) {
                let children = node * self.fill..(node + 1) * self.fill;
                let mut filled_up = |known: &mut dyn Iterator<Item = u32>, filler: u32| {
                    words.extend(known.chain(std::iter::repeat(filler)).take(ORDER + 1));
                };
                filled_up(&mut children.clone().map(|child| key(child * records)), i32::MAX as u32);
                filled_up(&mut children.map(|child| (below + child) as u32), self.first(LEVELS + 1) as u32);
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the root by hand: two children per node, 31 nodes, 32 records.
    #[test]
    fn a_walk_ends_at_the_leaf() {
        let tree = Tree { fill: 2 };
        let nodes = tree.nodes();
        let node = |at: i32| &nodes[at as usize * 2 * (ORDER + 1)..][..2 * (ORDER + 1)];
        assert_eq!((nodes.len(), tree.records()), (31 * 2 * (ORDER + 1), 32));
        for record in 0..32 {
            let mut at = 0;
            for _ in 0..LEVELS {
                let child = (0..ORDER).find(|&i| node(at)[i] <= key(record) && node(at)[i + 1] > key(record)).unwrap();
                at = node(at)[ORDER + 1 + child] as i32;
            }
            assert_eq!(at, tree.leaf(record));
            let found = (0..ORDER).find(|&i| node(at)[i] == key(record)).unwrap();
            assert_eq!(node(at)[ORDER + 1 + found], record as u32);
        }
    }
}
