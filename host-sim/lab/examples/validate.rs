//! Prints the comparison with the reference numbers as Markdown. `cargo xtask validate` runs it and
//! writes the document.
//!
//! `validate own FOLDER` for the project's own traces, `validate coruns FOLDER MACHINE` for its
//! co-runs on another machine, `validate by-path TRACES [REFERENCE.csv [MACHINE]]` for others.

use mias_lab::validation::{ByPath, GPU, Suite, by_path_markdown, coruns, coruns_markdown, own_markdown};
use std::path::Path;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        ["own", folder] => Suite::run(Path::new(folder)).map(|suite| own_markdown(&suite)),
        ["coruns", folder, gpu] => coruns(Path::new(folder), gpu).map(|coruns| coruns_markdown(&coruns)),
        ["by-path", traces] => by_path(traces, None, GPU),
        ["by-path", traces, reference] => by_path(traces, Some(reference), GPU),
        ["by-path", traces, reference, gpu] => by_path(traces, Some(reference), gpu),
        _ => Err("expected `own FOLDER`, `coruns FOLDER MACHINE` or `by-path TRACES [REFERENCE.csv [MACHINE]]`".to_owned()),
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

fn by_path(traces: &str, reference: Option<&str>, gpu: &str) -> Result<String, String> {
    ByPath::run(Path::new(traces), reference.map(Path::new), gpu).map(|traces| by_path_markdown(&traces))
}
