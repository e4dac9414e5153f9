//! References in documents and comments are valid: links and anchors, cited entries of
//! `docs/sources.md`, and file names. No text names a registry by its host. The tests only read
//! text and run nothing.

mod book;
mod citations;
mod comments;
mod counters;
mod markdown;
mod modules;
mod paths;
mod prose;
mod reliability;
mod tree;

use tree::Tree;

/// Hosts of package registries and their mirrors. The toolchain alone decides the origin of
/// packages.
const REGISTRIES: [&str; 5] = ["crates.io", "debian.org", "ubuntu.com", "pypi.org", "npmjs.com"];

/// Fails with all errors, a line each.
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the text of the pages of definitions, in their order.
fn definitions(tree: &Tree) -> String {
    let pages = tree.files.iter().filter(|file| citations::is_of_definitions(&file.path));
    pages.map(|file| file.text.as_str()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let tree = Tree::read();
    assert!(tree.files.iter().filter(|file| file.is("md")).count() > 20, "the documents were not found");
    assert_none(&markdown::dead_links(&tree));
}

#[test]
fn the_entries_of_sources_are_numbered_without_a_gap() {
    let tree = Tree::read();
    assert_none(&citations::misnumbered(&definitions(&tree)));
}

#[test]
fn every_number_cited_is_an_entry() {
    let tree = Tree::read();
    let entries = citations::entries(&definitions(&tree)).len();
    let (cited, wrong) = citations::check(&tree, entries);
    assert_none(&wrong);
    assert!(cited > 100, "{cited} citations were found");
}

#[test]
fn every_path_named_exists() {
    let tree = Tree::read();
    let (named, wrong) = paths::check(&tree);
    assert_none(&wrong);
    assert!(named > 300, "{named} paths were found");
}

#[test]
fn every_file_of_tests_is_compiled() {
    let (files, wrong) = modules::check(&Tree::read());
    assert_none(&wrong);
    assert!(files > 100, "{files} files of tests were found");
}

#[test]
fn no_registry_is_named_by_its_host() {
    let tree = Tree::read();
    let mut wrong = Vec::new();
    for file in &tree.files {
        let all = file.is("toml").then(|| prose::all(file));
        for line in all.unwrap_or_else(|| prose::lines(file)) {
            let hosts = REGISTRIES.iter().filter(|host| line.text.contains(*host));
            wrong.extend(hosts.map(|host| format!("{}:{}: names `{host}`", file.path, line.number)));
        }
    }
    assert_none(&wrong);
}

/// Returns the text between two texts in a file of the root.
fn between(file: &str, from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect(file);
    let rest = text.split_once(from).unwrap_or_else(|| panic!("{file} has no `{from}`")).1;
    rest.split_once(to).expect("an end").0.to_owned()
}

#[test]
fn citation_and_container_have_the_versions_of_the_workspace() {
    assert_eq!(between("CITATION.cff", "\nversion: ", "\n"), between("Cargo.toml", "[workspace.package]\nversion = \"", "\""));
    assert_eq!(between("Containerfile", "FROM rust:", "-"), between("rust-toolchain.toml", "channel = \"", "\""));
}
