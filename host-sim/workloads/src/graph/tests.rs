//! Readers and generators against graphs written down by hand, and properties.

use super::*;
use proptest::prelude::*;

type Read = fn(&str, &mut dyn std::io::BufRead) -> Result<EdgeList, InputFileError>;

fn read(reader: Read, text: &str) -> Result<(usize, Vec<[u32; 2]>), String> {
    reader("g", &mut text.as_bytes()).map(|list| (list.nodes, list.pairs)).map_err(|error| error.to_string())
}

fn refused(reader: Read, cases: &[(&str, &str)]) {
    for (text, message) in cases {
        assert_eq!(read(reader, text), Err((*message).to_owned()), "{text:?}");
    }
}

/// Two ways to node 3, a loop, a double edge, an edge to no node, and node 4 that nothing leads to.
#[test]
fn distances_are_those_of_shortest_ways() {
    let nodes = vec![[0, 3], [3, 1], [4, 2], [6, 1], [7, 2]];
    let graph = Graph { nodes, edges: vec![1, 2, 2, 3, 2, 3, 0, 0, 9], names: Names::From(0) };
    assert_eq!(graph.distances(0), [0, 1, 1, 2, UNREACHED]);
    assert_eq!(graph.distances(4), [1, 2, 2, 3, 0]);
    assert_eq!(graph.hub(), 0);
}

#[test]
fn rows_keep_the_lists_order() {
    let list = EdgeList { nodes: 4, pairs: vec![[2, 1], [0, 3], [2, 2], [0, 0], [2, 1]], names: Names::From(1) };
    let graph = Graph::new(list.clone());
    assert_eq!(graph.nodes, [[0, 2], [2, 0], [2, 3], [5, 0]]);
    assert_eq!(graph.edges, [3, 0, 1, 2, 1]);
    assert_eq!((graph.node(0), graph.node(1), graph.node(4), graph.node(5)), (None, Some(0), Some(3), None));
    assert_eq!((graph.range(), graph.hub()), (Some([1, 4]), 2));
    assert_eq!(list.both_ways().pairs, [[2, 1], [1, 2], [0, 3], [3, 0], [2, 2], [0, 0], [2, 1], [1, 2]]);
}

#[test]
fn dimacs_arcs_are_read() {
    let text = "c a road\n\np sp 4 5\na 1 2 7\r\na 4 4 0\nc in between\na 1 2 7\na  3\t1  -2\na 2 3 1";
    assert_eq!(read(dimacs::read, text), Ok((4, vec![[0, 1], [3, 3], [0, 1], [2, 0], [1, 2]])), "loops and double arcs are kept");
    assert_eq!(read(dimacs::read, "p sp 3 0\n"), Ok((3, vec![])));
}

#[test]
fn damaged_dimacs_files_are_refused() {
    refused(
        dimacs::read,
        &[
            ("", "g: the file is empty"),
            ("c only\n", "g: no line `p sp NODES ARCS`; use a DIMACS graph"),
            ("a 1 2 3\n", "g:1: an arc before the line `p sp NODES ARCS`; put that first"),
            ("p sp 2\n", "g:1: 3 fields, expected the 4 of `p sp NODES ARCS`"),
            ("p edge 2 1\ne 1 2\n", "g:1: problem `edge`: expected `p sp NODES ARCS`"),
            ("p sp 2 1\np sp 2 1\n", "g:2: a second `p` line; a file holds one graph"),
            ("p sp 0 0\n", "g:1: a graph of 0 nodes; a search needs a start node"),
            ("p sp -2 0\n", "g:1: number of nodes `-2`: expected a whole number, not negative"),
            ("p sp 999999999 0\n", "g:1: 999999999 nodes; a search supports at most 134217728"),
            ("p sp 2 9999999999\n", "g:1: 9999999999 edges; a search supports at most 2147483647"),
            ("p sp 2 1\na 1 2\n", "g:2: 3 fields, expected the 4 of `a FROM TO WEIGHT`"),
            ("p sp 2 1\na 1 2 x\n", "g:2: weight `x`: expected a whole number"),
            ("p sp 2 1\na 1 3 1\n", "g:2: node 3: line 1 announces 2 nodes; correct one of the two"),
            (
                "p sp 2 1\na 0 1 1\n",
                "g:2: node 0: in this format nodes are numbered from 1; add 1 to all of them, or make it an edge list (`.el`)",
            ),
            ("p sp 2 1\na 1 2 1\na 2 1 1\n", "g:3: more edges than the 1 that line 1 announces; correct one of the two"),
            ("c\np sp 2 3\na 1 2 1\n", "g:2: 3 edges announced, 1 found: correct the number, or use the complete file"),
            ("p sp 2 1\nx 1 2 1\n", "g:2: expected a line `c ...`, `p sp NODES ARCS` or `a FROM TO WEIGHT`"),
        ],
    );
}

#[test]
fn matrix_market_entries_are_read() {
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 3 3\n1 2\n3 3\n1 2\n";
    assert_eq!(read(matrix_market::read, pattern), Ok((3, vec![[0, 1], [2, 2], [0, 1]])));
    let real = "%%matrixmarket MATRIX Coordinate Real Symmetric\n3 3 2\n2 1 -1.5e3\n3 3 1\n";
    assert_eq!(read(matrix_market::read, real), Ok((3, vec![[1, 0], [0, 1], [2, 2]])), "the diagonal is there once");
    let integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 -4\n";
    assert_eq!(read(matrix_market::read, integer), Ok((2, vec![[1, 0]])));
}

#[test]
fn damaged_matrix_market_files_are_refused() {
    let banner = "g:1: expected `%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric`";
    let after = |text: &str| format!("%%MatrixMarket matrix coordinate integer general\n{text}");
    for text in ["\n", "3 3 1\n", "%%MatrixMarket matrix array real general\n", "%%MatrixMarket matrix coordinate complex general\n"] {
        refused(matrix_market::read, &[(text, banner)]);
    }
    for (text, message) in [
        ("", "g: no line `ROWS COLUMNS ENTRIES`; use the complete file"),
        ("3 3\n", "g:2: 2 fields, expected the 3 of `ROWS COLUMNS ENTRIES`"),
        ("3 4 1\n", "g:2: 3 rows and 4 columns: the matrix of a graph is square"),
        ("3 3 1\n1 2\n", "g:3: 2 fields, expected the 3 of `ROW COLUMN VALUE`"),
        ("3 3 1\n1 2 0.5\n", "g:3: value `0.5`: expected a whole number"),
        ("3 3 1\n1 4 1\n", "g:3: node 4: line 2 announces 3 nodes; correct one of the two"),
        ("3 3 1\n1 x 1\n", "g:3: node `x`: expected a whole number, not negative"),
        ("3 3 2\n1 2 1\n", "g:2: 2 edges announced, 1 found: correct the number, or use the complete file"),
        ("3 3 1\n1 2 1\n2 3 1\n", "g:4: more edges than the 1 that line 2 announces; correct one of the two"),
    ] {
        refused(matrix_market::read, &[(&after(text), message)]);
    }
}

/// Covers numbering from different starts.
#[test]
fn edge_lists_are_read() {
    let pairs = vec![[0, 1], [1, 2], [1, 2], [0, 0]];
    for first in [0u64, 1, 7_000_000_000] {
        let [a, b, c] = [first, first + 1, first + 500];
        let text = format!("# SNAP\n% KONECT\n{a} {b}\n\n{b}\t{c} 0.5\n {b} {c} # twice\n{a} {a}\n");
        assert_eq!(read(edge_list::read, &text), Ok((3, pairs.clone())));
        let graph = Graph::new(edge_list::read("g", &mut text.as_bytes()).unwrap());
        assert_eq!((graph.node(a), graph.node(c), graph.node(a + 2)), (Some(0), Some(2), None));
        assert_eq!(graph.range(), Some([a, c]));
    }
}

#[test]
fn damaged_edge_lists_are_refused() {
    refused(
        edge_list::read,
        &[
            ("", "g: the file is empty"),
            ("# nothing\n", "g: no edge; expected lines `FROM TO`"),
            ("1\n", "g:1: one field, expected `FROM TO`"),
            ("0 1\n1,2\n", "g:2: one field, expected `FROM TO`"),
            ("1 2 3 4\n", "g:1: more than 3 fields, expected `FROM TO` and optionally a weight"),
            ("1 2 x\n", "g:1: weight `x`: expected a number, or nothing after `FROM TO`"),
            ("1 -2\n", "g:1: node `-2`: expected a whole number, not negative"),
            ("1 b\n", "g:1: node `b`: expected a whole number, not negative"),
        ],
    );
}

#[test]
fn uniform_degrees_are_as_stated() {
    for (degree, most) in [(2, 2), (6, 10), (20, 38)] {
        let graph = Graph::new(uniform(20_000, degree, 3));
        assert!(graph.nodes.iter().all(|&[_, count]| (2..=most).contains(&count)));
        let mean = graph.edges.len() as f64 / 20_000.0;
        assert!((mean - f64::from(degree)).abs() < 0.02 * f64::from(degree), "{mean}");
    }
}

/// Before the permutation, the end of an edge is in the lower half of the numbers with probability
/// 0.57 + 0.19 at each level. A node whose number has k ones of L has 0.76^(L - k) 0.24^k of all
/// outgoing edges on average. Over L = 12, the L + 1 groups of nodes have binomial shares under any
/// permutation, and the all-zero node has 0.76^12.
#[test]
fn rmat_degrees_follow_the_recursion() {
    let (levels, degree) = (12, 64);
    let graph = Graph::new(rmat(1 << levels, degree, 5));
    assert_eq!(graph.edges.len(), (1 << levels) * 64);
    let mut degrees: Vec<u32> = graph.nodes.iter().map(|node| node[1]).collect();
    degrees.sort_unstable_by(|a, b| b.cmp(a));
    let total = graph.edges.len() as f64;
    let share = |ones: i32| 0.76f64.powi(levels - ones) * 0.24f64.powi(ones);
    let expected = [share(0), share(1)].map(|share| total * share);
    assert!((f64::from(degrees[0]) - expected[0]).abs() < 5.0 * expected[0].sqrt(), "{} {expected:?}", degrees[0]);
    // The next twelve have one 1 each.
    let next = f64::from(degrees[1..13].iter().sum::<u32>());
    assert!((next - 12.0 * expected[1]).abs() < 5.0 * (12.0 * expected[1]).sqrt(), "{next} {expected:?}");
    // Both ends agree in a bit with 0.57 + 0.05: an edge from the hub to itself is 0.57^12 of all.
    let hub = graph.hub();
    let [first, count] = graph.nodes[hub as usize];
    let loops = graph.edges[first as usize..][..count as usize].iter().filter(|&&to| to == hub).count() as f64;
    let expected = total * 0.57f64.powi(levels);
    assert!((loops - expected).abs() < 5.0 * expected.sqrt(), "{loops} {expected}");
}

#[test]
fn generators_depend_on_the_seed_alone() {
    assert_eq!(rmat(1 << 10, 4, 9), rmat(1 << 10, 4, 9));
    assert_ne!(rmat(1 << 10, 4, 9).pairs, rmat(1 << 10, 4, 10).pairs);
    assert_ne!(uniform(1 << 10, 4, 9).pairs, uniform(1 << 10, 4, 10).pairs);
    assert_eq!(rmat(1, 3, 0).pairs, [[0, 0]; 3]);
}

/// Computes distances by relaxing all edges until nothing changes (Bellman and Ford).
fn relaxed(nodes: usize, pairs: &[[u32; 2]], start: u32) -> Vec<i32> {
    let mut distances = vec![i64::from(i32::MAX); nodes];
    distances[start as usize] = 0;
    for _ in 0..nodes {
        for &[from, to] in pairs {
            distances[to as usize] = distances[to as usize].min(distances[from as usize] + 1);
        }
    }
    distances.iter().map(|&d| if d >= i64::from(i32::MAX) { UNREACHED } else { d as i32 }).collect()
}

/// Writes a list as a file of each format, by its rules and not with the reader.
fn written(nodes: usize, pairs: &[[u32; 2]]) -> [(Read, String); 3] {
    let lines = |form: &dyn Fn(u32, u32) -> String| pairs.iter().map(|&[from, to]| form(from, to)).collect::<String>();
    let count = pairs.len();
    let dimacs = format!("p sp {nodes} {count}\n{}", lines(&|from, to| format!("a {} {} 3\n", from + 1, to + 1)));
    let general = "%%MatrixMarket matrix coordinate pattern general";
    let market = format!("{general}\n{nodes} {nodes} {count}\n{}", lines(&|from, to| format!("{} {}\n", from + 1, to + 1)));
    [(dimacs::read, dimacs), (matrix_market::read, market), (edge_list::read, lines(&|from, to| format!("{from} {to}\n")))]
}

fn graphs() -> impl Strategy<Value = (usize, Vec<[u32; 2]>)> {
    (1u32..40).prop_flat_map(|nodes| {
        let pair = (0..nodes, 0..nodes).prop_map(|(from, to)| [from, to]);
        prop::collection::vec(pair, 1..120).prop_map(move |pairs| (nodes as usize, pairs))
    })
}

proptest! {
    #[test]
    fn distances_are_those_of_another_way_to_find_them((nodes, pairs) in graphs(), start in 0u32..40) {
        let start = start % nodes as u32;
        let expected = relaxed(nodes, &pairs, start);
        let graph = Graph::new(EdgeList { nodes, pairs, names: Names::From(0) });
        prop_assert_eq!(graph.distances(start), expected);
    }

    #[test]
    fn what_was_written_is_read((nodes, pairs) in graphs()) {
        for (reader, text) in written(nodes, &pairs) {
            let list = reader("g", &mut text.as_bytes()).unwrap();
            match &list.names {
                Names::From(first) => prop_assert_eq!((*first, list.nodes, &list.pairs), (1, nodes, &pairs)),
                Names::Listed(names) => {
                    let named: Vec<[u32; 2]> = list.pairs.iter().map(|pair| pair.map(|node| names[node as usize] as u32)).collect();
                    prop_assert_eq!(&named, &pairs);
                }
            }
        }
    }

    /// A file with a piece cut out, doubled or overwritten is read, or refused by its name.
    #[test]
    fn damaged_files_never_panic((nodes, pairs) in graphs(), at in any::<prop::sample::Index>(), length in 1usize..20, how in 0u8..4, with in "[a-z0-9 %#.\n\u{e9}-]{0,8}") {
        for (reader, text) in written(nodes, &pairs) {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            let (before, piece, after) = (&text[..at], &text[at..end], &text[end..]);
            let damaged = match how {
                0 => format!("{before}{after}"),
                1 => format!("{before}{piece}{piece}{after}"),
                2 => before.to_owned(),
                _ => format!("{before}{with}{after}"),
            };
            match reader("g", &mut damaged.as_bytes()) {
                Ok(list) => prop_assert!(list.pairs.iter().flatten().all(|&node| (node as usize) < list.nodes)),
                Err(error) => prop_assert!(error.to_string().starts_with("g:")),
            }
        }
    }
}
