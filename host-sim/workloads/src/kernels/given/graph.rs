//! Graphs given to kernels: the settings `graph`, `degree`, `edges` and `source`.
//!
//! `size` is the number of nodes. A graph from a file has its own size.

use super::InputRequest;
use crate::graph::{self, EdgeList, Graph, MAX_EDGES, MAX_NODES};
use crate::input::suggest;
use crate::kernels::expression::Scope;
use crate::kernels::{KernelError, Setting};

/// Mean number of edges per node of the uniform graph: that of Rodinia's generator (sources.md
/// D85).
const UNIFORM_DEGREE: u32 = 6;

/// Edges per node of the R-MAT graph, before the reverse directions are added: Graph500's edge
/// factor (specification 2.0, section 3).
const RMAT_DEGREE: u32 = 16;

/// Maximum number of edges per node from a generator (assumption: denser graphs have other uses).
const MAX_DEGREE: u32 = 1 << 16;

/// Parts for buffers: first edge and number of edges of each node; first edge of each node and the
/// total; target nodes of the edges.
pub(super) const PARTS: &[&str] = &["rows", "offsets", "targets"];

/// Generators of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::kernels) enum Generator {
    /// Few edges per node, to random nodes.
    Uniform,
    /// R-MAT, with the probabilities of Graph500.
    Rmat,
}

/// Names of the generators in the setting `graph`.
const GENERATORS: [(&str, Generator); 2] = [("uniform", Generator::Uniform), ("rmat", Generator::Rmat)];

/// Source of a graph.
enum Origin<'a> {
    Made(Generator),
    File(&'a str),
}

/// Returns whether a word names a generator instead of a file.
pub(super) fn is_generator(word: &str) -> bool {
    GENERATORS.iter().any(|(known, _)| *known == word)
}

/// Returns the settings of a kernel that takes a graph.
pub(super) fn settings(default: Generator) -> Vec<Setting> {
    let words = GENERATORS.map(|(word, generator)| format!("`{word}`{}", if generator == default { " (default)" } else { "" }));
    let graph = format!("{}, or a file: .gr (DIMACS), .mtx (Matrix-Market), .txt or .el (edge list)", words.join(", "));
    vec![
        Setting::file("graph", &graph),
        Setting::word(
            "degree",
            "edges per node of a random graph: the mean for uniform, 6 by default; for rmat before adding opposite directions, 16",
        ),
        Setting::word("edges", "`directed`: edges as in the graph, or `both`: each with its opposite; rmat has both by default"),
        Setting::word(
            "source",
            "start node of the search, numbered as in the graph; by default 0 in uniform, else the node with the most edges",
        ),
    ]
}

/// Reads or generates the graph that the settings request, and defines its names.
pub(super) fn read(asked: &InputRequest<'_>, default: Generator, scope: &mut Scope) -> Result<Graph, KernelError> {
    let origin = match asked.input.get("graph") {
        None => Origin::Made(default),
        Some(word) => match GENERATORS.iter().find(|(known, _)| *known == word) {
            Some((_, generator)) => Origin::Made(*generator),
            // A word that is neither a generator nor a likely path is a typing error.
            None if !word.contains(['.', '/']) => {
                let known = suggest::unknown("generator", word, &GENERATORS.map(|(known, _)| known));
                return Err(asked.wrong("graph", word, known + ", or a file"));
            }
            None => Origin::File(word),
        },
    };
    let both = match asked.input.get("edges") {
        None => matches!(origin, Origin::Made(Generator::Rmat)),
        Some("directed") => false,
        Some("both") => true,
        Some(word) => return Err(asked.wrong("edges", word, "expected `directed` or `both`")),
    };
    let list = match origin {
        Origin::File(file) => of_file(asked, file)?,
        Origin::Made(generator) => made(asked, generator, both, scope)?,
    };
    let list = if both { list.both_ways() } else { list };
    if list.pairs.len() as u64 > MAX_EDGES {
        let message = format!("{} edges, both directions counted; a search supports at most {MAX_EDGES}", list.pairs.len());
        return Err(asked.wrong("edges", "both", message));
    }
    let graph = Graph::new(list);
    let source = source(asked, &graph, matches!(origin, Origin::Made(Generator::Uniform)))?;
    for (name, value) in [("size", graph.nodes.len()), ("edges", graph.edges.len()), ("source", source as usize)] {
        scope.set(name, value as i64);
    }
    Ok(graph)
}

fn of_file(asked: &InputRequest<'_>, file: &str) -> Result<EdgeList, KernelError> {
    if let Some(size) = asked.input.size {
        return Err(asked.wrong("size", size, format!("the graph of {file} has a fixed size; leave the size out")));
    }
    if let Some(degree) = asked.input.get("degree") {
        return Err(asked.wrong("degree", degree, format!("the graph of {file} has fixed edges; leave the degree out")));
    }
    Ok(graph::load(file)?)
}

/// Generates a random graph within the maximum number of edges.
fn made(asked: &InputRequest<'_>, generator: Generator, both: bool, scope: &Scope) -> Result<EdgeList, KernelError> {
    let nodes = asked.size(scope)?.unwrap_or(0);
    let wrong_size = |message: String| asked.wrong_size(nodes, message);
    let size = u32::try_from(nodes).ok().filter(|&size| (1..=MAX_NODES).contains(&u64::from(size)));
    let size = size.ok_or_else(|| wrong_size(format!("a random graph has 1 to {MAX_NODES} nodes")))?;
    let (default, fewest) = match generator {
        Generator::Uniform => (UNIFORM_DEGREE, 2),
        Generator::Rmat => (RMAT_DEGREE, 1),
    };
    let degree = match asked.input.get("degree") {
        None => default,
        Some(word) => match word.parse() {
            Ok(degree) if (fewest..=MAX_DEGREE).contains(&degree) => degree,
            _ => return Err(asked.wrong("degree", word, format!("must be from {fewest} to {MAX_DEGREE}"))),
        },
    };
    let per_node = match generator {
        Generator::Uniform => 2 * u64::from(degree) - 2,
        Generator::Rmat => degree.into(),
    };
    let count = u64::from(size) * per_node * if both { 2 } else { 1 };
    if count > MAX_EDGES {
        let message = format!("{size} nodes may have {count} edges; a search supports at most {MAX_EDGES}");
        return Err(asked.wrong("degree", degree, message));
    }
    match generator {
        Generator::Uniform => Ok(graph::uniform(size, degree, asked.input.seed)),
        Generator::Rmat if size.is_power_of_two() => Ok(graph::rmat(size, degree, asked.input.seed)),
        Generator::Rmat => Err(wrong_size("the number of nodes of an R-MAT graph is a power of two".into())),
    }
}

/// Returns the start node of a search.
fn source(asked: &InputRequest<'_>, graph: &Graph, uniform: bool) -> Result<u32, KernelError> {
    match asked.input.get("source") {
        None if uniform => Ok(0),
        None => Ok(graph.hub()),
        Some(word) => word.parse().ok().and_then(|name| graph.node(name)).ok_or_else(|| {
            let [least, greatest] = graph.range().unwrap_or_default();
            asked.wrong("source", word, format!("no such node; nodes are numbered from {least} to {greatest}"))
        }),
    }
}

/// Returns the words of one of [`PARTS`].
pub(super) fn words(graph: &Graph, part: &str) -> Option<Vec<u32>> {
    Some(match part {
        "rows" => graph.nodes.as_flattened().to_vec(),
        "offsets" => graph.nodes.iter().map(|&[first, _]| first).chain([graph.edges.len() as u32]).collect(),
        "targets" => graph.edges.clone(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The edges of node i are those from offset i to offset i + 1 (exclusive), which equal
        /// those of its row.
        #[test]
        fn offsets_and_rows_say_the_same(nodes in 1u32..300, degree in 2u32..9, seed in any::<u64>()) {
            let graph = Graph::new(graph::uniform(nodes, degree, seed));
            let [rows, offsets, targets] = ["rows", "offsets", "targets"].map(|part| words(&graph, part).unwrap());
            prop_assert_eq!((rows.len(), offsets.len()), (2 * nodes as usize, nodes as usize + 1));
            prop_assert_eq!(targets.len() as u32, offsets[nodes as usize]);
            for node in 0..nodes as usize {
                prop_assert_eq!([rows[2 * node], rows[2 * node] + rows[2 * node + 1]], [offsets[node], offsets[node + 1]]);
            }
            prop_assert_eq!(words(&graph, "weights"), None);
        }
    }
}
