//! Reference `breadth-first-start` for `bs`: one level of a search with a small frontier. A
//! complete search on the host determines the level. The kernel's arrays have one word per node.

use crate::graph::UNREACHED;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::kernels::reference::Host;
use mias_ptx::{Buffer, DeviceMemory};

/// Generated parts: levels, frontier flags and visited flags.
pub(in crate::kernels::reference) const PARTS: &[&str] = &["level", "frontier", "visited"];

/// Nodes that a TB processes.
const TB_NODES: usize = 2048;

/// Host side of a search from `source` in the kernel's graph, at the level that `share` selects. It
/// changes the buffers `level`, `reached` and `frontier`.
pub(in crate::kernels::reference) fn host(inputs: &Inputs) -> Result<Host, String> {
    let graph = inputs.graph.as_ref().ok_or("the reference needs a table [graph]")?;
    let levels = graph.distances(inputs.value("source")? as u32);
    let level = sparse(&levels, inputs.value("share")?);
    let done = |l: i32| l != UNREACHED && l <= level;
    let parts = [words(&levels, |l| known(l, level)), words(&levels, |l| u32::from(l == level)), words(&levels, |l| u32::from(done(l)))];
    let host = Host::new(move |filled| {
        let buffers = [filled.buffer("level")?, filled.buffer("reached")?, filled.buffer("frontier")?];
        Ok(Expected {
            results: Box::new(move |memory| numbers(memory, buffers)),
            reference: Box::new(move || {
                let (new, reached) = (words(&levels, |l| known(l, level + 1)), words(&levels, |l| u32::from(l == level + 1)));
                let none = words(&levels, |_| 0);
                [new, reached, none].concat().into_iter().map(|word| word as i32 as f32).collect()
            }),
            agrees: Box::new(Expected::equal),
            quality: None,
        })
    });
    Ok(PARTS.iter().zip(parts).fold(host, |host, (part, words)| host.with(part, words)))
}

/// Returns the largest level with at most one in `share` of all nodes, the first of several; the
/// source's level if there is none.
pub(super) fn sparse(levels: &[i32], share: u64) -> i32 {
    let deepest = levels.iter().copied().max().unwrap_or(0).max(0);
    let mut counts = vec![0u64; deepest as usize + 1];
    levels.iter().filter(|&&level| level != UNREACHED).for_each(|&level| counts[level as usize] += 1);
    let few = |&level: &i32| counts[level as usize].saturating_mul(share) <= levels.len() as u64;
    (0..=deepest).rev().filter(few).max_by_key(|&level| counts[level as usize]).unwrap_or(0)
}

/// Returns the level of a node once all levels up to `done` are known.
pub(super) fn known(level: i32, done: i32) -> u32 {
    (if level <= done { level } else { UNREACHED }) as u32
}

/// Returns one word per node, padded with zeros to the nodes of whole TBs; the padding is not
/// accessed.
fn words(levels: &[i32], word: impl Fn(i32) -> u32) -> Vec<u32> {
    let mut words: Vec<u32> = levels.iter().map(|&level| word(level)).collect();
    words.resize(levels.len().next_multiple_of(TB_NODES), 0);
    words
}

/// Returns the contents of the buffers, one after the other.
fn numbers(memory: &DeviceMemory, buffers: [Buffer; 3]) -> Vec<f32> {
    buffers.iter().flat_map(|&buffer| memory.words(buffer)).map(|word| word as i32 as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight nodes: levels of 1, 2, 1 and 3 nodes, and an unreachable one.
    #[test]
    fn the_level_is_the_largest_of_the_small_ones() {
        let levels = [0, 1, 1, 2, 3, 3, 3, UNREACHED];
        assert_eq!(sparse(&levels, 1), 3);
        assert_eq!(sparse(&levels, 4), 1, "2 of 8");
        assert_eq!(sparse(&levels, 8), 0, "1 of 8, the first of two");
        assert_eq!(sparse(&levels, 9), 0, "none");
        assert_eq!(sparse(&[UNREACHED, 0], 1), 0);
    }

    #[test]
    fn later_levels_are_not_known_yet() {
        let levels = [0, 1, 2, UNREACHED];
        assert_eq!(words(&levels, |l| known(l, 1))[..5], [0, 1, UNREACHED as u32, UNREACHED as u32, 0]);
        assert_eq!(words(&levels, |_| 1).len(), TB_NODES);
    }
}
