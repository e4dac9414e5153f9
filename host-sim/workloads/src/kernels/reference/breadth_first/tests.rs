//! The reference, the settings of graphs, and whole searches on the device.

use super::state::{THREADS, room};
use super::*;
use crate::graph::{self, EdgeList, Graph, Names};
use crate::kernels::{Input, Instance, KernelError, Prepared, Spec, find};
use mias_ptx::lower::record::execute;
use mias_ptx::{Arg, Buffer, DeviceMemory, Launch, Program};

/// A search on the device.
struct Device {
    memory: DeviceMemory,
    /// Arrays of levels, reached flags and frontier flags.
    state: Buffer,
    visited: Buffer,
    nodes: Buffer,
    edges: Buffer,
    count: usize,
}

impl Device {
    /// Creates a search with everything up to `level` done.
    fn new(graph: &Graph, levels: &[i32], level: i32) -> Self {
        let mut memory = DeviceMemory::new();
        Device {
            state: memory.allocate(before(levels, level)),
            visited: memory.allocate(visited(levels, level)),
            nodes: memory.allocate(graph.nodes.as_flattened().iter().copied()),
            edges: memory.allocate(graph.edges.iter().copied()),
            memory,
            count: levels.len(),
        }
    }

    fn launch(&self, args: &[u64]) -> Launch {
        let mut args: Vec<Arg> = args.iter().map(|&address| Arg::U64(address)).collect();
        args.push(Arg::I32(self.count as i32));
        Launch {
            grid: [self.count.div_ceil(THREADS) as u32, 1, 1],
            block: [THREADS as u32, 1, 1],
            args,
            shared_bytes: 0,
            ..Launch::default()
        }
    }

    /// Returns the addresses of levels, reached, frontier.
    fn arrays(&self) -> [u64; 3] {
        let room = room(self.count) as u64;
        let reached = self.state.address + 4 * room;
        [self.state.address, reached, reached + room]
    }

    /// Returns the launch from the frontier to its neighbors: entry `bfs`.
    fn expand(&self) -> Launch {
        let [level, reached, frontier] = self.arrays();
        self.launch(&[level, reached, frontier, self.visited.address, self.nodes.address, self.edges.address])
    }
}

/// Searches level by level on the device, until `more` stays zero.
fn search(graph: &Graph, source: u32) {
    let files = mias_kernels::find("bfs").unwrap();
    let [expand, advance] = ["bfs", "bfs_next"].map(|entry| Program::parse(files.ptx_file, files.ptx, entry).unwrap());
    let count = graph.nodes.len();
    let levels = graph.distances(source);
    let mut device = Device::new(graph, &levels, 0);
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
    assert_eq!(unpack(device.memory.words(device.state), count), unpack(after(&levels, count as i32).into_iter(), count));
}

#[test]
fn the_widest_level_has_the_most_nodes() {
    assert_eq!(widest(&[0, 1, 1, 2, -1, -1, -1]), 1);
    assert_eq!(widest(&[1, 2, 2, 3, 0]), 2);
    assert_eq!(widest(&[2, 1, 0, 1, 2]), 1, "the first of several");
    assert_eq!(widest(&[0, -1]), 0);
}

/// The number of nodes need not fill whole TBs.
#[test]
fn whole_searches_are_the_hosts() {
    for (count, seed) in [(256, 1), (1, 1), (255, 2), (257, 3), (1000, 4), (4099, 5)] {
        let graph = Graph::new(graph::uniform(count, 6, seed));
        search(&graph, 0);
        search(&graph, count / 2);
    }
    let list = graph::rmat(1 << 11, 16, 7);
    for graph in [Graph::new(list.clone()), Graph::new(list.both_ways())] {
        search(&graph, graph.hub());
    }
}

/// A chain has as many levels as nodes, a star two, and nodes without an edge are not reached.
#[test]
fn searches_of_extreme_graphs_are_the_hosts() {
    let graph = |nodes: usize, pairs: Vec<[u32; 2]>| Graph::new(EdgeList { nodes, pairs, names: Names::From(0) });
    let chain = graph(300, (1..300).map(|to| [to - 1, to]).collect());
    assert_eq!(chain.distances(0), (0..300).collect::<Vec<i32>>());
    search(&chain, 0);
    search(&chain, 299);
    let star = graph(1000, (0..990).map(|to| [500, to]).collect());
    search(&star, 500);
    search(&star, 999);
    // Loops and double edges.
    search(&graph(3, vec![[0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [2, 2]]), 0);
}

/// Returns the level and the reached nodes of the one launch.
fn launched(input: &Input) -> (Instance, usize) {
    let prepared = prepared(input).unwrap();
    let (program, instance) = (prepared.program, prepared.instance);
    let tbs = instance.launch.grid[0] as usize;
    execute(&program, &instance.launch, &instance.memory).unwrap();
    instance.check_results("bfs").unwrap();
    (instance, tbs)
}

fn prepared(input: &Input) -> Result<Prepared, KernelError> {
    Spec { kernel: find("bfs").unwrap(), input: input.clone() }.prepare()
}

#[test]
fn graphs_come_from_generators_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // The same triangle with a tail, 1-2-3-1 and 3-4, in three formats.
    let gr = file("t.gr", "c\np sp 4 4\na 1 2 1\na 2 3 1\na 3 1 1\na 3 4 9\n");
    let mtx = file("t.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n3 2\n3 1\n4 3\n");
    let el = file("t.txt", "# tail\n10 20\n20 30\n30 10\n30 40\n");
    let with = |graph: &str, settings: &[(&str, &str)]| {
        settings.iter().fold(Input::default().with("graph", graph), |input, (key, value)| input.with(key, value))
    };
    for (input, expected) in [
        // From node 3, the hub, to 1 and 4, and from 1 to 2: the widest level is 1.
        (with(&gr, &[]), [1, 2, 0, 1]),
        (with(&el, &[]), [1, 2, 0, 1]),
        // The widest level is the last: 1 and 2, two steps from 4.
        (with(&gr, &[("edges", "both"), ("source", "4")]), [2, 2, 1, 0]),
        (with(&mtx, &[("source", "4")]), [2, 2, 1, 0]),
        (with(&el, &[("edges", "both"), ("source", "40")]), [2, 2, 1, 0]),
    ] {
        let (instance, tbs) = launched(&input);
        let results = (instance.expected.as_ref().unwrap().results)(&instance.memory);
        assert_eq!(tbs, 1);
        let known: Vec<i32> = results[..4].iter().map(|&level| level as i32).collect();
        assert_eq!(known, expected, "{input:?}");
    }
    for input in [
        Input::sized(1 << 10, 3).with("graph", "rmat"),
        Input::sized(100, 3).with("degree", "3"),
        Input::sized(300, 3).with("edges", "both"),
    ] {
        launched(&input);
    }
}

#[test]
fn impossible_settings_are_named() {
    let sized = |size| Input::sized(size, 1);
    for (input, message) in [
        (
            sized(8).with("graph", "rmta"),
            "kernel `bfs`: graph `rmta`: unknown generator `rmta`; did you mean `rmat`? known: uniform, rmat, or a file",
        ),
        (sized(9).with("graph", "rmat"), "kernel `bfs`: size 9: the number of nodes of an R-MAT graph is a power of two"),
        (sized(8).with("graph", "x.gr"), "kernel `bfs`: size `8`: the graph of x.gr has a fixed size; leave the size out"),
        (
            Input::default().with("graph", "x.gr").with("degree", "3"),
            "kernel `bfs`: degree `3`: the graph of x.gr has fixed edges; leave the degree out",
        ),
        (Input::default().with("graph", "no/x.gr"), "no/x.gr: No such file or directory (os error 2)"),
        (
            Input::default().with("graph", "x.gz"),
            "x.gz: the name does not end as that of a graph file: expected `.gr` (DIMACS), `.mtx` (Matrix-Market), `.txt` or `.el` (edge list), unpacked",
        ),
        (sized(8).with("degree", "1"), "kernel `bfs`: degree `1`: must be from 2 to 65536"),
        (sized(8).with("degree", "x"), "kernel `bfs`: degree `x`: must be from 2 to 65536"),
        (
            sized(1 << 27).with("degree", "99"),
            "kernel `bfs`: degree `99`: 134217728 nodes may have 26306674688 edges; a search supports at most 2147483647",
        ),
        (sized(8).with("edges", "all"), "kernel `bfs`: edges `all`: expected `directed` or `both`"),
        (sized(8).with("source", "8"), "kernel `bfs`: source `8`: no such node; nodes are numbered from 0 to 7"),
        (sized(8).with("source", "-1"), "kernel `bfs`: source `-1`: no such node; nodes are numbered from 0 to 7"),
    ] {
        assert_eq!(prepared(&input).unwrap_err().to_string(), message);
    }
}
