//! `cargo xtask pictures`: the pictures in `docs/pictures`. A test compares the diagrams with the
//! committed files.

mod canvas;
mod counter_path;
mod crates;
mod overlap;
mod pipeline;
mod results;
mod state_machine;
mod work_done;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::util::write_file;
use canvas::Canvas;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also draw figures of the results in docs/results/data; compiles `mias`
    #[arg(long)]
    results: bool,
    /// Also draw the README's picture from a report of `mias evaluate quick` [default:
    /// results-quick/report.html]
    #[arg(long, value_name = "REPORT", num_args = 0..=1, default_missing_value = "results-quick/report.html")]
    work_done: Option<PathBuf>,
}

/// Writes the diagrams, and the pictures asked for.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut overlaps = Vec::new();
    for (file, canvas) in diagrams()? {
        overlaps.extend(overlap::overlaps(&canvas).iter().map(|overlap| format!("{file}: {overlap}")));
        write_file(format!("docs/pictures/{file}"), canvas.svg())?;
    }
    ensure!(overlaps.is_empty(), "overlaps:\n{}", overlaps.join("\n"));
    if args.results {
        results::write()?;
    }
    args.work_done.as_deref().map_or(Ok(()), work_done::write)
}

/// Returns each diagram with the name of its file.
fn diagrams() -> Result<[(&'static str, Canvas); 4]> {
    Ok([
        ("counter-path.svg", counter_path::draw()),
        ("crates.svg", crates::draw()?),
        ("pipeline.svg", pipeline::draw()?),
        ("state-machine.svg", state_machine::draw()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::root;

    #[test]
    fn the_committed_diagrams_are_current() {
        for (file, canvas) in diagrams().unwrap() {
            let committed = std::fs::read_to_string(root().join("docs/pictures").join(file)).unwrap_or_default();
            assert!(committed == canvas.svg(), "docs/pictures/{file} is not current: run `cargo xtask pictures`");
        }
    }

    #[test]
    fn no_text_and_no_line_of_a_diagram_overlaps_another() {
        for (file, canvas) in diagrams().unwrap() {
            assert_eq!(overlap::overlaps(&canvas), Vec::<String>::new(), "{file}");
        }
    }

    #[test]
    fn every_element_of_a_diagram_ends() {
        for (file, canvas) in diagrams().unwrap() {
            let svg = canvas.svg();
            let mut open = Vec::new();
            for tag in svg.split('<').skip(1).filter(|tag| !tag.starts_with('!')) {
                let (tag, _) = tag.split_once('>').unwrap();
                let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
                if tag.starts_with('/') {
                    assert_eq!(open.pop(), Some(name), "{file}");
                } else if !tag.ends_with('/') {
                    open.push(name);
                }
            }
            assert!(open.is_empty() && svg.contains("<title ") && svg.contains("<desc "), "{file}: {open:?}");
        }
    }
}
