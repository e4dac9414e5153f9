//! The reference pages that follow from code. `cargo xtask docs` writes them through the example
//! `pages`.

mod citations;
mod command_line;
mod errors;
mod fields;
mod gpu;
mod kernel_file;
mod kernels;
mod keys;
mod markdown;
mod options;
mod plan;
mod policies;
mod quantities;
mod results;

use super::CliError;
use mias_lab::output::Output;
use std::path::Path;

/// Source of a page: the page as it should be, from the page as it is.
type Source = fn(&str) -> Result<String, String>;

/// Pages by their paths within the book's source. Each has one module.
const PAGES: [(&str, Source); 9] = [
    ("reference/command-line.md", |_| Ok(command_line::page())),
    ("reference/options.md", |_| options::page()),
    ("reference/gpu.md", |_| Ok(gpu::page())),
    ("reference/plan.md", |_| Ok(plan::page())),
    ("reference/policies.md", |_| policies::page()),
    ("reference/results.md", results::spliced),
    ("reference/kernels.md", kernels::spliced),
    ("reference/errors.md", errors::spliced),
    ("reference/kernel-file.md", kernel_file::spliced),
];

/// Writes every page that is not current into `docs`, the folder of the book's source.
///
/// # Errors
/// The page that cannot be made or written.
pub fn write_pages(docs: &Path) -> Result<(), CliError> {
    for (path, source) in PAGES {
        let file = docs.join(path);
        let before = read(&file);
        let page = source(&before).map_err(|error| CliError::Internal(format!("{path}: {error}")))?;
        if page != before {
            Output::open(Some(&file))?.write(&page)?;
            println!("wrote {}", file.display());
        }
    }
    Ok(())
}

/// Returns the page as it is, empty if there is none.
fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_pages_are_current() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let is_stale = |(path, source): &(&str, Source)| {
            let before = read(&docs.join(path));
            source(&before).unwrap_or_else(|error| panic!("{path}: {error}")) != before
        };
        let stale: Vec<&str> = PAGES.iter().filter(|page| is_stale(page)).map(|(path, _)| *path).collect();
        assert!(stale.is_empty(), "run `cargo xtask docs`: {stale:?} are not current");
    }
}
