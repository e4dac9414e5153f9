//! Input files: their schemas, and the behavior on damaged files. `cargo xtask ci` runs this
//! package, `cargo xtask test` does not.

mod mutations;
mod schemas;
