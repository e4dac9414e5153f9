//! What the tests of files that are built in share: machines (`configs/gpus/`) and plans (`plans/`).

use std::fs;
use std::path::Path;

/// Every TOML file of `folder`, a path from the repository's root, is built in under its name, and has that name inside.
pub(crate) fn assert_complete(folder: &str, mut known: Vec<&'static str>, name_inside: impl Fn(&str) -> String) {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)).unwrap();
    let mut files: Vec<String> = entries.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    known.sort_unstable();
    assert_eq!(files, known);
    for name in known {
        assert_eq!(name_inside(name), name);
    }
}
