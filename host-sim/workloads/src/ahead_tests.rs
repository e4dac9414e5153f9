//! A kernel executed TB by TB gives what the whole grid gives, and ends where it may not go on.

use super::*;
use crate::kernels::{Spec, find, unwatched};
use crate::trace_store::{Cache, DEFAULT_LIMIT_BYTES, Needs, Store};
use mias_warp_trace::{SectorRef, ShapeInst};

fn prepared(name: &str, size: u64) -> Prepared {
    Spec::sized(find(name).unwrap(), size, 1).prepare().unwrap()
}

fn ahead(name: &str, size: u64, budget_bytes: u64) -> Ahead {
    Ahead::new(prepared(name, size), Budget::new(budget_bytes, 2), None, None).unwrap()
}

/// bfs overwrites its input and its TBs see each other; fwt is in place.
const KERNELS: [(&str, u64); 4] = [("mm", 160), ("fwt", 1 << 18), ("bfs", 1 << 15), ("blk", 40_960)];

#[test]
fn every_state_of_the_trace_begins_the_whole() {
    for (name, size) in KERNELS {
        let whole = prepared(name, size).record().unwrap();
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
        ahead.start(u64::MAX, &mut unwatched).unwrap();
        assert_eq!(ahead.in_one_part().as_deref(), Some(&whole), "{name}");
    }
}

/// Returns the execution of one warp: its instructions, and the sectors of its memory references.
fn expanded(trace: &KernelTrace, tb: u32, warp: u32) -> (Vec<ShapeInst>, Vec<(u64, Vec<SectorRef>)>) {
    let from = trace.warp(tb, warp);
    let shape = trace.shape(from.shape);
    let insts = trace.shape_insts()[shape.start as usize..shape.end as usize].to_vec();
    let offchip = insts.iter().filter(|inst| trace.statics()[inst.index()].class.is_offchip()).count() as u32;
    let mems = (from.first_mem..from.first_mem + offchip).map(|at| trace.mem(at));
    (insts, mems.map(|mem| (mem.base_sector, trace.pattern(mem.pattern).to_vec())).collect())
}

/// Prepares a kernel in which one warp in each of 3 TBs loads `loads` times, from places that
/// differ: 32 sectors of a pattern of its own each time.
fn gathers(loads: u32) -> Prepared {
    let ptx = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry gathers(.param .u64 p)\n{{\n.reg .b64 %a<4>;\n.reg .b32 %r<9>;\n\
         .reg .pred %p;\nld.param.u64 %a1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nL: mad.lo.u32 %r4, %r2, 2654435761, 12345;\n\
         add.u32 %r3, %r1, 1;\nmul.lo.u32 %r4, %r4, %r3;\nshr.u32 %r4, %r4, 8;\nand.b32 %r4, %r4, 0x7ffffc;\ncvt.u64.u32 %a2, %r4;\n\
         add.s64 %a3, %a1, %a2;\nld.global.u32 %r5, [%a3];\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, {loads};\n@%p bra L;\nret;\n}}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let toml = "name = \"gathers\"\nptx = \"k.ptx\"\nregisters = 32\ngrid = 3\nblock = 32\nargs = [\"buf:u32:2097152:zeros\"]\n";
    let file = folder.path().join("k.toml");
    std::fs::write(&file, toml).unwrap();
    Spec::parse(file.to_str().unwrap()).unwrap().prepare().unwrap()
}

/// The record of a warp with 32 sectors of 8 bytes for each load, and 16 for the load: some 300
/// bytes a round. 20,000 rounds are 6 MB, and twice the sectors more than the 8 MiB that a part has
/// at least.
#[test]
fn a_tb_beyond_the_budget_is_told_and_stays_told() {
    let ahead = |loads, budget| Ahead::new(gathers(loads), Budget::new(budget, 2), None, None).unwrap();
    let small = ahead(20_000, 1000);
    let told = small.part_with(0).unwrap_err();
    let part = "kernel `gathers`: the trace of TB 0 of its 3 TBs needs more than 8.0 MiB, its part of the 1000 B of --memory";
    assert!(told.starts_with(part), "{told}");
    assert_eq!(small.part_with(2).unwrap_err(), told);
    let large = ahead(20_000, 1 << 30);
    assert_eq!(large.part_with(2).unwrap().trace.recorded_tbs(), 3);
    // 60,000 rounds are 18 MB, of the 16 MiB that a record has at least.
    let told = ahead(60_000, 1000).part_with(0).unwrap_err();
    assert!(told.contains("still running after its record filled its 16777216 bytes of --memory") && told.contains("--memory"), "{told}");
}

/// 240 TBs with two tiles each: of one system so large a TB alone has a million instructions.
const SYSTEMS: &str = "nbdy:61440,systems=120";

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    /// Every TB in grid order, then all again, as a relaunch asks for them; the second time nothing
    /// is executed.
    #[test]
    fn a_budget_of_any_size_gives_the_same_tbs() {
        for (name, size) in KERNELS {
            let whole = prepared(name, size).record().unwrap();
            let bytes = whole.memory_bytes() as u64;
            // All in one part; in parts, all in memory; most of them on disk. An eighth of a small
            // budget is held.
            for (budget, spills) in [(256 * bytes, false), (16 * bytes, false), (bytes / 2, true)] {
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

    /// Counts memory while a kernel with large records is executed: each TB's record at its end,
    /// the growing part, and the held parts.
    #[test]
    fn what_is_counted_is_within_the_budget() {
        for (loads, budget_bytes) in [(20_000, 64 << 20), (20_000, 128 << 20), (8_000, 1 << 20), (8_000, 1 << 26)] {
            let prepared = gathers(loads);
            let budget = Budget::new(budget_bytes, 2);
            let ahead = Ahead::new(prepared, budget, None, None).unwrap();
            for tb in [0, 1, 2, 0] {
                if let Err(told) = ahead.part_with(tb) {
                    assert!(told.contains("needs more than"), "{told}");
                    break;
                }
                let state = ahead.state();
                let growing = state.recorder.memory_bytes() + state.latest.memory_bytes() as u64;
                let counted = growing + state.parts.held_bytes() + budget.room.record_bytes;
                let most = budget_bytes.max(crate::budget::LEAST_BYTES);
                assert!(counted <= most, "{counted} of {budget_bytes}");
                assert!(state.recorder.memory_bytes() <= budget.room.most_part_bytes);
            }
        }
    }

    #[test]
    fn what_a_run_completes_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned(), DEFAULT_LIMIT_BYTES);
        let cache = Cache::of(store.clone());
        let systems = || Spec::parse(SYSTEMS).unwrap().prepare().unwrap();
        let needs = Needs::Window { budget_bytes: 1 << 30, printer: None };
        let traced = cache.traced(systems(), needs, &mut unwatched).unwrap();
        let Some(source) = traced.source else { panic!("8 million instructions are all of it") };
        assert!(traced.trace.recorded_tbs() < traced.trace.tbs());
        assert_eq!(store.usage().unwrap().traces, 0);
        let last = traced.trace.tbs() - 1;
        let mut recorded = traced.trace.recorded_tbs();
        while recorded <= last {
            recorded = source.part_with(recorded).unwrap().trace.recorded_tbs();
        }
        assert_eq!(store.usage().unwrap().traces, 1);
        let again = cache.traced(systems(), needs, &mut unwatched).unwrap();
        assert!(again.source.is_none());
        assert_eq!(*again.trace, *source.part_with(last).unwrap().trace);
        assert_eq!((again.key, again.span), (traced.key, traced.span));
    }
}
