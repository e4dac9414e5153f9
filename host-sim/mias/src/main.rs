//! Binary of the `mias` command; the library has all of its code, see [`mias::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    mias::cli::run_with(&[])
}
