//! The command line.


use std::path::PathBuf;

fn main() {
    let emit: Option<PathBuf> = std::env::args().nth(1).map(Into::into);
    let words: Vec<String> = mias_kernels::ALL.iter().map(|k| k.name.to_owned()).collect();
    print!("{}", mias_gpu::check::report(&words, emit.as_deref()).unwrap());
}
