//! What documents and comments say of each other and of the tree is so: links and anchors lead somewhere, numbers cited are entries of
//! `docs/sources.md`, files named are there, and no registry is named by its host. Text alone is read; nothing is run.

mod citations;
mod markdown;
mod modules;
mod paths;
mod prose;
mod reliability;
mod tree;

use tree::{File, Tree};

/// Hosts of package registries and of their mirrors: where packages come from is for the toolchain to know.
const REGISTRIES: [&str; 5] = ["crates.io", "debian.org", "ubuntu.com", "pypi.org", "npmjs.com"];

/// Fails with everything that is wrong, a line each.
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn sources(tree: &Tree) -> &File {
    tree.files.iter().find(|file| file.path == "docs/sources.md").expect("docs/sources.md")
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
    assert_none(&citations::misnumbered(&sources(&tree).text));
}

#[test]
fn every_number_cited_is_an_entry() {
    let tree = Tree::read();
    let entries = citations::entries(&sources(&tree).text).len();
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

/// What stands between two texts in a file of the root.
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
