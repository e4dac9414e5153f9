//! `cargo xtask schema`: writes the JSON Schemas of the TOML files that users write, from the
//! output of `mias schema`. A test of `mias` fails if they are not current.

use anyhow::Result;

use crate::util::{cargo, stdout, write_file};

/// Folder of the schemas, relative to the root.
const FOLDER: &str = "docs/generated";

/// Kinds of files by their names in the command.
const KINDS: [&str; 3] = ["gpu", "plan", "kernel"];

/// Writes one file per kind.
pub(crate) fn run() -> Result<()> {
    for kind in KINDS {
        let schema = stdout(&mut cargo(["run", "--quiet", "--package", "mias", "--", "schema", kind]))?;
        write_file(file(kind), schema)?;
    }
    Ok(())
}

fn file(kind: &str) -> String {
    format!("{FOLDER}/{kind}.schema.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::root;

    #[test]
    fn the_files_are_those_of_the_folder() {
        let mut expected = KINDS.map(file).to_vec();
        let folder = std::fs::read_dir(root().join(FOLDER)).unwrap();
        let found = folder.map(|file| format!("{FOLDER}/{}", file.unwrap().file_name().to_string_lossy()));
        let mut found: Vec<String> = found.filter(|file| file.ends_with(".schema.json")).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }
}
