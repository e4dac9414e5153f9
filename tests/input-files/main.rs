//! Input files: their schemas, and what happens when they are damaged. `cargo xtask ci` runs this package, `cargo xtask test` does not.

mod mutations;
mod schemas;
