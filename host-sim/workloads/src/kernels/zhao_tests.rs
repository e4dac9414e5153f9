//! The fourteen kernels of Zhao et al. 2018, table 1: the table's grids, right results, and what a TB takes of an SM.

use super::*;
use mias_hw_model::sm::Resources;

/// A row of the table, and what the originals take (sources.md D146), which the table does not have.
struct Row {
    /// The paper's name, in small letters.
    name: &'static str,
    /// As printed.
    grid: [u32; 3],
    /// Ours, of a size that is possible.
    small: &'static str,
    /// Threads, registers per thread, shared memory per TB in bytes; and TBs per SM of 1,536 threads, 8 TBs, 32,768 registers and 48 KiB.
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

fn prepared(word: &str) -> Prepared {
    Spec::parse(word).unwrap().prepare().unwrap_or_else(|error| panic!("{word}: {error}"))
}

/// TBs of a word's launch, along each axis. Nothing is prepared: some inputs are hundreds of megabytes.
fn grid(word: &str) -> [u32; 3] {
    let spec = Spec::parse(word).unwrap();
    let form = &spec.kernel.launch;
    let mut scope = spec.kernel.inputs(&spec.input).unwrap().scope;
    for (name, formula) in &form.lets {
        scope.set(name, formula.value(&scope).unwrap());
    }
    form.grid.each_ref().map(|axis| axis.extent(&scope, 1, "the grid").unwrap())
}

/// Where the shape differs, as many TBs: a picture of `dxtc` is a square, and `pathfinder` has columns and starts.
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

/// Every kernel of every experiment, in the quick forms, too, which have the same words.
#[test]
fn plans_have_the_grids_of_table_1() {
    for name in ["zhao", "zhao-twelve", "zhao-elsewhere"] {
        let plan: toml::Table = mias_plans::text(name).unwrap().parse().unwrap();
        for experiment in plan["experiment"].as_array().unwrap() {
            for word in experiment["kernels"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()) {
                let paper = word.split(':').next().unwrap();
                let paper = if paper == "coulomb" { "cp" } else { paper };
                let row = TABLE_1.iter().find(|row| row.name == paper).unwrap_or_else(|| panic!("{name}: {word}"));
                assert_eq!(grid(word).iter().product::<u32>(), row.grid.iter().product::<u32>(), "{name}: {word}");
            }
        }
    }
}

/// Those that need no large input.
#[test]
fn defaults_are_those_of_table_1() {
    for name in ["tpacf", "leu", "coulomb", "merge", "lavamd", "gaussian", "gesummv"] {
        let (_, word) = ZHAO.into_iter().find(|(_, word)| word.split(':').next() == Some(name)).unwrap();
        assert_eq!(grid(name), grid(word), "{name}");
    }
}

#[test]
fn resources_are_those_of_the_originals() {
    let sm = toml::from_str::<mias_hw_model::config::GpuConfig>(mias_gpus::text("zhao18").unwrap()).unwrap().sm;
    assert_eq!((sm.count, sm.threads, sm.tbs, sm.registers, sm.shared_bytes), (24, 1536, 8, 32_768, 49_152));
    for Row { name, small, resources, .. } in TABLE_1 {
        let info = prepared(small).info;
        let tbs = Resources::of_sm(&sm).count(&Resources::of_tb(&info, &sm));
        assert_eq!([info.threads(), info.registers_per_thread, info.shared_bytes, tbs], resources, "{name}");
    }
}

/// Whole TBs and ones that are not full, each setting, several seeds.
#[test]
fn results_are_right() {
    for word in [
        "tpacf:1,points=1",
        "tpacf:2,points=300",
        "tpacf:1,points=256,seed=2",
        "leu:45,rows=45",
        "leu:47,rows=80,seed=2",
        "coulomb:8,atoms=3",
        "coulomb:16,atoms=40,seed=2",
        "merge:1024",
        "merge:3072,seed=2",
        "lavamd:1,particles=1",
        "lavamd:2,particles=7",
        "lavamd:3,particles=5,seed=2",
        "lavamd:1",
        "gaussian:1",
        "gaussian:7",
        "gaussian:9,step=3,seed=2",
        "lbm:2,rows=2",
        "lbm:27,rows=5,seed=2",
        "gesummv:1,columns=1",
        "gesummv:300,columns=5,seed=2",
        "pvc:1",
        "pvc:300,seed=2",
    ] {
        prepared(word).record().unwrap_or_else(|error| panic!("{word}: {error}"));
    }
}

/// Nothing was run: the results still are what the buffers were filled with.
#[test]
fn a_wrong_result_is_named() {
    for Row { small, .. } in TABLE_1 {
        assert!(prepared(small).instance.check_results(small).is_err(), "{small}");
    }
}

/// The paper's names of kernels that have another here.
#[test]
fn other_names_ask_for_the_same() {
    for (other, own) in [("bino:3", "bopt:3"), ("pathfinder:500,starts=2", "pf:500,starts=2"), ("dwt2d:512", "dwtc:512")] {
        assert_eq!(prepared(other).info, prepared(own).info);
        assert_eq!(Spec::parse(other).unwrap().name(other), other);
    }
}
