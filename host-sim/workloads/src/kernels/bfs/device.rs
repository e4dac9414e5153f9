//! A breadth-first search in device memory: the arrays of `kernels/rodinia/bfs/bfs.cu` and its two launches.

use crate::graph::{Graph, UNREACHED};
use mias_ptx::{Arg, Buffer, DeviceMemory, Launch};

/// Threads per TB.
const THREADS: u64 = 256;

/// The level with the most nodes, the first of several.
pub(super) fn widest(levels: &[i32]) -> i32 {
    let deepest = levels.iter().copied().max().unwrap_or(0);
    let mut counts = vec![0u64; deepest as usize + 1];
    levels.iter().filter(|&&level| level != UNREACHED).for_each(|&level| counts[level as usize] += 1);
    (0..=deepest).rev().max_by_key(|&level| counts[level as usize]).unwrap_or(0)
}

/// Elements of an array of `count`: whole TBs, and so 256 bytes at least, which is how `cudaMalloc` aligns what follows.
fn room(count: usize) -> usize {
    count.next_multiple_of(THREADS as usize)
}

/// The kernels' arrays of one word and two bytes per node, as words: levels up to `known`, who was reached just now, who is
/// on the frontier. Each is filled up to whole TBs with what the kernels must not touch.
fn state(levels: &[i32], known: i32, reached: impl Fn(i32) -> bool, frontier: impl Fn(i32) -> bool) -> Vec<u32> {
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

/// One byte per node, 1 where `is` holds of its level, filled up to whole words with zeros.
fn flags(levels: &[i32], is: impl Fn(i32) -> bool) -> Vec<u32> {
    let word = |four: &[i32]| u32::from_le_bytes(std::array::from_fn(|i| u8::from(four.get(i).is_some_and(|&level| is(level)))));
    levels.chunks(4).map(word).collect()
}

/// What the launch for `level` leaves behind: the next level reached, the frontier taken away.
pub(super) fn reached(levels: &[i32], level: i32) -> Vec<u32> {
    state(levels, level + 1, |l| l == level + 1, |_| false)
}

/// Levels, then the flags, one number each, for a graph of `count` nodes.
pub(super) fn unpack(words: impl Iterator<Item = u32>, count: usize) -> Vec<f32> {
    let words: Vec<u32> = words.collect();
    let (levels, flags) = words.split_at(room(count));
    let flags = flags.iter().flat_map(|word| word.to_le_bytes()).map(f32::from);
    levels.iter().map(|&level| level as i32 as f32).chain(flags).collect()
}

/// A search on the device.
pub(super) struct Device {
    pub(super) memory: DeviceMemory,
    /// Levels, reached, frontier.
    pub(super) state: Buffer,
    pub(super) visited: Buffer,
    nodes: Buffer,
    edges: Buffer,
    count: u64,
}

impl Device {
    /// With everything up to `level` done.
    pub(super) fn new(graph: &Graph, levels: &[i32], level: i32) -> Self {
        let mut memory = DeviceMemory::new();
        Device {
            state: memory.allocate(state(levels, level, |_| false, |l| l == level)),
            visited: memory.allocate(flags(levels, |l| l != UNREACHED && l <= level)),
            nodes: memory.allocate(graph.nodes.as_flattened().iter().copied()),
            edges: memory.allocate(graph.edges.iter().copied()),
            memory,
            count: levels.len() as u64,
        }
    }

    pub(super) fn launch(&self, args: &[u64]) -> Launch {
        let mut args: Vec<Arg> = args.iter().map(|&address| Arg::U64(address)).collect();
        args.push(Arg::I32(self.count as i32));
        Launch { grid: [self.count.div_ceil(THREADS) as u32, 1, 1], block: [THREADS as u32, 1, 1], args, shared_bytes: 0 }
    }

    /// Addresses of levels, reached, frontier.
    pub(super) fn arrays(&self) -> [u64; 3] {
        let room = room(self.count as usize) as u64;
        let reached = self.state.address + 4 * room;
        [self.state.address, reached, reached + room]
    }

    /// From the frontier to its neighbours: entry `bfs`.
    pub(super) fn expand(&self) -> Launch {
        let [level, reached, frontier] = self.arrays();
        self.launch(&[level, reached, frontier, self.visited.address, self.nodes.address, self.edges.address])
    }
}
