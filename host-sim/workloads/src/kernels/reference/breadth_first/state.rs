//! State of a breadth-first search in device memory: the arrays of `kernels/rodinia/bfs/bfs.cu`
//! between two launches.

use crate::graph::UNREACHED;

/// Threads per TB.
pub(super) const THREADS: usize = 256;

/// Returns the level with the most nodes, the first of several.
pub(super) fn widest(levels: &[i32]) -> i32 {
    let deepest = levels.iter().copied().max().unwrap_or(0);
    let mut counts = vec![0u64; deepest as usize + 1];
    levels.iter().filter(|&&level| level != UNREACHED).for_each(|&level| counts[level as usize] += 1);
    (0..=deepest).rev().max_by_key(|&level| counts[level as usize]).unwrap_or(0)
}

/// Returns the padded length of an array of `count` elements: whole TBs, and therefore at least 256
/// bytes, the alignment of `cudaMalloc`.
pub(super) fn room(count: usize) -> usize {
    count.next_multiple_of(THREADS)
}

/// Returns the kernel arrays of one word and two bytes per node, as words: levels up to `known`,
/// reached flags, and frontier flags. Each is padded to whole TBs with values that the kernels must
/// not touch.
fn words(levels: &[i32], known: i32, reached: impl Fn(i32) -> bool, frontier: impl Fn(i32) -> bool) -> Vec<u32> {
    let level = |&level: &i32| if level <= known { level as u32 } else { UNREACHED as u32 };
    let room = room(levels.len());
    let mut words: Vec<u32> = levels.iter().map(level).collect();
    words.resize(room, UNREACHED as u32);
    words.extend(flags(levels, reached));
    words.resize(room + room / 4, 0);
    words.extend(flags(levels, frontier));
    words.resize(room + room / 2, 0);
    words
}

/// Returns one byte per node, 1 if `is` holds for its level, padded with zeros to whole words.
pub(super) fn flags(levels: &[i32], is: impl Fn(i32) -> bool) -> Vec<u32> {
    let word = |four: &[i32]| u32::from_le_bytes(std::array::from_fn(|i| u8::from(four.get(i).is_some_and(|&level| is(level)))));
    levels.chunks(4).map(word).collect()
}

/// Returns the state with everything up to `level` done, which is the frontier.
pub(super) fn before(levels: &[i32], level: i32) -> Vec<u32> {
    words(levels, level, |_| false, |l| l == level)
}

/// Returns the state after the launch for `level`: the next level is reached, and the frontier is
/// empty.
pub(super) fn after(levels: &[i32], level: i32) -> Vec<u32> {
    words(levels, level + 1, |l| l == level + 1, |_| false)
}

/// Returns the flags of nodes visited up to `level`, one byte per node.
pub(super) fn visited(levels: &[i32], level: i32) -> Vec<u32> {
    flags(levels, |l| l != UNREACHED && l <= level)
}

/// Returns the levels, then the flags, as one number each, for a graph of `count` nodes.
pub(super) fn unpack(words: impl Iterator<Item = u32>, count: usize) -> Vec<f32> {
    let words: Vec<u32> = words.collect();
    let (levels, flags) = words.split_at(room(count));
    let flags = flags.iter().flat_map(|word| word.to_le_bytes()).map(f32::from);
    levels.iter().map(|&level| level as i32 as f32).chain(flags).collect()
}
