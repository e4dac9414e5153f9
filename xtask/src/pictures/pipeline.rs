//! The SM's pipeline and the path to DRAM, with the numbers of `rtx2060`.
//!
//! Stages between units take the cycles that `docs/explanation/timing-sm.md` gives; all other
//! numbers are those of the GPU file.

use std::fs;

use anyhow::{Context, Result, ensure};
use toml::Table;

use super::canvas::{Anchor, Area, Canvas, Color};
use crate::util::root;

const GPU_FILE: &str = "configs/gpus/rtx2060.toml";

/// Cycles of the stages: issue to collector, collector to unit, unit to write-back.
const STAGES: [u64; 3] = [1, 2, 2];
/// Cycles of a load in addition to the latency, until a dependent instruction issues: L1 hit,
/// shared memory, L2 hit of a load past the L1.
const LOADS: [u64; 3] = [4, 5, 12];

/// Units in the picture by their key in the GPU file.
const UNITS: [(&str, &str); 5] = [("int", "INT"), ("sp", "SP"), ("dp", "DP"), ("sfu", "SFU"), ("tensor", "Tensor")];

const SM: Area = Area::new(6, 6, 788, 386);
const CHANNELS: Area = Area::new(6, 412, 426, 136);

const SCHEDULERS: Area = Area::new(20, 84, 172, 74);
const COLLECTORS: Area = Area::new(234, 84, 176, 74);
const WRITE_BACK: Area = Area::new(656, 84, 124, 74);
const LOAD_STORE: Area = Area::new(234, 256, 176, 74);
const SHARED: Area = Area::new(460, 226, 150, 50);
const L1: Area = Area::new(460, 300, 150, 74);
const CROSSBAR: Area = Area::new(460, 452, 150, 80);
const L2: Area = Area::new(234, 452, 176, 80);
const DRAM: Area = Area::new(18, 452, 176, 80);
const DEPENDENT: Area = Area::new(626, 412, 168, 136);
/// Area of the first arithmetic unit.
const UNIT: Area = Area::new(460, 40, 150, 28);
const NEXT_UNIT: i32 = 34;

pub(super) fn draw() -> Result<Canvas> {
    let text = fs::read_to_string(root().join(GPU_FILE)).with_context(|| format!("cannot read {GPU_FILE}"))?;
    let file: Table = text.parse().with_context(|| format!("{GPU_FILE} is no TOML file"))?;
    let number = |key: &str| number(&file, key);
    let mut canvas = Canvas::new(
        (800, 554),
        "Pipeline of an SM and memory path of rtx2060",
        "Warp schedulers issue to operand collectors, and these to arithmetic units or to the load/store unit. Results go to write-back. \
         The load/store unit accesses shared memory and the L1. Misses of the L1 go through the crossbar to an L2 slice and on to DRAM. \
         Each box has its latency in cycles.",
    );
    canvas.frame(SM, &format!("SM, {} on the GPU", number("sm.count")?));
    canvas.frame(CHANNELS, &format!("Memory channel, {} on the GPU", number("dram.channels")?));
    front_end(&mut canvas, &number)?;
    units(&mut canvas, &number)?;
    memory(&mut canvas, &number)?;
    dependent_issue(&mut canvas, &number)?;
    Ok(canvas)
}

/// Returns an integer of the GPU file, by its key with dots.
fn number(file: &Table, key: &str) -> Result<u64> {
    let mut parts = key.split('.');
    let first = parts.next().and_then(|part| file.get(part));
    let value = parts.try_fold(first.with_context(|| format!("{GPU_FILE} has no {key}"))?, |value, part| value.get(part));
    let integer = value.and_then(toml::Value::as_integer).and_then(|value| u64::try_from(value).ok());
    integer.with_context(|| format!("{GPU_FILE} has no count `{key}`"))
}

type Number<'n> = &'n dyn Fn(&str) -> Result<u64>;

fn front_end(canvas: &mut Canvas, number: Number<'_>) -> Result<()> {
    let (sub_cores, collectors) = (number("sm.sub_cores")?, number("sm.collector_units")?);
    let (banks, rounds) = (number("sm.register_banks")?, number("sm.register_rounds")?);
    let instructions = format!("{sub_cores} warp instructions");
    canvas.labeled_box(SCHEDULERS, Color::Blue, "Fetch and issue", &[&instructions, "per cycle"]);
    let [collectors, banks] = [format!("{collectors} units, {banks} banks,"), format!("{rounds} rounds per cycle")];
    canvas.labeled_box(COLLECTORS, Color::Blue, "Operand collection", &[&collectors, &banks]);
    canvas.labeled_box(WRITE_BACK, Color::Blue, "Write-back", &["frees", "the register"]);
    let (from, to) = (SCHEDULERS.right(50), COLLECTORS.left(50));
    canvas.arrow(&[from, to]);
    canvas.label(((from.0 + to.0) / 2, from.1 - 8), Anchor::Middle, &[&format!("+{}", STAGES[0])]);
    Ok(())
}

/// Draws the arithmetic units, one below the other, between collectors and write-back.
fn units(canvas: &mut Canvas, number: Number<'_>) -> Result<()> {
    let (from, to) = (COLLECTORS.right(50), WRITE_BACK.left(50));
    let (fork, join) = (from.0 + 28, to.0 - 28);
    canvas.label((UNIT.top(50).0, UNIT.y - 9), Anchor::Middle, &["latency / interval"]);
    for ((key, name), row) in UNITS.iter().zip(0..) {
        let (latency, interval) = (number(&format!("sm.units.{key}.latency"))?, number(&format!("sm.units.{key}.interval"))?);
        let unit = Area { y: UNIT.y + row * NEXT_UNIT, ..UNIT };
        canvas.labeled_box(unit, Color::Green, &format!("{name}  {latency} / {interval}"), &[]);
        canvas.arrow(&[from, (fork, from.1), (fork, unit.left(50).1), unit.left(50)]);
        canvas.arrow(&[unit.right(50), (join, unit.right(50).1), (join, to.1), to]);
    }
    canvas.label((from.0 + 14, from.1 - 8), Anchor::Middle, &[&format!("+{}", STAGES[1])]);
    canvas.label((to.0 - 14, to.1 - 8), Anchor::Middle, &[&format!("+{}", STAGES[2])]);
    Ok(())
}

fn memory(canvas: &mut Canvas, number: Number<'_>) -> Result<()> {
    let size = |level: &str| -> Result<u64> {
        let [sets, ways, line] = ["sets", "ways", "line_bytes"].map(|key| number(&format!("{level}.{key}")));
        Ok(sets? * ways? * line? / 1024)
    };
    let sectors = format!("{} sectors per cycle", number("l1.banks")?);
    canvas.labeled_box(LOAD_STORE, Color::Blue, "Load/store unit", &["in order,", &sectors]);
    canvas.labeled_box(SHARED, Color::Gold, "Shared memory", &[&cycles(number("sm.shared_latency")?)]);
    let (latency, rest) = (cycles(number("l1.latency")?), format!("{} KiB, {} MSHRs", size("l1")?, number("l1.mshrs")?));
    canvas.labeled_box(L1, Color::Gold, "L1", &[&latency, &rest]);
    let flits = format!("{}-byte flits", number("interconnect.flit_bytes")?);
    canvas.labeled_box(CROSSBAR, Color::Gold, "Crossbar", &["2 subnets,", &flits]);
    let slices = format!("{} slices of {} KiB", number("l2.slices_per_channel")?, size("l2")?);
    canvas.labeled_box(L2, Color::Gold, "L2", &[&cycles(number("l2.latency")?), &slices]);
    let latency = format!("{}, then", cycles(number("dram.latency")?));
    let [cas, activate, precharge] = ["t_cl", "t_rcd", "t_rp"].map(|key| number(&format!("dram.timing.{key}")));
    let commands = format!("RP {}, RCD {}, CL {}", precharge?, activate?, cas?);
    canvas.labeled_box(DRAM, Color::Gold, "DRAM", &[&latency, &commands, "DRAM cycles"]);

    canvas.arrow(&[COLLECTORS.bottom(50), LOAD_STORE.top(50)]);
    let from = LOAD_STORE.right(50);
    for (to, end) in [(SHARED, 35), (L1, 65)] {
        let fork = from.0 + 28;
        canvas.arrow(&[from, (fork, from.1), (fork, to.left(50).1), to.left(50)]);
        let (out, end) = (to.right(50), WRITE_BACK.bottom(end));
        canvas.arrow(&[out, (end.0, out.1), end]);
    }
    let (down, up) = (L1.bottom(35), L1.bottom(65));
    canvas.arrow(&[down, (down.0, CROSSBAR.y)]);
    canvas.arrow(&[(up.0, CROSSBAR.y), up]);
    canvas.label((down.0 - 8, CROSSBAR.y - 24), Anchor::End, &["requests"]);
    canvas.label((up.0 + 10, CROSSBAR.y - 24), Anchor::Start, &["replies"]);
    for (right, left) in [(CROSSBAR, L2), (L2, DRAM)] {
        canvas.arrow(&[right.left(35), left.right(35)]);
        canvas.arrow(&[left.right(65), right.left(65)]);
    }
    Ok(())
}

fn cycles(latency: u64) -> String {
    format!("{latency} cycles")
}

/// Draws the cycles from the issue of an instruction to that of one that needs its result.
fn dependent_issue(canvas: &mut Canvas, number: Number<'_>) -> Result<()> {
    ensure!(number("clocks.core_khz")? == number("clocks.l2_khz")?, "the L2 of {GPU_FILE} has a clock of its own");
    let lines = [
        format!("INT: {}", number("sm.units.int.latency")? + STAGES.iter().sum::<u64>()),
        format!("L1 hit: {}", number("l1.latency")? + LOADS[0]),
        format!("shared memory: {}", number("sm.shared_latency")? + LOADS[1]),
        format!("L2, past the L1: {}", number("l2.latency")? + LOADS[2]),
    ];
    let [int, l1, shared, l2] = &lines;
    canvas.labeled_box(DEPENDENT, Color::Gray, "Issue to use", &["of the result", int, l1, shared, l2]);
    let mhz = number("clocks.core_khz")? / 1000;
    let clock = format!("at {},{:03} MHz.", mhz / 1000, mhz % 1000);
    let key = ["Numbers are core cycles", &clock, "+n: stages between boxes.", "interval: between starts", "in a unit of a sub-core."];
    canvas.label((20, 230), Anchor::Start, &key);
    Ok(())
}
