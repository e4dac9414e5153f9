//! Files of the working tree: all paths, and the text of documents, sources and TOML files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Endings of the files that are read.
const READ: [&str; 5] = ["md", "rs", "toml", "cu", "svd"];

/// A file with its text.
pub(crate) struct File {
    /// Path from the root, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// Returns whether the file's name has this extension.
    pub(crate) fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|end| end == extension)
    }

    /// Returns the file's folder, from the root; empty for the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Files and paths of the tree.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// Paths of all files and folders, from the root.
    pub(crate) paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the repository with this package at its root. It leaves out files that cargo created
    /// or git ignores.
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let ignored = fs::read_to_string(root.join(".gitignore")).expect(".gitignore");
        let ignored: Vec<&str> = ignored.lines().filter_map(|line| line.strip_prefix('/')).chain([".git"]).collect();
        let mut tree = Tree::default();
        tree.walk(root, "", &ignored);
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        tree
    }

    fn walk(&mut self, folder: &Path, name: &str, ignored: &[&str]) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let file_name = entry.file_name().into_string().expect("a name in UTF-8");
            let path = if name.is_empty() { file_name } else { format!("{name}/{file_name}") };
            let kind = entry.file_type().expect("its type");
            if kind.is_dir() && !ignored.contains(&path.as_str()) && !entry.path().join("CACHEDIR.TAG").exists() {
                self.paths.insert(path.clone());
                self.walk(&entry.path(), &path, ignored);
            } else if kind.is_file() {
                self.paths.insert(path.clone());
                self.take(&entry.path(), path);
            }
        }
    }

    fn take(&mut self, file: &Path, path: String) {
        if file.extension().is_some_and(|end| READ.iter().any(|read| end == *read)) {
            let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"));
            self.files.push(File { path, text });
        }
    }

    /// Returns the folders of packages.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|file| file.path.ends_with("Cargo.toml")).map(File::folder)
    }
}

/// Joins `path` to `folder`, without `.` and `..`; none if it leaves the tree.
pub(crate) fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[test]
fn paths_are_joined() {
    assert_eq!(joined("docs", "../README.md").as_deref(), Some("README.md"));
    assert_eq!(joined("", "./a//b/").as_deref(), Some("a/b"));
    assert_eq!(joined("docs", "../../secret"), None);
}
