//! References `breadth-first-neighbors` for `bfs1` and `breadth-first-frontier` for `bfs2`: one
//! level of a search with a small frontier, in two kernels of Rodinia's form. A complete search on
//! the host determines the level. Flags are bytes.

use super::start::{known, sparse};
use super::state::flags;
use crate::graph::UNREACHED;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::kernels::reference::Host;
use mias_ptx::{Buffer, DeviceMemory};

/// Generated parts for the first kernel: levels, frontier flags and visited flags.
pub(in crate::kernels::reference) const NEIGHBOR_PARTS: &[&str] = &["level", "frontier", "visited"];

/// Generated parts for the second kernel: flags of nodes reached in this step, and flags of nodes
/// visited before.
pub(in crate::kernels::reference) const FRONTIER_PARTS: &[&str] = &["reached", "visited"];

/// Nodes per TB.
const TB_NODES: usize = 512;

/// Host side of the step from the level that `share` selects to its neighbors. It changes the
/// buffers `level`, `reached` and `frontier`.
pub(in crate::kernels::reference) fn neighbors(inputs: &Inputs) -> Result<Host, String> {
    let (levels, level) = searched(inputs)?;
    let parts = [known_levels(&levels, level), bytes(&levels, |l| l == level), bytes(&levels, |l| done(l, level))];
    let host = Host::new(move |filled| {
        let buffers = [filled.buffer("level")?, filled.buffer("reached")?, filled.buffer("frontier")?];
        Ok(expected(buffers[0..1].to_vec(), buffers[1..].to_vec(), move || {
            (known_levels(&levels, level + 1), [bytes(&levels, |l| l == level + 1), bytes(&levels, |_| false)].concat())
        }))
    });
    Ok(NEIGHBOR_PARTS.iter().zip(parts).fold(host, |host, (part, words)| host.with(part, words)))
}

/// Host side of the step in which the level that `share` selects becomes the frontier. It changes
/// the buffers `reached`, `frontier`, `visited` and `more`.
pub(in crate::kernels::reference) fn frontier(inputs: &Inputs) -> Result<Host, String> {
    let (levels, level) = searched(inputs)?;
    let parts = [bytes(&levels, |l| l == level), bytes(&levels, |l| done(l, level - 1))];
    let host = Host::new(move |filled| {
        let buffers = [filled.buffer("reached")?, filled.buffer("frontier")?, filled.buffer("visited")?, filled.buffer("more")?];
        Ok(expected(Vec::new(), buffers.to_vec(), move || {
            let new = bytes(&levels, |l| l == level);
            let more = u32::from(new.iter().any(|&word| word != 0));
            (Vec::new(), [bytes(&levels, |_| false), new, bytes(&levels, |l| done(l, level)), vec![more]].concat())
        }))
    });
    Ok(FRONTIER_PARTS.iter().zip(parts).fold(host, |host, (part, words)| host.with(part, words)))
}

/// Returns all levels, and the level of the (next) frontier.
fn searched(inputs: &Inputs) -> Result<(Vec<i32>, i32), String> {
    let graph = inputs.graph.as_ref().ok_or("the reference needs a table [graph]")?;
    let levels = graph.distances(inputs.value("source")? as u32);
    let level = sparse(&levels, inputs.value("share")?);
    Ok((levels, level))
}

/// Returns whether a node was visited up to a level.
fn done(own: i32, level: i32) -> bool {
    own != UNREACHED && own <= level
}

/// Returns one word per node, padded to whole TBs.
fn known_levels(levels: &[i32], level: i32) -> Vec<u32> {
    let mut words: Vec<u32> = levels.iter().map(|&own| known(own, level)).collect();
    words.resize(levels.len().next_multiple_of(TB_NODES), UNREACHED as u32);
    words
}

/// Returns one byte per node, padded to whole TBs.
fn bytes(levels: &[i32], is: impl Fn(i32) -> bool) -> Vec<u32> {
    let mut words = flags(levels, is);
    words.resize(levels.len().next_multiple_of(TB_NODES) / 4, 0);
    words
}

/// Returns the expected contents of buffers of words and of bytes: numbers that a float represents.
fn expected(words: Vec<Buffer>, flags: Vec<Buffer>, reference: impl Fn() -> (Vec<u32>, Vec<u32>) + Send + Sync + 'static) -> Expected {
    let numbers = |words: Vec<u32>, flags: Vec<u32>| -> Vec<f32> {
        let flags = flags.into_iter().flat_map(u32::to_le_bytes).map(f32::from);
        words.into_iter().map(|word| word as i32 as f32).chain(flags).collect()
    };
    let read = |memory: &DeviceMemory, buffers: &[Buffer]| buffers.iter().flat_map(|&buffer| memory.words(buffer)).collect::<Vec<u32>>();
    Expected {
        results: Box::new(move |memory| numbers(read(memory, &words), read(memory, &flags))),
        reference: Box::new(move || {
            let (words, flags) = reference();
            numbers(words, flags)
        }),
        agrees: Box::new(Expected::equal),
        quality: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_bytes_of_whole_tbs() {
        let levels = [0, 1, 2, UNREACHED, 1];
        assert_eq!(bytes(&levels, |l| l == 1)[..3], [0x100, 1, 0]);
        assert_eq!(bytes(&levels, |l| done(l, 1))[..2], [0x101, 1]);
        assert_eq!((bytes(&levels, |_| true).len(), known_levels(&levels, 1).len()), (TB_NODES / 4, TB_NODES));
        assert_eq!(known_levels(&levels, 1)[..4], [0, 1, UNREACHED as u32, UNREACHED as u32]);
    }
}
