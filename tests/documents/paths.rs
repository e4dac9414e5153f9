//! Files and folders that prose names exist: from the root, from the folder of the naming file or
//! one above it, or from a package's `src`. A comment refers to its own package, a document to any.

use super::prose::lines;
use super::tree::{File, Tree, joined};

/// Endings of file names in the tree; others may belong to a user.
const ENDS: [&str; 6] = ["rs", "md", "toml", "cu", "ptx", "svd"];

/// Returns the number of named paths, and a line for each that does not exist.
pub(crate) fn check(tree: &Tree) -> (usize, Vec<String>) {
    let (mut named, mut wrong) = (0, Vec::new());
    for file in &tree.files {
        let places = places(tree, file);
        for line in lines(file) {
            for path in words(line.text).filter(|word| is_path(word) || is_below_root(tree, word)) {
                named += 1;
                if !exists(tree, &places, path.trim_end_matches('.')) {
                    wrong.push(format!("{}:{}: {path}", file.path, line.number));
                }
            }
        }
    }
    (named, wrong)
}

/// Splits a text at spaces, quotation marks, brackets and similar marks.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "`'\"()[]{},;:|".contains(c))
}

/// Returns whether a word looks like a path of this tree: a folder with a slash inside, a file with
/// a slash and a known ending, or a source's or document's name. Placeholders (`NAME`, `<name>`,
/// `*`) and network addresses do not count.
fn is_path(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    if is_stand_in(word) {
        return false;
    }
    let end = word.rsplit_once('.').map_or("", |(_, end)| end);
    let slash_inside = word.trim_end_matches('/').contains('/');
    let bare = ["rs", "md"].contains(&end) && !word.starts_with('.');
    bare || slash_inside && (ENDS.contains(&end) || word.ends_with('/'))
}

/// Returns whether part of a word is a placeholder, or the word is no path at all.
fn is_stand_in(word: &str) -> bool {
    let capitals = |part: &str| part.len() > 1 && part.split('.').next().is_some_and(|stem| stem.chars().all(|c| c.is_ascii_uppercase()));
    let strange = word.contains(['<', '>', '*', '$', '=', '\\', '#', '&', '%']) || word.contains("...") || word.starts_with("//");
    strange || word.split('/').any(capitals) && !word.ends_with(".md")
}

/// Returns whether a word starts with a folder of the root.
fn is_below_root(tree: &Tree, word: &str) -> bool {
    word.split_once('/').is_some_and(|(folder, rest)| tree.paths.contains(folder) && !rest.is_empty()) && !is_stand_in(word)
}

/// Returns the folders from which paths of this file may start.
fn places(tree: &Tree, file: &File) -> Vec<String> {
    let above = |folder: &str| -> Vec<String> {
        let parts: Vec<&str> = folder.split('/').collect();
        (0..=parts.len()).map(|count| parts[..count].join("/")).collect()
    };
    let mut places = above(file.folder());
    let own = |package: &&str| file.is("md") || places.iter().any(|place| place == package);
    let packages: Vec<&str> = tree.packages().filter(own).collect();
    places.extend(packages.iter().flat_map(|package| [(*package).to_owned(), format!("{package}/src")]));
    places
}

fn exists(tree: &Tree, places: &[String], path: &str) -> bool {
    let by_name = !path.contains('/') && tree.paths.iter().any(|known| known.rsplit('/').next() == Some(path));
    by_name || places.iter().filter_map(|place| joined(place, path)).any(|path| tree.paths.contains(&path))
}

#[test]
fn paths_are_told_from_other_words() {
    for path in ["docs/sources.md", "sm/operands/", "mod.rs", "host-sim/src/hash.rs.", "../README.md"] {
        assert!(is_path(path), "{path}");
    }
    for other in ["target/", "my.toml", ".cu", "kernels/<name>/<name>.cu", "ptx/NAME.ptx", "runs/KEY.json", "L1/L2", "//example.org/a.md"] {
        assert!(!is_path(other), "{other}");
    }
}
