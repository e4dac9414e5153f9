//! The `mias` command; everything is in the library, see [`mias::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    mias::cli::run_with(&[])
}
