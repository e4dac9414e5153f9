//! `cargo xtask docs`: writes the generated pages of the book, and the register map for debuggers
//! and for C.
//!
//! The pages on registers and works are written here. The example `pages` of the package `mias`
//! writes those that follow from the simulator, since this program does not link it.

mod registers;
mod works;

use anyhow::Result;

use crate::header;
use crate::svd;
use crate::util::{cargo, run as run_command, write_file};

/// Function that returns the text of a page.
type Source = fn() -> Result<String>;

/// Pages that are written here, relative to the root.
const PAGES: [(&str, Source); 2] = [("docs/reference/registers.md", || Ok(registers::page())), ("docs/sources/works.md", works::page)];

/// Writes the pages, the register map for debuggers, and the one for C.
pub(crate) fn run() -> Result<()> {
    for (file, page) in PAGES {
        write_file(file, page()?)?;
    }
    svd::write()?;
    header::write()?;
    run_command(&mut cargo(["run", "--quiet", "--package", "mias", "--example", "pages", "--", "docs"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::root;

    #[test]
    fn the_generated_pages_are_current() {
        for (file, page) in PAGES {
            let written = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(written == page().unwrap(), "{file} is not current; write it with `cargo xtask docs`");
        }
    }
}
