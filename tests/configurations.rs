//! Configurations of the shipped kernels, all pairs and triples on the RTX 2060: the firmware's
//! generator against an exhaustive search of TB counts.
//!
//! Nasef 2023, section 3.2.1: a configuration is a vector of TB counts that fits an SM and to which
//! no TB can be added. With several kernels, vectors with TBs of a single kernel are left out
//! (sources.md D18). The thesis' own worked examples are in `firmware/tests/configs.rs`. The demand
//! of a TB is read from the assembler's report and the kernel's file, and rounded by hand.

use mias_firmware::configs::{Candidate, Generator, Rules, TbVector};
use mias_firmware::resources::{SmLimits, TbShape};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::register_block::{GpuDescription, RegisterBlock, Straps};
use mias_registers::PolicyCode;
use mias_workloads::kernels::{Spec, find};

/// Threads, registers, bytes of shared memory and TBs of an SM of the RTX 2060
/// (`configs/gpus/rtx2060.toml`).
const SM: [u32; 4] = [1024, 65_536, 65_536, 32];

/// Name, entry, size of a small input, threads of a TB (the CUDA sources' launch), then the
/// report's registers and bytes of shared memory.
const KERNELS: [(&str, &str, u64, [u32; 3]); 7] = [
    ("mm", "mm", 64, [256, 39, 2048]),
    ("fwt", "fwt_radix4", 4096, [256, 22, 0]),
    ("nbdy", "nbdy", 512, [256, 60, 4096]),
    ("blk", "blk", 256, [128, 23, 0]),
    ("bopt", "bopt", 1, [128, 32, 516]),
    ("bfs", "bfs", 1024, [256, 20, 0]),
    ("dxtc", "dxtc", 4, [64, 95, 1408]),
];

/// Configurations of every pair: 73 in all. A pair has three, 1-3, 2-2 and 3-1, if one kernel's TB
/// has 256 of an SM's 1,024 threads and no other resource limits.
const PAIRS: [(&str, usize); 21] = [
    ("mm+fwt", 3),
    ("mm+nbdy", 3),
    ("mm+blk", 3),
    ("mm+bopt", 3),
    ("mm+bfs", 3),
    ("mm+dxtc", 3),
    ("fwt+nbdy", 3),
    ("fwt+blk", 3),
    ("fwt+bopt", 3),
    ("fwt+bfs", 3),
    ("fwt+dxtc", 3),
    ("nbdy+blk", 3),
    ("nbdy+bopt", 3),
    ("nbdy+bfs", 3),
    ("nbdy+dxtc", 3),
    ("blk+bopt", 7),
    ("blk+bfs", 3),
    ("blk+dxtc", 6),
    ("bopt+bfs", 3),
    ("bopt+dxtc", 6),
    ("bfs+dxtc", 3),
];

/// Configurations of every triple: 549 in all.
const TRIPLES: [(&str, usize); 35] = [
    ("mm+fwt+nbdy", 12),
    ("mm+fwt+blk", 12),
    ("mm+fwt+bopt", 12),
    ("mm+fwt+bfs", 12),
    ("mm+fwt+dxtc", 12),
    ("mm+nbdy+blk", 12),
    ("mm+nbdy+bopt", 12),
    ("mm+nbdy+bfs", 12),
    ("mm+nbdy+dxtc", 12),
    ("mm+blk+bopt", 22),
    ("mm+blk+bfs", 12),
    ("mm+blk+dxtc", 20),
    ("mm+bopt+bfs", 12),
    ("mm+bopt+dxtc", 21),
    ("mm+bfs+dxtc", 12),
    ("fwt+nbdy+blk", 12),
    ("fwt+nbdy+bopt", 12),
    ("fwt+nbdy+bfs", 12),
    ("fwt+nbdy+dxtc", 12),
    ("fwt+blk+bopt", 22),
    ("fwt+blk+bfs", 12),
    ("fwt+blk+dxtc", 20),
    ("fwt+bopt+bfs", 12),
    ("fwt+bopt+dxtc", 20),
    ("fwt+bfs+dxtc", 12),
    ("nbdy+blk+bopt", 22),
    ("nbdy+blk+bfs", 12),
    ("nbdy+blk+dxtc", 19),
    ("nbdy+bopt+bfs", 12),
    ("nbdy+bopt+dxtc", 19),
    ("nbdy+bfs+dxtc", 12),
    ("blk+bopt+bfs", 22),
    ("blk+bopt+dxtc", 38),
    ("blk+bfs+dxtc", 20),
    ("bopt+bfs+dxtc", 20),
];

/// Returns the demand of a TB on [`SM`]: whole warps, and registers of all their lanes in fours
/// (sources.md D13).
fn demand([threads, registers, shared]: [u32; 3]) -> [u32; 4] {
    let lanes = threads.next_multiple_of(32);
    [lanes, lanes * registers.next_multiple_of(4), shared, 1]
}

fn fits(demands: &[[u32; 4]], counts: &[u32]) -> bool {
    (0..4).all(|kind| demands.iter().zip(counts).map(|(demand, tbs)| demand[kind] * tbs).sum::<u32>() <= SM[kind])
}

/// Returns every configuration of at least two kernels in lexicographic order, from all counts of
/// TBs up to 32 each.
fn search(demands: &[[u32; 4]]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for at in 0..demands.len() {
        let longer = |counts: &Vec<u32>| (0..=SM[3]).map(|tbs| [&counts[..], &[tbs]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).filter(|counts| fits(&demands[..=at], counts)).collect();
    }
    let one_more = |counts: &[u32], at: usize| counts.iter().enumerate().map(|(i, tbs)| tbs + u32::from(i == at)).collect::<Vec<_>>();
    let maximal = |counts: &Vec<u32>| (0..demands.len()).all(|at| !fits(demands, &one_more(counts, at)));
    let together = |counts: &Vec<u32>| counts.iter().filter(|&&tbs| tbs > 0).count() >= 2;
    all.into_iter().filter(|counts| together(counts) && maximal(counts)).collect()
}

fn named(name: &str) -> [u32; 3] {
    KERNELS.iter().find(|kernel| kernel.0 == name).unwrap().3
}

/// Returns the limits as the firmware reads them from the register block.
fn limits() -> SmLimits {
    let config: GpuConfig = toml::from_str(mias_gpus::text("rtx2060").unwrap()).unwrap();
    let Ok(limits) = SmLimits::read(&mut RegisterBlock::new(GpuDescription::of(&config, Straps::new(PolicyCode::MiasIpc))));
    limits
}

/// Returns the registers and bytes of shared memory that the assembler reports for an entry.
fn reported(name: &str, entry: &str) -> [u32; 2] {
    let report = mias_kernels::find(name).unwrap().report;
    let (_, rest) = report.split_once(&format!("Compiling entry function '{entry}' ")).unwrap();
    let used = rest.lines().find_map(|line| line.split_once("Used ")).unwrap().1;
    let number = |what: &str| used.split(", ").find_map(|part| part.strip_suffix(what)).map_or(0, |number| number.parse().unwrap());
    [number(" registers"), number(" bytes smem")]
}

#[test]
fn the_table_is_of_the_shipped_kernels() {
    assert_eq!(mias_kernels::THESIS, KERNELS.map(|kernel| kernel.0));
    for (name, entry, size, [threads, registers, shared]) in KERNELS {
        assert_eq!(reported(name, entry), [registers, shared], "{name}");
        let info = Spec::sized(find(name).unwrap(), size, 1).compile().unwrap().1;
        assert_eq!((info.threads(), info.registers_per_thread, info.shared_bytes), (threads, registers, shared), "{name}");
    }
}

#[test]
fn every_pair_and_triple_has_its_configurations() {
    let limits = limits();
    for (set, count) in PAIRS.into_iter().chain(TRIPLES) {
        let names: Vec<&str> = set.split('+').collect();
        let expected = search(&names.iter().map(|name| demand(named(name))).collect::<Vec<_>>());
        assert_eq!(expected.len(), count, "{set}");
        let candidate = |name: &&str| {
            let [threads, thread_registers, shared_bytes] = named(name);
            Candidate { demand: limits.demand(&TbShape { threads, thread_registers, shared_bytes }), cap: u8::MAX }
        };
        let kernels: Vec<Candidate> = names.iter().map(candidate).collect();
        let admitted = |vector: &TbVector| Rules::default().admit(vector, names.len());
        let found: Vec<Vec<u32>> = Generator::new(limits.capacity, &kernels)
            .filter(admitted)
            .map(|vector| vector.0[..names.len()].iter().map(|&tbs| u32::from(tbs)).collect())
            .collect();
        assert_eq!(found, expected, "{set}");
    }
    assert_eq!([&PAIRS[..], &TRIPLES].map(|sets| sets.iter().map(|(_, count)| count).sum::<usize>()), [73, 549]);
}
