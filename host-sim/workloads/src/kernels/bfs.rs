//! `bfs`: one level of a breadth-first search (`kernels/rodinia/bfs/bfs.cu`; Nasef 2023, section 4.1.2, Rodinia `bfs`), on a graph from a file or
//! a generator.
//!
//! The co-scheduled kernel is the launch for the level with the most nodes; its tests run whole searches.

mod device;
#[cfg(test)]
mod tests;

use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType, Setting};
use crate::graph::{self, Graph, MAX_EDGES, MAX_NODES};
use crate::input::suggest;
use device::{Device, reached, unpack, widest};

/// Edges per node of the uniform graph in the mean: those of Rodinia's generator (sources.md D85).
const UNIFORM_DEGREE: u32 = 6;

/// Edges per node of the R-MAT graph, before the opposite directions are added: Graph500's edge factor (specification 2.0, section 3).
const RMAT_DEGREE: u32 = 16;

/// Most edges per node asked of a generator (assumption: denser graphs have other uses).
const MAX_DEGREE: u32 = 1 << 16;

/// A graph of `size` nodes, or a file's.
#[derive(Debug)]
pub(super) struct Bfs;

impl Kernel for Bfs {
    fn name(&self) -> &'static str {
        "bfs"
    }

    fn description(&self) -> &'static str {
        "breadth-first search, the widest level, on a random graph or one from a file"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Memory
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/rodinia/bfs/bfs.ptx",
            ptx: include_str!("../../../../kernels/rodinia/bfs/bfs.ptx"),
            report_file: "kernels/rodinia/bfs/bfs.ptxas.txt",
            report: include_str!("../../../../kernels/rodinia/bfs/bfs.ptxas.txt"),
        }
    }

    /// 4,096 TBs; the size of the graph that Rodinia calls 1M.
    fn default_size(&self) -> u64 {
        1 << 20
    }

    fn size_unit(&self) -> &'static str {
        "nodes"
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting {
                key: "graph",
                description: "`uniform` (default), `rmat`, or a file: .gr (DIMACS), .mtx (Matrix-Market), .txt or .el (edge list)",
            },
            Setting {
                key: "degree",
                description: "edges per node of a random graph: for uniform the mean, 6 by default; for rmat before the opposite directions are added, 16",
            },
            Setting {
                key: "edges",
                description: "`directed`: as the graph has them, or `both`: each with its opposite; rmat has both by default",
            },
            Setting {
                key: "source",
                description: "the node where the search starts, as the graph numbers it; by default 0 in uniform, else the node with the most edges",
            },
        ]
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let graph = graph(input)?;
        let source = source(input, &graph)?;
        let levels = graph.distances(source);
        let level = widest(&levels);
        let device = Device::new(&graph, &levels, level);
        let launch = device.expand();
        let (memory, state, count) = (device.memory, device.state, levels.len());
        let expected = Expected {
            results: Box::new(move |memory| unpack(memory.words(state), count)),
            reference: Box::new(move || unpack(reached(&levels, level).into_iter(), count)),
            agrees: Box::new(Expected::equal),
            quality: None,
        };
        Ok(Instance { memory, entry: "bfs".into(), launch, expected: Some(expected) })
    }
}

fn wrong(setting: &'static str, value: impl ToString, message: impl ToString) -> KernelError {
    KernelError::Setting { kernel: Bfs.name(), setting, value: value.to_string(), message: message.to_string() }
}

/// Where the graph comes from.
enum Origin<'a> {
    Uniform,
    Rmat,
    File(&'a str),
}

/// The graph that the settings ask for.
fn graph(input: &Input) -> Result<Graph, KernelError> {
    let origin = match input.get("graph") {
        None | Some("uniform") => Origin::Uniform,
        Some("rmat") => Origin::Rmat,
        // A word that is neither a generator nor looks like a file is a slip.
        Some(word) if !word.contains(['.', '/']) => {
            return Err(wrong("graph", word, suggest::unknown("generator", word, &["uniform", "rmat"]) + ", or a file"));
        }
        Some(file) => Origin::File(file),
    };
    let both = match input.get("edges") {
        None => matches!(origin, Origin::Rmat),
        Some("directed") => false,
        Some("both") => true,
        Some(word) => return Err(wrong("edges", word, "expected `directed` or `both`")),
    };
    let list = match origin {
        Origin::File(file) => {
            if let Some(size) = input.size {
                return Err(wrong("size", size, format!("the graph of {file} has its own; leave the size out")));
            }
            if let Some(degree) = input.get("degree") {
                return Err(wrong("degree", degree, format!("the graph of {file} has its own edges; leave the degree out")));
            }
            graph::load(file)?
        }
        Origin::Uniform => {
            let (size, degree) = generated(input, UNIFORM_DEGREE, 2, |size, degree| size * (2 * degree - 2), both)?;
            graph::uniform(size, degree, input.seed)
        }
        Origin::Rmat => {
            let (size, degree) = generated(input, RMAT_DEGREE, 1, |size, degree| size * degree, both)?;
            if !size.is_power_of_two() {
                return Err(KernelError::Size {
                    kernel: Bfs.name(),
                    size: size.into(),
                    message: "an R-MAT graph has a power of two of nodes",
                });
            }
            graph::rmat(size, degree, input.seed)
        }
    };
    let list = if both { list.both_ways() } else { list };
    if list.pairs.len() as u64 > MAX_EDGES {
        return Err(wrong(
            "edges",
            "both",
            format!("{} edges, both directions counted; at most {MAX_EDGES} can be searched", list.pairs.len()),
        ));
    }
    Ok(Graph::new(list))
}

/// Size and degree of a random graph, which may have as many edges as `edges` says of them.
fn generated(input: &Input, degree: u32, fewest: u32, edges: fn(u64, u64) -> u64, both: bool) -> Result<(u32, u32), KernelError> {
    let size = input.size.unwrap_or(Bfs.default_size());
    if !(1..=MAX_NODES).contains(&size) {
        return Err(KernelError::Size { kernel: Bfs.name(), size, message: "must be from 1 to 134217728" });
    }
    let range = fewest..=MAX_DEGREE;
    let degree = match input.get("degree") {
        None => degree,
        Some(word) => match word.parse() {
            Ok(degree) if range.contains(&degree) => degree,
            _ => return Err(wrong("degree", word, format!("must be from {fewest} to {MAX_DEGREE}"))),
        },
    };
    let count = edges(size, degree.into()) * if both { 2 } else { 1 };
    if count > MAX_EDGES {
        return Err(wrong("degree", degree, format!("{size} nodes may have {count} edges then; at most {MAX_EDGES} can be searched")));
    }
    Ok((size as u32, degree))
}

/// Where the search starts.
fn source(input: &Input, graph: &Graph) -> Result<u32, KernelError> {
    match input.get("source") {
        None if matches!(input.get("graph"), None | Some("uniform")) => Ok(0),
        None => Ok(graph.hub()),
        Some(word) => word.parse().ok().and_then(|name| graph.node(name)).ok_or_else(|| {
            let [least, greatest] = graph.range().unwrap_or_default();
            wrong("source", word, format!("no such node; the graph's are numbered from {least} to {greatest}"))
        }),
    }
}
