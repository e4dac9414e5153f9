//! Every file of a package's `tests` is a module of a test program. Otherwise it would not even be
//! compiled.

use super::tree::{File, Tree};

/// Returns the number of files, and a line for each that no other file declares as its module.
pub(crate) fn check(tree: &Tree) -> (usize, Vec<String>) {
    let packages: Vec<&str> = tree.packages().collect();
    let of_tests = |file: &&File| {
        let folders = packages.iter().map(|package| if package.is_empty() { "tests/".to_owned() } else { format!("{package}/tests/") });
        file.is("rs") && folders.into_iter().any(|folder| file.path.starts_with(&folder))
    };
    let files: Vec<&File> = tree.files.iter().filter(of_tests).collect();
    let wrong = files.iter().filter(|file| !is_program(tree, file) && !is_module(tree, file));
    (files.len(), wrong.map(|file| format!("{}: no program of tests has this module", file.path)).collect())
}

/// Returns whether a manifest names the file as a program, or cargo discovers it.
fn is_program(tree: &Tree, file: &File) -> bool {
    tree.packages().any(|package| {
        let folder = if package.is_empty() { String::new() } else { format!("{package}/") };
        let Some(path) = file.path.strip_prefix(&folder) else { return false };
        let Some(manifest) = tree.files.iter().find(|file| file.path == format!("{folder}Cargo.toml")) else { return false };
        let direct = path.starts_with("tests/") && path.matches('/').count() == 1;
        manifest.text.contains(&format!("path = \"{path}\"")) || direct && !manifest.text.contains("autotests = false")
    })
}

fn is_module(tree: &Tree, file: &File) -> bool {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let (folder, name) =
        if name == "mod.rs" { folder.rsplit_once('/').unwrap_or(("", folder)) } else { (folder, name.trim_end_matches(".rs")) };
    let declared = |parent: &&File| {
        let line = format!("mod {name};");
        parent.text.lines().any(|text| text.trim_start_matches("pub(crate) ") == line)
    };
    ["main.rs", "mod.rs"]
        .iter()
        .filter_map(|parent| tree.files.iter().find(|file| file.path == format!("{folder}/{parent}")))
        .any(|parent| declared(&parent))
}

#[test]
fn a_file_without_a_program_is_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let mut tree = Tree::default();
    tree.files.push(file("a/Cargo.toml", "autotests = false\n[[test]]\npath = \"tests/main.rs\"\n"));
    tree.files.push(file("a/tests/main.rs", "mod one;\nmod two;\n"));
    tree.files.extend(["a/tests/one.rs", "a/tests/two/mod.rs"].map(|path| file(path, "pub(crate) mod three;\n")));
    tree.files.push(file("a/tests/two/three.rs", ""));
    assert_eq!(check(&tree), (4, vec![]));
    tree.files.push(file("a/tests/two/four.rs", ""));
    assert_eq!(check(&tree).1.len(), 1);
}
