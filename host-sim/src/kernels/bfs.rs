//! `bfs`: one level of a breadth-first search on a random graph (`kernels/bfs/bfs.cu`; seed 000 section 4.1.2, Rodinia `bfs`).
//!
//! The co-scheduled kernel is the launch for the level with the most nodes; its tests run whole searches.

use super::random::Random;
use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType};
use crate::ptx::{Arg, Buffer, DeviceMemory, Launch};

/// Threads per TB.
const THREADS: u64 = 256;

/// Most nodes: edges, at most [`MOST_EDGES`] per node, are numbered below 2^31.
const MAX_NODES: u64 = 1 << 27;

/// Edges that leave a node: uniform with a mean of 6, that of Rodinia's generator (algorithms.md 7.1).
const FEWEST_EDGES: i32 = 2;
const MOST_EDGES: i32 = 10;

/// The level of a node that is not reached.
const UNREACHED: i32 = -1;

/// A graph of `size` nodes.
#[derive(Debug)]
pub(super) struct Bfs;

impl Kernel for Bfs {
    fn name(&self) -> &'static str {
        "bfs"
    }

    fn description(&self) -> &'static str {
        "breadth-first search, the widest level on a uniform random graph"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Memory
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/bfs/bfs.ptx",
            ptx: include_str!("../../../kernels/bfs/bfs.ptx"),
            report_file: "kernels/bfs/bfs.ptxas.txt",
            report: include_str!("../../../kernels/bfs/bfs.ptxas.txt"),
        }
    }

    /// 4,096 TBs; the size of the graph that Rodinia calls 1M.
    fn default_size(&self) -> u64 {
        1 << 20
    }

    fn size_unit(&self) -> &'static str {
        "nodes, a multiple of 256"
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let (size, seed) = (input.size.unwrap_or(self.default_size()), input.seed);
        if size == 0 || !size.is_multiple_of(THREADS) || size > MAX_NODES {
            return Err(KernelError::Size { kernel: self.name(), size, message: "must be a multiple of 256, from 256 to 134217728" });
        }
        let graph = Graph::uniform(size as usize, seed);
        let levels = graph.levels(0);
        let level = widest(&levels);
        let device = Device::new(&graph, &levels, level);
        let launch = device.expand();
        let (memory, state) = (device.memory, device.state);
        let expected = Expected {
            results: Box::new(move |memory| unpack(memory.words(state), size as usize)),
            reference: Box::new(move || unpack(reached(&levels, level).into_iter(), levels.len())),
            agrees: Expected::equal,
        };
        Ok(Instance { memory, entry: "bfs".into(), launch, expected: Some(expected) })
    }
}

/// Who leads where.
#[derive(Debug)]
struct Graph {
    /// First edge and number of edges.
    nodes: Vec<[u32; 2]>,
    /// The nodes that edges lead to.
    edges: Vec<u32>,
}

impl Graph {
    /// Every node has [`FEWEST_EDGES`] to [`MOST_EDGES`] edges to any nodes, itself included, several times included.
    fn uniform(count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (mut nodes, mut edges) = (Vec::with_capacity(count), Vec::new());
        for _ in 0..count {
            let degree = random.integer(FEWEST_EDGES, MOST_EDGES);
            nodes.push([edges.len() as u32, degree as u32]);
            edges.extend((0..degree).map(|_| random.integer(0, count as i32 - 1) as u32));
        }
        Graph { nodes, edges }
    }

    /// Edges from `start` to each node on a shortest way, or [`UNREACHED`]: with a queue, node by node.
    fn levels(&self, start: u32) -> Vec<i32> {
        let mut levels = vec![UNREACHED; self.nodes.len()];
        levels[start as usize] = 0;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            let [first, count] = self.nodes[node as usize];
            for &to in &self.edges[first as usize..][..count as usize] {
                // An edge to no node is skipped.
                if levels.get(to as usize) == Some(&UNREACHED) {
                    levels[to as usize] = levels[node as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        levels
    }
}

/// The level with the most nodes, the first of several.
fn widest(levels: &[i32]) -> i32 {
    let deepest = levels.iter().copied().max().unwrap_or(0);
    let mut counts = vec![0u64; deepest as usize + 1];
    levels.iter().filter(|&&level| level != UNREACHED).for_each(|&level| counts[level as usize] += 1);
    (0..=deepest).rev().max_by_key(|&level| counts[level as usize]).unwrap_or(0)
}

/// The kernels' arrays of one word and two bytes per node, as words: levels up to `known`, who was reached just now, who is
/// on the frontier.
fn state(levels: &[i32], known: i32, reached: impl Fn(i32) -> bool, frontier: impl Fn(i32) -> bool) -> Vec<u32> {
    let level = |&level: &i32| if level <= known { level as u32 } else { UNREACHED as u32 };
    let mut words: Vec<u32> = levels.iter().map(level).collect();
    words.extend(flags(levels, reached));
    words.extend(flags(levels, frontier));
    words
}

/// One byte per node, 1 where `is` holds of its level.
fn flags(levels: &[i32], is: impl Fn(i32) -> bool) -> Vec<u32> {
    let word = |four: &[i32]| u32::from_le_bytes(std::array::from_fn(|i| u8::from(is(four[i]))));
    levels.chunks_exact(4).map(word).collect()
}

/// What the launch for `level` leaves behind: the next level reached, the frontier taken away.
fn reached(levels: &[i32], level: i32) -> Vec<u32> {
    state(levels, level + 1, |l| l == level + 1, |_| false)
}

/// Levels, then the flags, one number each.
fn unpack(words: impl Iterator<Item = u32>, count: usize) -> Vec<f32> {
    let words: Vec<u32> = words.collect();
    let (levels, flags) = words.split_at(count);
    let flags = flags.iter().flat_map(|word| word.to_le_bytes()).map(f32::from);
    levels.iter().map(|&level| level as i32 as f32).chain(flags).collect()
}

/// A search on the device.
struct Device {
    memory: DeviceMemory,
    /// Levels, reached, frontier.
    state: Buffer,
    visited: Buffer,
    nodes: Buffer,
    edges: Buffer,
    count: u64,
}

impl Device {
    /// With everything up to `level` done.
    fn new(graph: &Graph, levels: &[i32], level: i32) -> Self {
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

    fn launch(&self, args: &[u64]) -> Launch {
        let mut args: Vec<Arg> = args.iter().map(|&address| Arg::U64(address)).collect();
        args.push(Arg::I32(self.count as i32));
        Launch { grid: [self.count.div_ceil(THREADS) as u32, 1, 1], block: [THREADS as u32, 1, 1], args, shared_bytes: 0 }
    }

    /// Addresses of levels, reached, frontier.
    fn arrays(&self) -> [u64; 3] {
        let reached = self.state.address + 4 * self.count;
        [self.state.address, reached, reached + self.count]
    }

    /// From the frontier to its neighbours: entry `bfs`.
    fn expand(&self) -> Launch {
        let [level, reached, frontier] = self.arrays();
        self.launch(&[level, reached, frontier, self.visited.address, self.nodes.address, self.edges.address])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Program;
    use crate::ptx::lower::record::execute;

    /// Two ways to node 3, a loop, a double edge, an edge to no node, and node 4 that nothing leads to.
    #[test]
    fn the_reference_finds_shortest_ways() {
        let graph = Graph { nodes: vec![[0, 3], [3, 1], [4, 2], [6, 1], [7, 2]], edges: vec![1, 2, 2, 3, 2, 3, 0, 0, 9] };
        assert_eq!(graph.levels(0), [0, 1, 1, 2, -1]);
        assert_eq!(graph.levels(4), [1, 2, 2, 3, 0]);
        assert_eq!((widest(&graph.levels(0)), widest(&graph.levels(4))), (1, 2));
    }

    #[test]
    fn degrees_are_as_stated() {
        let graph = Graph::uniform(20_000, 3);
        let mut next = 0;
        for &[first, degree] in &graph.nodes {
            assert_eq!(first, next);
            assert!((2..=10).contains(&degree));
            next += degree;
        }
        assert_eq!(next as usize, graph.edges.len());
        assert!((graph.edges.len() as f64 / 20_000.0 - 6.0).abs() < 0.1);
    }

    /// Level by level on the device, until `more` stays zero: the host's levels, with two edges to no node.
    #[test]
    fn a_whole_search_is_the_hosts() {
        let compiled = Bfs.compiled();
        let [expand, advance] = ["bfs", "bfs_next"].map(|entry| Program::parse(compiled.ptx_file, compiled.ptx, entry).unwrap());
        for (count, seed) in [(256, 1), (2048, 2), (4096, 3)] {
            let mut graph = Graph::uniform(count, seed);
            graph.edges[0] = u32::MAX;
            graph.edges[1] = count as u32;
            let levels = graph.levels(0);
            let mut device = Device::new(&graph, &levels, 0);
            for level in 0.. {
                execute(&expand, &device.expand(), &device.memory).unwrap();
                let more = device.memory.allocate([0]);
                let [_, reached, frontier] = device.arrays();
                execute(&advance, &device.launch(&[reached, frontier, device.visited.address, more.address]), &device.memory).unwrap();
                if device.memory.words(more).next() == Some(0) {
                    assert_eq!(level, levels.iter().copied().max().unwrap());
                    break;
                }
            }
            assert_eq!(unpack(device.memory.words(device.state), count), unpack(reached(&levels, count as i32).into_iter(), count));
        }
    }
}
