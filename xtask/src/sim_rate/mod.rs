//! `cargo xtask sim-rate`: speed of the timing model on the synthetic reference traces, and host
//! instructions per simulated warp instruction. The second number hardly varies on a busy host, so
//! it shows regressions. The last number is the speedup of two threads, which is meaningful only on
//! two idle cores.
//!
//! The runs are those of `benches/sim_rate.rs --once`. Instructions are counted by callgrind over a
//! run that loads and simulates, minus a run that only loads. A second table has whole processes
//! ([`process`]).

mod process;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::util::{cargo, command, stdout};

/// Traces with the warp instructions per second of the reference simulator on a 2-core machine
/// (sources.md D98).
const TRACES: [(&str, f64); 3] = [("comp", 138e3), ("shm", 49e3), ("mem", 25e3)];
/// Number of timed runs, of which the fastest counts.
const RUNS: &str = "5";

/// Builds the benchmark, runs it plainly and under callgrind, and prints a line per trace.
pub(crate) fn run() -> Result<()> {
    let benchmark = build()?;
    let callgrind = command("valgrind", ["--version"]).output().is_ok_and(|output| output.status.success());
    if !callgrind {
        eprintln!("valgrind is not installed, so instructions are not counted (Debian, Ubuntu: apt-get install valgrind)");
    }
    println!("{:<6} {:>12} {:>12} {:>15} {:>16} {:>11}", "trace", "warp insts", "M/s", "x reference", "insts/warp inst", "2 threads");
    for (trace, reference) in TRACES {
        let printed = stdout(&mut command(&benchmark, ["--once", trace, RUNS]))?;
        let (warp_insts, seconds) = parse(&printed).with_context(|| format!("unexpected output: {printed}"))?;
        let rate = warp_insts / seconds;
        let instructions = if callgrind {
            let simulating = instructions(&benchmark, trace, "1")?.checked_sub(instructions(&benchmark, trace, "0")?);
            let simulating = simulating.ok_or_else(|| anyhow!("{trace}: loading took more instructions than the whole run"))?;
            format!("{:.0}", simulating as f64 / warp_insts)
        } else {
            "-".to_owned()
        };
        let printed = stdout(&mut command(&benchmark, ["--once", trace, RUNS, "2"]))?;
        let (_, together) = parse(&printed).with_context(|| format!("unexpected output: {printed}"))?;
        let times = format!("x {:.2}", seconds / together);
        println!("{trace:<6} {warp_insts:>12} {:>12.2} {:>15.0} {instructions:>16} {times:>11}", rate / 1e6, rate / reference);
    }
    process::run()
}

/// Builds the benchmark and returns its executable.
fn build() -> Result<PathBuf> {
    let arguments = ["bench", "--bench", "sim_rate", "--no-run", "--message-format=json-render-diagnostics"];
    executable(&stdout(&mut cargo(arguments))?).context("cargo names no executable of benches/sim_rate")
}

/// Returns the executable of the benchmark from cargo's messages, one JSON object per line.
fn executable(messages: &str) -> Option<PathBuf> {
    let message = messages.lines().find(|line| line.contains(r#""name":"sim_rate""#) && line.contains(r#""executable":""#))?;
    let (_, rest) = message.split_once(r#""executable":""#)?;
    Some(rest.split_once('"')?.0.replace(r"\\", r"\").into())
}

/// Parses `warp_insts seconds`, the output of the benchmark.
fn parse(printed: &str) -> Option<(f64, f64)> {
    let (warp_insts, seconds) = printed.trim().split_once(' ')?;
    Some((warp_insts.parse().ok()?, seconds.parse().ok()?))
}

/// Returns the instructions of loading and `runs` simulations.
fn instructions(benchmark: &Path, trace: &str, runs: &str) -> Result<u64> {
    let out = tempfile::NamedTempFile::new()?;
    let file = format!("--callgrind-out-file={}", out.path().display());
    let words = ["--quiet", "--tool=callgrind", &file].map(OsStr::new);
    let words = words.into_iter().chain([benchmark.as_os_str()]).chain(["--once", trace, runs].map(OsStr::new));
    stdout(&mut command("valgrind", words))?;
    let profile = std::fs::read_to_string(&out).with_context(|| format!("callgrind wrote no profile of {trace}"))?;
    match totals(&profile) {
        Some(count) => Ok(count),
        None => bail!("callgrind's profile of {trace} has no total"),
    }
}

/// Returns the `totals:` line of a callgrind profile.
fn totals(profile: &str) -> Option<u64> {
    let line = profile.lines().find_map(|line| line.strip_prefix("totals:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_outputs_are_understood() {
        assert_eq!(totals("version: 1\nevents: Ir\nfn=(1)\n3 5\ntotals: 123456\n"), Some(123_456));
        assert_eq!(totals("version: 1\n"), None);
        assert_eq!(parse("2628480 1.5\n"), Some((2_628_480.0, 1.5)));
        assert_eq!(parse("usage\n"), None);
    }

    #[test]
    fn the_executable_is_the_benchmarks() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"mias\"},\"executable\":null}\n\
            {\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[\"bench\"],\"name\":\"sim_rate\"},\"executable\":\"/t/sim_rate-1\"}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("/t/sim_rate-1")));
        assert_eq!(executable("{}\n"), None);
    }
}
