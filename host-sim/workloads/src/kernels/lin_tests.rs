//! The twenty-two kernels of Lin et al. 2018, table 2: what a TB takes of an SM of the paper's
//! table 1, and what the assembler says of ours for the paper's architecture.

use super::results_tests::{grid, prepared, sm_of, tbs_on};
use super::*;
use std::path::Path;

/// A kernel of the paper.
struct Row {
    /// The paper's name, in small letters.
    name: &'static str,
    /// Name of our kernel, with a size that is possible.
    small: &'static str,
    /// Properties of the original compiled for sm_50, as in the paper (sources.md D167): threads,
    /// registers per thread, shared memory per TB in bytes, TBs per SM. The SM has 64 warps, 32
    /// TBs, 98 KB of shared memory, and 65,536 registers allocated by four per thread.
    original: [u32; 4],
    /// Shared memory per TB of our kernel, if it is another.
    shared: Option<u32>,
    /// Registers of our kernel compiled by nvcc 11.8 for sm_50.
    registers: u32,
}

const fn row(name: &'static str, small: &'static str, original: [u32; 4], shared: Option<u32>, registers: u32) -> Row {
    Row { name, small, original, shared, registers }
}

const TABLE_2: [Row; 22] = [
    row("bfs", "bfs1:2048", [512, 19, 0, 4], None, 19),
    row("bp_1", "bpl:16", [256, 20, 1088, 8], None, 20),
    row("bp_2", "bpa:16", [256, 23, 0, 8], None, 23),
    row("bt", "bt:2,fill=2", [256, 27, 0, 8], None, 25),
    row("cfd", "cd:1728,threads=192", [192, 59, 0, 5], None, 64),
    row("conv", "conv:8", [256, 15, 0, 8], None, 18),
    row("cp", "cp:1,columns=1,rows=1", [128, 32, 4116, 16], None, 34),
    row("dwt_1", "dwtc:256", [256, 12, 768, 8], None, 12),
    row("dwt_2", "dwt:128,rows=8,columns=128", [128, 48, 5912, 10], None, 48),
    row("fdtd_1", "fdtd1:8", [256, 10, 0, 8], None, 10),
    row("fdtd_2", "fdtd2:8", [256, 14, 0, 8], None, 12),
    row("gemm", "gemm:8,inner=32", [256, 17, 0, 8], None, 14),
    row("hg", "hg:100,blocks=1", [96, 17, 12_288, 8], None, 18),
    row("hs", "hs:24", [256, 32, 3072, 8], None, 18),
    row("km", "ks:256", [256, 22, 0, 8], None, 11),
    row("lbm", "lbm:2,rows=2", [120, 40, 0, 12], None, 56),
    row("mm", "mm2:8,inner=16", [256, 20, 0, 8], None, 15),
    row("mms", "mms:32", [1024, 28, 8192, 2], None, 28),
    row("sad_1", "sad1:16,rows=16", [61, 56, 32, 18], None, 48),
    row("sad_2", "s2:2", [128, 32, 0, 16], None, 18),
    row("spmv", "sv:192", [192, 28, 0, 10], None, 14),
    // The original's plane in shared memory, which is asked for at launch.
    row("st", "stc:64", [128, 32, 1024, 16], Some(0), 32),
];

/// Returns the registers that a word sets.
fn registers(word: &str) -> Option<u32> {
    word.split([':', ',']).find_map(|setting| setting.strip_prefix("registers=")).map(|count| count.parse().unwrap())
}

/// The paper's word and the small one are of the same kernel, and the one has the registers that
/// the other one gets here.
#[test]
fn a_tb_takes_what_the_original_takes() {
    let sm = sm_of("lin18-lines");
    assert_eq!((sm.count, sm.threads, sm.tbs, sm.registers, sm.register_granule, sm.shared_bytes), (16, 2048, 32, 65_536, 4, 100_352));
    for ((name, word), Row { name: row, small, original, shared, .. }) in LIN.into_iter().zip(TABLE_2) {
        assert_eq!(name, row);
        assert_eq!(word.split(':').next(), small.split(':').next(), "{name}");
        let mut spec = Spec::parse(small).unwrap();
        assert!(["threads=", "columns=128"].iter().all(|setting| word.contains(setting) == small.contains(setting)), "{name}");
        spec.input.registers = registers(word).map(u64::from);
        let info = spec.compile().unwrap().1;
        let [threads, of_thread, of_tb, tbs] = original;
        assert_eq!([info.threads(), info.registers_per_thread, info.shared_bytes], [threads, of_thread, shared.unwrap_or(of_tb)], "{name}");
        assert_eq!(tbs_on(&sm, &info), tbs, "{name}");
        // Shared memory that ours lacks would not have been what is short.
        assert!(tbs * of_tb <= sm.shared_bytes, "{name}");
    }
}

/// Checks against the files `NAME.sm_50.ptxas.txt` of the kernels.
#[test]
fn registers_on_sm_50_are_those_of_the_reports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    for (Row { name, registers, .. }, (_, word)) in TABLE_2.iter().zip(LIN) {
        let kernel = mias_kernels::find(word.split(':').next().unwrap()).unwrap();
        let file = root.join(kernel.suite).join(kernel.name).join(format!("{}.sm_50.ptxas.txt", kernel.name));
        let report = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(report.matches("for 'sm_50'").count(), report.matches("Compiling entry function").count(), "{name}");
        let entry = prepared(TABLE_2.iter().find(|row| row.name == *name).unwrap().small).instance.entry;
        assert_eq!(ptxas::parse("report", &report, &entry).unwrap().registers, *registers, "{name}");
    }
}

/// Table 2 where it says a number and ours can be as large: TBs of the grid, from the data set and
/// the size of a TB.
#[test]
fn data_sets_are_those_of_table_2() {
    let tbs = |name: &str| {
        let (_, word) = LIN.into_iter().find(|(paper, _)| *paper == name).unwrap();
        grid(word).iter().product::<u32>()
    };
    for (name, expected) in [
        ("bp_1", 65_536 / 16),
        ("bp_2", 65_536 / 16),
        ("conv", 4096 * 4096 / 256),
        ("dwt_1", 1024 * 1024 / 256),
        ("fdtd_1", 2048 * 2048 / 256),
        ("fdtd_2", 2048 * 2048 / 256),
        ("gemm", 512 * 512 / 256),
        ("km", 494_020u32.div_ceil(256)),
        ("lbm", 120 * 150),
        ("mm", 2048 * 2048 / 256),
        ("mms", 1024 * 1024 / 1024),
        // QCIF in blocks of 4 x 4 pixels.
        ("sad_1", 176 * 144 / 16),
        ("st", 512 * 512 / 256),
    ] {
        assert_eq!(tbs(name), expected, "{name}");
    }
}
