//! Prints the tables of `docs/results/kernels.md`; `cargo xtask characterise` runs it and writes
//! the document.

fn main() -> std::process::ExitCode {
    match mias_report::characterisation::markdown() {
        Ok(text) => {
            print!("{text}");
            std::process::ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}
