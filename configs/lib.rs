//! GPU files that come with `mias`, as text.
//!
//! Each GPU is a TOML file in `gpus/`. Every number there has its source or the word "assumption",
//! directly or in the file that it inherits from. Use this crate for the built-in GPUs;
//! `GpuConfig` of `mias-hw-model` is their parsed form.
//!
//! ```rust
//! let text = mias_gpus::text("rtx2060").expect("a GPU that comes with mias");
//! assert!(text.contains("name = \"rtx2060\""));
//! ```

pub mod inherit;
mod text;

use inherit::{File, Inherited};
use std::sync::LazyLock;

/// Names and texts of `gpus/NAME.toml`.
macro_rules! gpus {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("gpus/", $name, ".toml")))),*] };
}

/// Name and original file of every GPU, in display order.
pub const FILES: &[(&str, &str)] = gpus![
    "rtx2060",
    "rtx2060-accelsim",
    "rtx2060-fetch",
    "rtx2060-hw",
    "rtx2060-lines",
    "rtx3070-accelsim",
    "rtx3070-fetch",
    "a100",
    "h100",
    "dai18",
    "dai18-lines",
    "lin18",
    "lin18-lines",
    "shieh16",
    "shieh16-lines",
    "zhao18",
    "zhao18-lines",
    "p100",
    "field",
];

/// Texts of [`FILES`] joined with their bases.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| FILES.iter().map(|(name, _)| joined(name)).collect());

/// Returns the original file of the GPU called `name`.
#[must_use]
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the complete file of the GPU called `name`, joined with its bases.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    all().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// Returns the name and [`text`] of every GPU, in display order.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().zip(TEXTS.iter()).map(|((name, _), text)| (*name, text.as_str()))
}

fn joined(name: &str) -> String {
    let next = |name: &String| inherit::base(file(name)?)?.0;
    // Each file has one base, so a longer chain than the number of files is a cycle.
    let chain = std::iter::successors(Some(name.to_owned()), next).take(FILES.len());
    let files: Vec<File> = chain.filter_map(|name| Some(File { text: file(&name)?.to_owned(), name })).collect();
    Inherited::of(&files).map(|gpu| gpu.text()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file is in the list under its own name.
    #[test]
    fn the_list_is_the_folder() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/gpus")).unwrap();
        let mut files: Vec<String> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        let mut listed: Vec<String> = FILES.iter().map(|(name, _)| format!("{name}.toml")).collect();
        files.sort();
        listed.sort();
        assert_eq!(files, listed);
        for (name, text) in FILES {
            let inside = format!("name = {name:?}");
            assert_eq!(text.lines().find(|line| line.starts_with("name")), Some(inside.as_str()));
        }
    }

    #[test]
    fn gpus_are_found_by_name() {
        assert!(text("rtx2060").is_some_and(|text| text.contains("[sm]")));
        assert_eq!(text("rtx2061"), None);
    }
}
