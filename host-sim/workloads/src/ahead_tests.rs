//! A kernel executed TB by TB gives what the whole grid gives, and ends where it may not go on.

use super::*;
use crate::kernels::{Spec, find};
use crate::trace_store::{Cache, DEFAULT_LIMIT_BYTES, Needs, Store};
use mias_hw_model::trace::{SectorRef, ShapeInst};

fn prepared(name: &str, size: u64) -> Prepared {
    Spec::sized(find(name).unwrap(), size, 1).prepare().unwrap()
}

fn ahead(name: &str, size: u64, budget_bytes: u64) -> Ahead {
    Ahead::new(prepared(name, size), budget_bytes, None, None).unwrap()
}

/// bfs overwrites its input and its TBs see each other; fwt is in place.
const KERNELS: [(&str, u64); 4] = [("mm", 160), ("fwt", 1 << 18), ("bfs", 1 << 15), ("blk", 40_960)];

#[test]
fn every_state_of_the_trace_begins_the_whole() {
    for (name, size) in KERNELS {
        let whole = prepared(name, size).record(&mut |_, _| {}).unwrap();
        let ahead = ahead(name, size, u64::MAX);
        for wanted in [0, 1, whole.tbs() / 2, whole.tbs() - 1] {
            // One batch more.
            let mut batches = 0;
            ahead
                .advance(&mut ahead.state(), &mut |_| {
                    batches += 1;
                    batches < 2
                })
                .unwrap();
            let trace = ahead.part_with(wanted).unwrap().trace;
            assert!(trace.recorded_tbs() > wanted && trace.tbs() == whole.tbs(), "{name}");
            assert_eq!(trace.statics(), whole.statics(), "{name}");
            assert!(whole.shape_insts().starts_with(trace.shape_insts()), "{name}");
            assert!(whole.warps().starts_with(trace.warps()), "{name}");
            assert!(whole.mems().starts_with(trace.mems()), "{name}");
            assert!((0..trace.patterns()).all(|pattern| trace.pattern(pattern) == whole.pattern(pattern)), "{name}");
        }
        ahead.start(u64::MAX, &mut |_| {}).unwrap();
        assert!(ahead.is_whole());
        assert_eq!(*ahead.so_far(), whole, "{name}");
    }
}

/// What a warp of a TB executes: its instructions, and the sectors of its memory references.
fn expanded(trace: &KernelTrace, tb: u32, warp: u32) -> (Vec<ShapeInst>, Vec<(u64, Vec<SectorRef>)>) {
    let from = trace.warp(tb, warp);
    let shape = trace.shape(from.shape);
    let insts = trace.shape_insts()[shape.start as usize..shape.end as usize].to_vec();
    let offchip = insts.iter().filter(|inst| trace.statics()[inst.index()].class.is_offchip()).count() as u32;
    let mems = (from.first_mem..from.first_mem + offchip).map(|at| trace.mem(at));
    (insts, mems.map(|mem| (mem.base_sector, trace.pattern(mem.pattern).to_vec())).collect())
}

/// Every TB in grid order, then all again, as a relaunch asks for them; the second time nothing is executed.
#[test]
fn a_budget_of_any_size_gives_the_same_tbs() {
    for (name, size) in KERNELS {
        let whole = prepared(name, size).record(&mut |_, _| {}).unwrap();
        let bytes = whole.memory_bytes() as u64;
        // All in one part; in parts, all in memory; most of them on disk.
        for (budget, spills) in [(64 * bytes, false), (4 * bytes, false), (bytes / 2, true)] {
            let ahead = ahead(name, size, budget);
            for tb in (0..whole.tbs()).chain(0..whole.tbs()) {
                let part = ahead.part_with(tb).unwrap();
                for warp in 0..whole.info().warps() {
                    assert_eq!(expanded(&part.trace, tb - part.first_tb, warp), expanded(&whole, tb, warp), "{name} {tb} {warp}");
                }
            }
            let mut state = ahead.state();
            assert_eq!((state.recorder.recorded(), state.recorder.warp_insts()), (whole.tbs(), whole.warp_insts()), "{name}");
            assert_eq!(state.parts.spilled(), spills, "{name}");
            let joined = ahead.whole(&mut state).unwrap();
            assert_eq!(joined.as_deref(), (!spills).then_some(&whole), "{name}");
        }
    }
}

#[test]
fn a_batch_beyond_the_budget_is_told_and_stays_told() {
    let ahead = ahead("mm", 160, 1000);
    let told = ahead.part_with(0).unwrap_err();
    assert!(told.starts_with("kernel `mm`: the trace of ") && told.contains(" of its 100 TBs takes ") && told.contains("1000 B"), "{told}");
    assert_eq!(ahead.part_with(3).unwrap_err(), told);
}

/// 240 TBs with two tiles each: of one system so large a TB alone has a million instructions.
const SYSTEMS: &str = "nbdy:61440,systems=120";

#[test]
fn what_a_run_completes_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().to_owned(), DEFAULT_LIMIT_BYTES);
    let cache = Cache::of(store.clone());
    let systems = || Spec::parse(SYSTEMS).unwrap().prepare().unwrap();
    let needs = Needs::Window { budget_bytes: 1 << 30, printer: None };
    let traced = cache.traced(systems(), needs, &mut |_, _| {}).unwrap();
    let Some(source) = traced.source else { panic!("8 million instructions are all of it") };
    assert!(traced.trace.recorded_tbs() < traced.trace.tbs());
    assert_eq!(store.usage().unwrap().traces, 0);
    let last = traced.trace.tbs() - 1;
    let mut recorded = traced.trace.recorded_tbs();
    while recorded <= last {
        recorded = source.part_with(recorded).unwrap().trace.recorded_tbs();
    }
    assert_eq!(store.usage().unwrap().traces, 1);
    let again = cache.traced(systems(), needs, &mut |_, _| {}).unwrap();
    assert!(again.source.is_none());
    assert_eq!(*again.trace, *source.part_with(last).unwrap().trace);
    assert_eq!((again.key, again.span), (traced.key, traced.span));
}
