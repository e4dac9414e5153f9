//! Prints the comparison with the reference numbers as Markdown; `cargo xtask validate` runs it and writes the document.
//!
//! `validate own FOLDER` for the project's own traces, `validate by-path TRACES [REFERENCE.csv]` for others.

use mias_lab::validation::{ByPath, Suite, by_path_markdown, own_markdown};
use std::path::Path;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        ["own", folder] => Suite::run(Path::new(folder)).map(|suite| own_markdown(&suite)),
        ["by-path", traces] => ByPath::run(Path::new(traces), None).map(|traces| by_path_markdown(&traces)),
        ["by-path", traces, reference] => {
            ByPath::run(Path::new(traces), Some(Path::new(reference))).map(|traces| by_path_markdown(&traces))
        }
        _ => Err("expected `own FOLDER` or `by-path TRACES [REFERENCE.csv]`".to_owned()),
    };
    match text {
        Ok(text) => {
            print!("{text}");
            std::process::ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            std::process::ExitCode::from(2)
        }
    }
}
