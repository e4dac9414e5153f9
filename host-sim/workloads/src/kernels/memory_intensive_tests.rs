//! The six memory-intensive kernels of Dai et al. 2018, table 2: the table's occupancies, and what
//! its rows say of accesses.

use super::results_tests::{sm_of, tbs_on, traced};
use super::*;
use mias_warp_trace::isa::Class;

/// Kernels of the table with a possible size; threads, allocated registers, and the table's
/// occupancies in permille: registers, shared memory, threads, TBs.
const TABLE_2: [(&str, u64, [u32; 2], [u64; 4]); 6] = [
    ("3m", 64, [256, 12], [562, 0, 1000, 750]),
    ("sv", 960, [192, 16], [750, 0, 1000, 1000]),
    ("cd", 1728, [64, 64], [1000, 0, 333, 1000]),
    ("s2", 2, [128, 16], [500, 0, 667, 1000]),
    ("ks", 300, [256, 12], [562, 0, 1000, 750]),
    ("ax", 300, [256, 12], [562, 0, 1000, 750]),
];

/// Occupancies equal those of the table to the permille, on the table's GPU.
#[test]
fn occupancies_are_those_of_table_2() {
    let sm = sm_of("dai18-lines");
    for (name, size, [threads, registers], table) in TABLE_2 {
        let info = Spec::sized(find(name).unwrap(), size, 0).compile().unwrap().1;
        let given = info.registers_per_thread.next_multiple_of(sm.register_granule);
        assert_eq!((info.threads(), given, info.shared_bytes), (threads, registers, 0), "{name}");
        let tbs = u64::from(tbs_on(&sm, &info));
        let permille = |used: u32, of: u32| (2000 * tbs * u64::from(used) + u64::from(of) - 1) / (2 * u64::from(of));
        let found = [permille(threads * given, sm.registers), 0, permille(threads, sm.threads), permille(1, sm.tbs)];
        assert_eq!(found, table, "{name}");
    }
}

/// Returns the sectors of 32 bytes of each off-chip access of the first warp, in order, and whether
/// it loads.
fn accesses(trace: &KernelTrace) -> Vec<(bool, usize)> {
    let warp = trace.warp(0, 0);
    let range = trace.shape(warp.shape);
    let insts = &trace.shape_insts()[range.start as usize..range.end as usize];
    let classes = insts.iter().map(|inst| trace.statics()[inst.index()].class).filter(|class| class.is_offchip());
    classes
        .zip(warp.first_mem..)
        .map(|(class, mem)| (matches!(class, Class::Load(_)), trace.pattern(trace.mem(mem).pattern).len()))
        .collect()
}

/// `ax`: the sum is loaded once; then, per column, one element of x for all lanes, one of A for
/// each, which are a row apart, and a line of sums. `ks`: per feature one element for each lane, a
/// point of 136 bytes apart, and a line.
#[test]
fn lanes_walk_lines_of_their_own() {
    let column = [(true, 1), (true, 32), (false, 4)];
    assert_eq!(accesses(&traced("ax:256,columns=64")), [vec![(true, 4)], column.repeat(64)].concat());
    assert_eq!(accesses(&traced("ks:256")), [(true, 32), (false, 4)].repeat(34));
}

/// Shares of instructions that are no accesses to those that are, in a whole launch: Cinst/Minst of
/// table 2 to within 15 %, or rounded.
#[test]
fn computations_per_access_are_those_of_table_2() {
    for (word, table) in [("3m:64", 2.0), ("sv:1920", 3.0), ("cd:1728", 9.0), ("s2:2", 2.0), ("ks:256", 3.0), ("ax:256", 2.0f64)] {
        let trace = traced(word);
        let mut counts = [0u32; 2];
        for tb in 0..trace.tbs() {
            for warp in 0..trace.info().warps() {
                let range = trace.shape(trace.warp(tb, warp).shape);
                for inst in &trace.shape_insts()[range.start as usize..range.end as usize] {
                    let class = trace.statics()[inst.index()].class;
                    counts[usize::from(matches!(class, Class::Load(_) | Class::Store(_)))] += 1;
                }
            }
        }
        let found = f64::from(counts[0]) / f64::from(counts[1]);
        assert!((found / table - 1.0).abs() <= 0.15, "{word}: {found:.2}");
    }
}
