//! The fourteen kernels of Zhao et al. 2018, table 1: the table's grids, and what a TB takes of an
//! SM.

use std::collections::BTreeSet;

use super::results_tests::{grid, prepared, sm_of, tbs_on};
use super::*;

/// A row of the table, and what the originals take (sources.md D146), which the table does not
/// have.
struct Row {
    /// The paper's name, in small letters.
    name: &'static str,
    /// Grid as printed in the table.
    grid: [u32; 3],
    /// Name of our kernel, with a size that is possible.
    small: &'static str,
    /// Threads, registers per thread, shared memory per TB in bytes; and TBs per SM of 1,536
    /// threads, 8 TBs, 32,768 registers and 48 KiB.
    resources: [u32; 4],
}

const fn row(name: &'static str, grid: [u32; 3], small: &'static str, resources: [u32; 4]) -> Row {
    Row { name, grid, small, resources }
}

const TABLE_1: [Row; 14] = [
    row("dxtc", [16_384, 1, 1], "dxtc:16", [64, 95, 1408, 5]),
    row("tpacf", [201, 1, 1], "tpacf:1,points=8", [256, 30, 13_312, 3]),
    row("bino", [512, 1, 1], "bino:1,steps=2048", [128, 32, 516, 8]),
    row("leu", [596, 1, 1], "leu:45", [175, 26, 0, 6]),
    row("cp", [32, 128, 1], "coulomb:8,atoms=1", [128, 24, 0, 8]),
    row("merge", [4096, 1, 1], "merge:1024", [512, 18, 8192, 3]),
    row("pathfinder", [9260, 1, 1], "pathfinder:224,starts=1", [256, 16, 2048, 6]),
    row("lavamd", [1000, 1, 1], "lavamd:1", [128, 64, 7200, 4]),
    row("gaussian", [512, 512, 1], "gaussian:8", [16, 16, 0, 8]),
    row("lbm", [120, 150, 1], "lbm:2,rows=2", [120, 48, 0, 5]),
    row("dwt2d", [97_824, 1, 1], "dwt2d:256", [256, 12, 768, 6]),
    row("gesummv", [128, 1, 1], "gesummv:256,columns=4", [256, 19, 0, 6]),
    row("pvc", [46_875, 1, 1], "pvc:256", [256, 20, 0, 6]),
    row("sc", [512, 1, 1], "sc:512,dimensions=1", [512, 12, 0, 3]),
];

/// The number of TBs is equal even if the shape differs: a picture of `dxtc` is a square, and
/// `pathfinder` has columns and starts.
#[test]
fn grids_are_those_of_table_1() {
    let mut otherwise = Vec::new();
    for ((name, word), row) in ZHAO.into_iter().zip(&TABLE_1) {
        let ours = grid(word);
        assert_eq!((name, ours.iter().product::<u32>()), (row.name, row.grid.iter().product()), "{word}: {ours:?}");
        if ours != row.grid {
            otherwise.push(name);
        }
    }
    assert_eq!(otherwise, ["dxtc", "pathfinder"]);
}

/// Every kernel of every experiment has the table's grid, in the quick forms, too, which have the
/// same words.
#[test]
fn plans_have_the_grids_of_table_1() {
    let plans = ["zhao", "zhao-twelve", "zhao-elsewhere"].map(|name| mias_plans::text(name).unwrap().parse::<toml::Table>().unwrap());
    let experiments = plans.iter().flat_map(|plan| plan["experiment"].as_array().unwrap());
    let kernels = experiments.flat_map(|experiment| experiment["kernels"].as_array().unwrap());
    let words: BTreeSet<&str> = kernels.map(|word| word.as_str().unwrap()).collect();
    for word in words {
        let paper = word.split(':').next().unwrap();
        let paper = if paper == "coulomb" { "cp" } else { paper };
        let row = TABLE_1.iter().find(|row| row.name == paper).unwrap_or_else(|| panic!("{word}"));
        assert_eq!(grid(word).iter().product::<u32>(), row.grid.iter().product::<u32>(), "{word}");
    }
}

/// Default grids equal the table's for the kernels that need no large input.
#[test]
fn defaults_are_those_of_table_1() {
    for name in ["tpacf", "leu", "coulomb", "merge", "lavamd", "gaussian", "gesummv"] {
        let (_, word) = ZHAO.into_iter().find(|(_, word)| word.split(':').next() == Some(name)).unwrap();
        assert_eq!(grid(name), grid(word), "{name}");
    }
}

#[test]
fn resources_are_those_of_the_originals() {
    let sm = sm_of("zhao18");
    assert_eq!((sm.count, sm.threads, sm.tbs, sm.registers, sm.shared_bytes), (24, 1536, 8, 32_768, 49_152));
    for Row { name, small, resources, .. } in TABLE_1 {
        let info = prepared(small).info;
        let tbs = tbs_on(&sm, &info);
        assert_eq!([info.threads(), info.registers_per_thread, info.shared_bytes, tbs], resources, "{name}");
    }
}

/// Names of the paper select the same kernels as our names, where the two differ.
#[test]
fn other_names_ask_for_the_same() {
    for (other, own) in [("bino:3", "bopt:3"), ("pathfinder:500,starts=2", "pf:500,starts=2"), ("dwt2d:512", "dwtc:512")] {
        assert_eq!(prepared(other).info, prepared(own).info);
        assert_eq!(Spec::parse(other).unwrap().name(other), other);
    }
}
