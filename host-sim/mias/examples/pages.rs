//! Writes the generated reference pages into a folder, `docs` if none is given. `cargo xtask docs`
//! runs it.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let docs = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("docs"), PathBuf::from);
    match mias::cli::write_pages(&docs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
