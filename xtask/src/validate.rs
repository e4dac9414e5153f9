//! `cargo xtask validate`: the model beside the reference numbers. The comparison is `mias_lab::validation`, run in release through
//! its example; here its tables are printed and put into `docs/validation.md`.

use std::path::{Path, PathBuf, absolute};

use anyhow::Result;

use crate::util::{cargo, root, stdout, write_file};

/// Where the project's own traces and their reference numbers are, relative to the root.
const OWN: &str = "tests/data/reference";
/// Traces that `mias trace export` wrote, and the reference's numbers on them, relative to the root.
const EXPORTS: [&str; 2] = ["tests/data/reference/exports", "tests/data/reference/exports/exports.csv"];
/// What is written, relative to the root.
const DOCUMENT: &str = "docs/validation.md";
/// Around the tables of traces given by path, on each machine, so that a run without them keeps them.
const BY_PATH: Markers = Markers { begin: "<!-- traces given by path: begin -->\n", end: "<!-- traces given by path: end -->\n" };
const RTX3070: Markers = Markers { begin: "<!-- rtx3070 given by path: begin -->\n", end: "<!-- rtx3070 given by path: end -->\n" };
const LINES: Markers = Markers { begin: "<!-- lines given by path: begin -->\n", end: "<!-- lines given by path: end -->\n" };
/// The reference's machines with what it does in every cycle.
const WITH_FETCH: &str = "rtx2060-fetch";
const SECOND_WITH_FETCH: &str = "rtx3070-fetch";
/// The reference's machine with whole-line caches.
const WHOLE_LINES: &str = "rtx2060-lines";
/// The second machine of the reference.
const SECOND_MACHINE: &str = "rtx3070-accelsim";
/// What stands between the two before any were given.
const NONE_YET: &str = "None were given yet.\n";

/// What to compare beside the project's own traces.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare every DIR/*/kernelslist.g too
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// The numbers for --traces [default: DIR/../accelsim.csv]
    #[arg(long, value_name = "CSV", requires = "traces")]
    reference: Option<PathBuf>,
    /// The reference's numbers for --traces on its RTX 3070; compared too
    #[arg(long, value_name = "CSV", requires = "traces")]
    rtx3070: Option<PathBuf>,
    /// The reference's numbers for --traces with whole-line caches; compared too
    #[arg(long, value_name = "CSV", requires = "traces")]
    lines: Option<PathBuf>,
}

/// Compares, prints, and writes the document; what is out of bounds is said in it, and is for `tests/validation.rs` to fail on.
pub(crate) fn run(args: &Args) -> Result<()> {
    let own = example(&["own".into(), OWN.into()])?;
    let exports = example(&["by-path".into(), EXPORTS[0].into(), EXPORTS[1].into()])?;
    let own_numbers = format!("{OWN}/accelsim.csv");
    let mut fetch = example(&["by-path".into(), OWN.into(), own_numbers.into(), WITH_FETCH.into()])?;
    fetch += "\n";
    fetch += &example(&["by-path".into(), EXPORTS[0].into(), EXPORTS[1].into(), WITH_FETCH.into()])?;
    fetch += "\nCo-runs:\n\n";
    fetch += &example(&["coruns".into(), OWN.into(), WITH_FETCH.into()])?;
    fetch += "\nOn `rtx3070-fetch`:\n\n";
    fetch += &example(&["by-path".into(), OWN.into(), format!("{OWN}/rtx3070.csv").into(), SECOND_WITH_FETCH.into()])?;
    print!("{own}\n## Exported traces\n\n{exports}\n## Instruction fetch\n\n{fetch}");
    let before = std::fs::read_to_string(root().join(DOCUMENT)).unwrap_or_default();
    let by_path = match &args.traces {
        Some(traces) => {
            let mut words = vec!["by-path".into(), absolute(traces)?];
            let numbers = args.reference.clone().unwrap_or_else(|| traces.join("../accelsim.csv"));
            words.push(absolute(&numbers)?);
            let accelsim = shown("Traces given by path", &words)?;
            words.push(WITH_FETCH.into());
            format!("{accelsim}\n{EVERY_CYCLE}\n{}", shown("On rtx2060-fetch", &words)?)
        }
        None => BY_PATH.kept(&before),
    };
    let mut rtx3070 = on_machine(args, "On the RTX 3070", &args.rtx3070, SECOND_MACHINE, &RTX3070.kept(&before))?;
    if args.rtx3070.is_some() {
        rtx3070 += &format!("\n{EVERY_CYCLE}\n");
        rtx3070 += &on_machine(args, "On rtx3070-fetch", &args.rtx3070, SECOND_WITH_FETCH, "")?;
    }
    let lines = on_machine(args, "Whole-line caches", &args.lines, WHOLE_LINES, &LINES.kept(&before))?;
    write_file(DOCUMENT, document(&own, &exports, &fetch, &by_path, &rtx3070, &lines))
}

/// What the example prints for the traces on another machine of which there are `numbers`; what was kept if there are none.
fn on_machine(args: &Args, heading: &str, numbers: &Option<PathBuf>, machine: &str, kept: &str) -> Result<String> {
    match (&args.traces, numbers) {
        (Some(traces), Some(numbers)) => shown(heading, &["by-path".into(), absolute(traces)?, absolute(numbers)?, machine.into()]),
        _ => Ok(kept.to_owned()),
    }
}

/// What the example prints for these words, printed under a heading too.
fn shown(heading: &str, words: &[PathBuf]) -> Result<String> {
    let text = example(words)?;
    print!("\n## {heading}\n\n{text}");
    Ok(text)
}

/// What the example prints for these words.
fn example(words: &[PathBuf]) -> Result<String> {
    let arguments = ["run", "--quiet", "--release", "--package", "mias-lab", "--example", "validate", "--"].map(Path::new);
    stdout(cargo(arguments).args(words))
}

/// Two lines around a part of the document.
struct Markers {
    begin: &'static str,
    end: &'static str,
}

impl Markers {
    /// The part of an earlier document.
    fn kept(&self, document: &str) -> String {
        let after = document.split_once(self.begin).map(|(_, rest)| rest);
        after.and_then(|rest| rest.split_once(self.end)).map_or(NONE_YET, |(part, _)| part).to_owned()
    }

    fn around(&self, part: &str) -> String {
        format!("{}{part}{}", self.begin, self.end)
    }
}

fn document(own: &str, exports: &str, fetch: &str, by_path: &str, rtx3070: &str, lines: &str) -> String {
    let (by_path, rtx3070, lines) = (BY_PATH.around(by_path), RTX3070.around(rtx3070), LINES.around(lines));
    let own = format!("{INTRODUCTION}\n{own}\n{EXPORTED}\n{exports}\n{FETCH_HEAD}\n{fetch}");
    format!("{own}\n{BY_PATH_HEAD}\n{by_path}\n{RTX3070_HEAD}\n{rtx3070}\n{LINES_HEAD}\n{lines}\n{HOW_TO}")
}

const INTRODUCTION: &str = "# Validation

The timing model beside the reference numbers: cycles and memory traffic of Accel-Sim (October 2024, trace-driven) on the same
traces, on the machine that `configs/gpus/rtx2060-accelsim.toml` describes. The reference is a simulator too, itself some
15 to 25 % off real chips: agreement says that the same mechanisms are modelled, not that a chip would take as long.
How far the model is from a chip is on a page of its own, for an H100 of which much is assumed: [hardware.md](hardware.md).

`cargo xtask validate` writes this file. `tests/validation.rs` holds the project's own traces, in `tests/data/reference/`, to
the bounds given here, and fails when the numbers below are not today's. Cycles include the 5,000 of launch latency; errors
are also given without them. All runs are under the Left-over policy, the first-come order of the reference.
";

const EXPORTED: &str = "## Exported traces

Kernels of this project as `mias trace export` wrote them (2026-11; the kernel `mm` has changed since), run by the reference on the same
machine: matrix products of 96 to 192 columns, which are 36, 100, 121 and 144 TBs on SMs with room for 120, a Walsh transform, and a level of a breadth-first
search. They are short and start on cold caches, so that a few hundred cycles count. Scheduler GTO. `tests/validation.rs` holds them to bounds of
their own, launch latency included: `bfs`, `mm_160`, `mm_176` and `mm_192` 3 %, `mm_96` 4 %, `fwt` 5 %; reservation fails 25 %, or 5 per 1,000
accesses. `mm_96` and `fwt` are further off because sub-cores, results and packets take turns otherwise: [below](#in-every-cycle) they are met to the cycle.
";

const FETCH_HEAD: &str = "## In every cycle

The same traces on `rtx2060-fetch`, which is `rtx2060-accelsim` with what the reference does in every cycle beside it: its instruction buffers ([D122](sources.md#d122)), its turns of
sub-cores ([D172](sources.md#d172)), its result buses ([D173](sources.md#d173)), and the crossbar as it was when the numbers were made ([D65](sources.md#d65)). Exported traces take the
reference's cycles, and every count is its own, but for `bfs`: it ends 2 cycles early, and why is not known. `tests/validation.rs` demands that, 1 % of cycles of `comp`, `mem` and `shm`, and 2 % of co-runs' ends and of cycles on `rtx3070-fetch`.
";

/// Over the second table of a machine.
const EVERY_CYCLE: &str = "With what the reference does in every cycle ([above](#in-every-cycle)):
";

const BY_PATH_HEAD: &str = "## Traces given by path

Kernels that are not ours to copy; their traces are given by path, and only numbers are kept here. A run without `--traces`
keeps this section as it is, so it shows the model as of the last run with them. Scheduler GTO.
";

const RTX3070_HEAD: &str = "## The reference's RTX 3070

The same traces on the machine that `configs/gpus/rtx3070-accelsim.toml` describes: 46 SMs, 16 channels without a hash over them
([D116](sources.md#d116)). No constant was fitted to these numbers. Scheduler GTO.
";

const LINES_HEAD: &str = "## Whole-line caches

The same traces on the machine that `configs/gpus/rtx2060-lines.toml` describes: the RTX 2060 with caches that fetch lines
([D121](sources.md#d121)). L1 and L2 count requests of up to a line. No constant was fitted to these numbers. Scheduler GTO. `tests/validation.rs` holds
the project's own traces to 1 % of cycles, launch latency included, and 1 % of each count. Eight runs of dependent loads of one warp (`l1`, `l2`, `dram`
and `dram_div` of the [micro-benchmarks](#micro-benchmarks)) take the reference's cycles, and every count is its own.
";

const HOW_TO: &str = "## Adding traces

Put each trace into a folder of its own, `DIR/<trace>/kernelslist.g` with the `kernel-N.traceg[.xz]` files that it names, and
the numbers to compare with into a CSV file with the columns of `tests/data/reference/accelsim.csv`, one row per launch:

```sh
cargo xtask validate --traces DIR --reference NUMBERS.csv     # without --reference: DIR/../accelsim.csv
```

`--rtx3070 CSV` also compares them with numbers for `rtx3070-accelsim`, `--lines CSV` with numbers for `rtx2060-lines`. A file of numbers may lack the column `warp_insts`. Every trace in DIR that has rows is compared. A trace without rows, and rows without a trace, are named under the table; a trace
that cannot be read, or whose launches are not those of its rows, is an error. One trace in every detail:

```sh
mias run --trace DIR/<trace>/kernelslist.g --gpu rtx2060-accelsim --reference NUMBERS.csv
```

## Known gaps

* Copies to the device (`MemcpyHtoD` in a kernel list) are read, but warm the L2 only on request (`--warm-l2`), which this comparison does not: the first launch of a list finds it
  cold. Launches do find what the ones before left there.
* `rtx2060-accelsim` and `rtx3070-accelsim` do not do what the reference does in every cycle, and so do not meet it to the cycle: that costs host instructions. The machines that do are
  `rtx2060-fetch`, `rtx3070-fetch` and `rtx2060-lines`.
* Where a launch is not met to the cycle on these, the clocks are why in most: the reference adds up the periods of its clocks as floating-point numbers, so that a DRAM cycle that begins
  together with a core cycle, every 2,730th at 1,365 MHz and every 2,264th at 1,132 MHz, comes out later than it in 74 of the first 80 cases, and counts to the next. Here it
  counts to that one, exactly. With the reference's rounding put in, `shm` on the RTX 3070 and with whole lines is met to the cycle; `mem` and `shm` on the RTX 2060,
  whose L2 evicts modified lines, are then still 0.1 % short. There a write-back that a read miss causes does not keep the L2's port in the reference; here every one does.
* The hold of an atomic ends when its result is chosen for its register in the reference, and a cycle later, when it is written, here (`atom`).
* How near two models can come that do not do the same in every cycle: which sub-core of an SM issues first is a choice among equals. Turned by one to three sub-cores,
  launches of 10,000 cycles are up to 11 % longer or shorter, L1 reservation failures up to several times as many, and misses up to 2 %.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_there() {
        assert!(root().join("host-sim/lab/examples/validate.rs").is_file());
        assert!(EXPORTS.iter().all(|path| root().join(path).exists()));
    }

    #[test]
    fn a_run_without_traces_keeps_the_numbers_of_the_last_with_them() {
        let first = document("own\n", "exports\n", "fetch\n", "numbers\n", "others\n", "lines\n");
        assert_eq!(BY_PATH.kept(&first), "numbers\n");
        assert_eq!((RTX3070.kept(&first).as_str(), LINES.kept(&first).as_str()), ("others\n", "lines\n"));
        assert_eq!(document("own\n", "exports\n", "fetch\n", &BY_PATH.kept(&first), &RTX3070.kept(&first), &LINES.kept(&first)), first);
        assert_eq!(BY_PATH.kept("no markers"), NONE_YET);
    }
}
