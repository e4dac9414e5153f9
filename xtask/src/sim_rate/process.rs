//! Time of the whole process that replays a trace, as a user sees it, with and without the cache,
//! and its part for loading.

use super::TRACES;
use crate::util::{cargo, command, root, stdout, target_dir};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Number of timed processes of each kind, of which the fastest counts.
const RUNS: usize = 5;

/// Fields parsed from a report.
#[derive(Deserialize)]
struct Report {
    launches: Vec<Launch>,
    seconds: Seconds,
}

#[derive(Deserialize)]
struct Launch {
    warp_insts: u64,
}

#[derive(Deserialize)]
struct Seconds {
    load: f64,
    simulate: f64,
}

/// Times of one process.
struct Timed {
    warp_insts: u64,
    seconds: Seconds,
    whole: f64,
}

/// Prints a line per trace and kind of process.
pub(super) fn run() -> Result<()> {
    stdout(&mut cargo(["build", "--release", "--package", "mias"]))?;
    let program = target_dir().join("release/mias");
    let cache = tempfile::tempdir().context("no folder for the cache")?;
    println!("\n{:<6} {:<12} {:>8} {:>10} {:>9} {:>15}", "trace", "", "load s", "simulate s", "process s", "x reference");
    for (trace, reference) in TRACES {
        let list = root().join("tests/data/reference").join(trace).join("kernelslist.g");
        // With the cache, the first process parses the text; the others find the cached trace.
        for (kind, option, cold) in [("--no-cache", Some("--no-cache"), 0), ("from cache", None, 1)] {
            let timed = (0..RUNS + cold).map(|_| once(&program, &list, cache.path(), option)).collect::<Result<Vec<_>>>()?;
            let Some(Timed { warp_insts, seconds, whole }) = timed.into_iter().skip(cold).min_by(|a, b| a.whole.total_cmp(&b.whole)) else {
                continue;
            };
            let Seconds { load, simulate } = seconds;
            let faster = warp_insts as f64 / whole / reference;
            println!("{trace:<6} {kind:<12} {load:>8.3} {simulate:>10.3} {whole:>9.3} {faster:>15.0}");
        }
    }
    Ok(())
}

fn once(program: &Path, list: &Path, cache: &Path, option: Option<&str>) -> Result<Timed> {
    let mut replay: Command = command(program, ["run", "--gpu", "rtx2060-accelsim", "--format", "json", "--timing", "--trace"]);
    replay.arg(list).args(option).env("MIAS_CACHE", cache);
    let begin = Instant::now();
    let printed = stdout(&mut replay)?;
    let whole = begin.elapsed().as_secs_f64();
    parse(&printed, whole).with_context(|| format!("unexpected report of {}", list.display()))
}

fn parse(printed: &str, whole: f64) -> Result<Timed> {
    let Report { launches, seconds } = serde_json::from_str(printed)?;
    Ok(Timed { warp_insts: launches.iter().map(|launch| launch.warp_insts).sum(), seconds, whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_understood() {
        let text = r#"{"launches": [{"warp_insts": 3, "cycles": 9}, {"warp_insts": 4}], "seconds": {"load": 0.25, "simulate": 0.5}}"#;
        let Timed { warp_insts, seconds: Seconds { load, simulate }, whole } = parse(text, 1.0).unwrap();
        assert_eq!((warp_insts, load, simulate, whole), (7, 0.25, 0.5, 1.0));
        assert!(parse(r#"{"launches": []}"#, 1.0).is_err());
    }
}
