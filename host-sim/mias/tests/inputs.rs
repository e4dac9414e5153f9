//! Kernels with input files, through the command line: an error in a file is a user error with one
//! message.

use crate::support::{json, refused};

/// Creates a file in a folder of its own, and a kernel's word that names it.
fn word(kernel: &str, name: &str, contents: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, contents).expect("the file");
    let word = format!("{kernel}={}", path.to_str().expect("UTF-8"));
    (folder, word)
}

#[test]
fn damaged_files_are_refused() {
    for (kernel, name, contents, message) in [
        ("bfs:graph", "g.gr", &b"p sp 2 1\na 1 3 1\n"[..], "g.gr:2: node 3: line 1 announces 2 nodes; correct one of the two"),
        ("bfs:graph", "g.mtx", b"", "g.mtx: the file is empty"),
        ("bfs:graph", "g.el", b"1 2\n3\n", "g.el:2: one field, expected `FROM TO`"),
        ("bfs:graph", "g.el", b"\x1f\x8b\x08\xff", "g.el:1: not text; unpack a compressed file first"),
        ("bfs:source=9,graph", "g.el", b"1 2\n", "source `9`: no such node; nodes are numbered from 1 to 2"),
        ("bfs:degree=3,grahp", "g.el", b"1 2\n", "unknown setting `grahp`; did you mean `graph`?"),
        ("dxtc:image", "i.png", b"\x89PNG\r\n\x1a\n", "i.png: damaged PNG: "),
        ("dxtc:image", "i.png", b"P6 9 9 255\n", "i.png: 0 bytes of pixels, 9 x 9 take 243; use the complete file"),
        ("dxtc:size=5,image", "i.ppm", b"P3 1 1 255 1 2 3", "has 1 x 1 pixels; use at most its shorter side"),
    ] {
        let (_folder, word) = word(kernel, name, contents);
        refused(&["run", &word, "--until", "done"], &[message]);
        refused(&["compare", "mm:64", &word], &[message]);
    }
    refused(&["run", "bfs:graph=/"], &["the name does not end as that of a graph file"]);
    refused(&["run", "dxtc:image=/"], &["/: "]);
}

/// A star of 300 nodes: one launch for its 299 leaves, two TBs, which are on the frontier and have
/// no successors.
#[test]
fn a_graph_of_a_file_runs() {
    let edges: String = (1..300).map(|leaf| format!("0 {leaf}\n")).collect();
    let (_folder, word) = word("bfs:graph", "star.txt", edges.as_bytes());
    let report = json(&["run", &word, "--until", "done", "--policy", "left-over"]);
    assert_eq!((&report["launches"][0]["tbs_issued"], &report["launches"][0]["kernel"]), (&2.into(), &word.as_str().into()));
}
