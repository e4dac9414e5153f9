//! The `mias` command; everything is in the library, see [`mias::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    // A panic is a bug of ours; the default hook has printed it.
    ExitCode::from(std::panic::catch_unwind(mias::cli::main).unwrap_or(1))
}
