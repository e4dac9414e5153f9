//! Tests of traces built from warps and TBs recorded by hand.

use super::*;
use crate::isa::{Class, Space};

fn info(tbs: u32, threads: u32) -> KernelInfo {
    KernelInfo { name: "k".into(), grid: [tbs, 1, 1], block: [threads, 1, 1], registers_per_thread: 16, shared_bytes: 0 }
}

#[test]
fn equal_warps_share_one_shape_and_one_pattern() {
    let mut builder = TraceBuilder::new(info(3, 64)).unwrap();
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(1).reads(&[2]).width(4);
    let index = builder.define(load).unwrap();
    for tb in 0..3u64 {
        let mut recorder = TbRecorder::new();
        for warp in 0..2u64 {
            recorder.warp();
            let lanes: Vec<u64> = (0..32).map(|i| 4096 * tb + 128 * warp + 4 * i).collect();
            recorder.inst(index, &load, 32, &lanes);
        }
        builder.add_tb(&recorder).unwrap();
    }
    let trace = builder.finish().unwrap();
    assert_eq!((trace.tbs(), trace.warp_insts(), trace.thread_insts()), (3, 6, 192));
    assert_eq!(trace.shape_starts.len(), 2);
    assert_eq!(trace.pattern(0).len(), 4);
    let warp = trace.warp(2, 1);
    assert_eq!(trace.mem(warp.first_mem).base_sector, (2 * 4096 + 128) / 32);
}

#[test]
fn constant_loads_of_several_words_say_how_many() {
    let load = StaticInst::new(0, Class::Load(Space::Constant)).writes(1).reads(&[2]).width(4);
    let mut recorder = TbRecorder::new();
    recorder.warp();
    for words in 1..=32u64 {
        let lanes: Vec<u64> = (0..32).map(|lane| 4 * (lane % words)).collect();
        recorder.inst(0, &load, 32, &lanes);
    }
    recorder.inst(0, &load, 0, &[]);
    let mut builder = TraceBuilder::new(info(1, 32)).unwrap();
    builder.define(load).unwrap();
    builder.add_tb(&recorder).unwrap();
    let trace = builder.finish().unwrap();
    let passes: Vec<u32> = trace.shape_insts().iter().map(|inst| inst.passes()).collect();
    let expected: Vec<u32> = [0].into_iter().chain(2..=32).chain([0]).collect();
    assert_eq!(passes, expected);
    assert!(trace.mems().is_empty());
}

/// Eight warps of a thousand instructions, with one shape per warp or one shape for all.
#[test]
fn shapes_are_shared_by_several_warps() {
    let adds = [16, 32].map(|line| StaticInst::new(line, Class::Int).writes(1));
    let shares = |different: bool| {
        let mut builder = TraceBuilder::new(info(1, 256)).unwrap();
        for add in adds {
            builder.define(add).unwrap();
        }
        let mut tb = TbRecorder::new();
        for warp in 0..8 {
            tb.warp();
            (0..1000).for_each(|at| tb.inst(u16::from(different && at == warp), &adds[0], 32, &[]));
        }
        assert!(builder.has_room(&tb, 1 << 20) && !builder.has_room(&tb, 1000));
        builder.add_tb(&tb).unwrap();
        builder.shares_shapes()
    };
    assert_eq!([shares(false), shares(true)], [true, false]);
}

#[test]
fn warps_may_take_turns() {
    let add = StaticInst::new(0, Class::Int).writes(1);
    let barrier = StaticInst::new(16, Class::Barrier);
    let (mut turns, mut whole) = (TbRecorder::new(), TbRecorder::new());
    for _ in 0..2 {
        turns.warp();
        turns.inst(0, &add, 32, &[]);
        whole.warp();
        whole.inst(0, &add, 32, &[]);
        whole.inst(1, &barrier, 32, &[]);
    }
    for warp in 0..2 {
        turns.resume(warp);
        turns.inst(1, &barrier, 32, &[]);
    }
    let trace = |tb: &TbRecorder| {
        let mut builder = TraceBuilder::new(info(1, 64)).unwrap();
        builder.define(add).unwrap();
        builder.define(barrier).unwrap();
        builder.add_tb(tb).unwrap();
        builder.finish().unwrap()
    };
    assert_eq!(trace(&turns), trace(&whole));
    assert_eq!(trace(&turns).warp_insts(), 4);
}

#[test]
fn geometry_and_content_must_agree() {
    assert!(matches!(TraceBuilder::new(info(0, 32)), Err(TraceError::Empty { .. })));
    let mut builder = TraceBuilder::new(info(2, 64)).unwrap();
    assert!(matches!(builder.add_tb(&TbRecorder::new()), Err(TraceError::WarpCount { found: 0, expected: 2, .. })));
    assert!(matches!(builder.finish(), Err(TraceError::TbCount { found: 0, expected: 2 })));
}
