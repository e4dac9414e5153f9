//! Tests of the trace file: random traces, damage of every byte, and sections forged with right
//! checksums.

mod damage;
mod round_trip;

use super::{Launch, TraceFile};
use crate::accelsim::Warnings;
use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_warp_trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder};
use proptest::prelude::*;
use std::sync::Arc;

/// One executed instruction: which of [`statics`], active lanes, and what the addresses are made
/// of.
type Executed = (usize, u32, u64, i64);

fn statics() -> Vec<StaticInst> {
    let at = StaticInst::new;
    vec![
        at(0, Class::Sp).writes(4).reads(&[4, 5, 6]),
        at(16, Class::Sp).writes(4).reads(&[4, 5, 6]),
        at(32, Class::Int).writes(255).reads(&[1, 2, 3, 255]),
        at(u32::MAX, Class::Barrier),
        at(48, Class::Load(Space::Global)).writes(9).reads(&[2]).width(4),
        StaticInst { bypass_l1: true, ..at(64, Class::Load(Space::Global)).writes(9).width(16) },
        at(80, Class::Store(Space::Local)).reads(&[1, 7]).width(1),
        at(96, Class::Atomic(Space::Global)).width(8),
        at(112, Class::Load(Space::Shared)).writes(3).width(4),
        at(128, Class::Load(Space::Constant)).writes(3),
        at(128, Class::Exit),
    ]
}

fn executed() -> impl Strategy<Value = Executed> {
    let lanes = prop_oneof![4 => Just(32u32), 1 => 0u32..=32];
    let base = prop_oneof![0u64..1 << 20, (1u64 << 40)..(1 << 57)];
    let stride = prop_oneof![Just(4i64), Just(0), -64i64..64, -100_000i64..100_000];
    (0..statics().len(), lanes, base, stride)
}

/// Generates TBs that run one of a few programs, TB by TB at other addresses, so that predictions
/// hold and fail.
fn kernel() -> impl Strategy<Value = KernelTrace> {
    let programs = prop::collection::vec(prop::collection::vec(executed(), 0..24), 1..4);
    let tbs = prop::collection::vec((prop::collection::vec(0usize..4, 2), 0u64..1 << 20), 1..6);
    (programs, tbs, 33u32..=64).prop_map(|(programs, tbs, threads)| {
        let grid = [tbs.len() as u32, 1, 1];
        let info = KernelInfo { name: "k<µ>".into(), grid, block: [threads, 1, 1], registers_per_thread: 40, shared_bytes: 64 };
        let mut builder = TraceBuilder::new(info).unwrap();
        let indices: Vec<u16> = statics().into_iter().map(|inst| builder.define(inst).unwrap()).collect();
        for (warps, offset) in &tbs {
            let mut recorder = TbRecorder::new();
            for (warp, &program) in warps.iter().enumerate() {
                recorder.warp();
                for &(inst, lanes, base, stride) in &programs[program % programs.len()] {
                    let base = base + offset + 4096 * warp as u64 + (1 << 22);
                    let addresses: Vec<u64> = (0..i64::from(lanes)).map(|lane| base.wrapping_add_signed(lane * stride)).collect();
                    let accesses = statics()[inst].class.space().is_some_and(|space| space != Space::Constant);
                    recorder.inst(indices[inst], &statics()[inst], lanes, if accesses { &addresses } else { &[] });
                }
            }
            builder.add_tb(&recorder).unwrap();
        }
        builder.finish().unwrap()
    })
}

fn file() -> impl Strategy<Value = TraceFile> {
    (prop::collection::vec(kernel(), 1..3), any::<bool>()).prop_map(|(traces, warned)| {
        let mut warnings = Warnings::new();
        if warned {
            warnings.unknown_opcode("FROB", 300);
        }
        let launch = |(stream, trace): (usize, KernelTrace)| Launch { stream: stream as u32, trace: Arc::new(trace) };
        TraceFile { name: "list".into(), warnings, launches: traces.into_iter().enumerate().map(launch).collect() }
    })
}

/// Creates two TBs of a warp each that read and write 128 bytes in a loop of three, the second TB 4
/// KiB on.
fn small() -> TraceFile {
    let info = KernelInfo { name: "k".into(), grid: [2, 1, 1], block: [32, 1, 1], registers_per_thread: 16, shared_bytes: 0 };
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(1).width(4);
    let store = StaticInst::new(16, Class::Store(Space::Global)).reads(&[1]).width(4);
    let mut builder = TraceBuilder::new(info).unwrap();
    let indices = [load, store].map(|inst| builder.define(inst).unwrap());
    for tb in 0..2u64 {
        let mut recorder = TbRecorder::new();
        recorder.warp();
        for turn in 0..3 {
            for (&index, inst) in indices.iter().zip([load, store]) {
                let lanes: Vec<u64> = (0..32).map(|lane| 4096 * (tb + 1) + 128 * turn + 4 * lane).collect();
                recorder.inst(index, &inst, 32, &lanes);
            }
        }
        builder.add_tb(&recorder).unwrap();
    }
    let trace = Arc::new(builder.finish().unwrap());
    TraceFile { name: "small".into(), warnings: Warnings::new(), launches: vec![Launch { stream: 0, trace }] }
}
