//! Profile counts against arithmetic: a hand-made trace, and the algorithms of `kernels/`.

use super::*;
use mias_warp_trace::isa::StaticInst;
use mias_warp_trace::{KernelInfo, TbRecorder, TraceBuilder};
use mias_workloads::kernels;

/// Creates one warp that executes these with all lanes, lane `l` at its address.
fn traced(steps: &[(Class, &dyn Fn(u64) -> u64)]) -> KernelTrace {
    let info = KernelInfo { name: "k".into(), grid: [1; 3], block: [32, 1, 1], registers_per_thread: 1, shared_bytes: 0 };
    let mut builder = TraceBuilder::new(info).unwrap();
    let mut tb = TbRecorder::new();
    tb.warp();
    for (pc, (class, address)) in (0u32..).zip(steps) {
        let width = if class.space().is_some() { 4 } else { 0 };
        let inst = StaticInst::new(16 * pc, *class).width(width);
        let index = builder.define(inst).unwrap();
        let addresses: Vec<u64> = if class.space().is_some() { (0..32).map(address).collect() } else { Vec::new() };
        tb.inst(index, &inst, 32, &addresses);
    }
    builder.add_tb(&tb).unwrap();
    builder.finish().unwrap()
}

const LOAD: Class = Class::Load(Space::Global);
const STORE: Class = Class::Store(Space::Global);

fn apart(lane: u64) -> u64 {
    0x1_0000 + 128 * lane
}

fn side_by_side(lane: u64) -> u64 {
    0x4_0000 + 4 * lane
}

/// Returns the addresses of 32 adjacent lanes across a line's boundary.
fn misaligned(lane: u64) -> u64 {
    0x8_0040 + 4 * lane
}

#[test]
fn a_hand_made_warp_is_counted_by_hand() {
    let shared = Class::Load(Space::Shared);
    let trace = traced(&[(LOAD, &apart), (LOAD, &side_by_side), (shared, &side_by_side), (Class::Sp, &apart), (STORE, &misaligned)]);
    let profile = Profile::of(&trace, 128);
    assert_eq!((profile.warps, profile.warp_insts, profile.thread_insts), (1, 5, 160));
    assert_eq!(profile.lines, 32 + 1 + 2);
    assert_eq!((profile.sectors, profile.load_sectors, profile.bytes), (32 + 4 + 4, 36, 3 * 128));
    assert_eq!(profile.compute_per_memory(), Some(1.0 / 4.0));
    assert_eq!(profile.requests_per_memory(), Some(35.0 / 3.0));
    assert_eq!(profile.load_sectors_per_kilo(), Some(7200.0));
    assert_eq!((profile.share(Kind::Load), profile.share(Kind::Fp64)), (Some(0.4), Some(0.0)));
    assert_eq!(Profile::of(&trace, 32).lines, profile.sectors, "a line of one sector");
}

#[test]
fn what_reads_and_writes_the_same_bytes_is_not_idempotent() {
    let idempotent = |steps: &[(Class, &dyn Fn(u64) -> u64)]| Profile::of(&traced(steps), 128).idempotent;
    assert!(idempotent(&[(LOAD, &apart), (STORE, &side_by_side)]));
    assert!(!idempotent(&[(LOAD, &apart), (STORE, &apart)]));
    assert!(!idempotent(&[(STORE, &apart), (LOAD, &apart)]), "another run would find what this one left");
    assert!(idempotent(&[(LOAD, &apart), (STORE, &|lane| apart(lane) + 4)]), "the same sectors, other bytes");
    assert!(!idempotent(&[(Class::Atomic(Space::Global), &apart)]));
    assert!(idempotent(&[(Class::Load(Space::Local), &apart), (Class::Store(Space::Local), &apart)]), "a thread's own");
}

#[test]
fn no_instruction_has_no_ratio() {
    let profile = Profile::of(&traced(&[]), 128);
    assert_eq!((profile.insts_per_warp(), profile.lanes_per_inst(), profile.compute_per_memory()), (Some(0.0), None, None));
    assert_eq!((profile.requests_per_memory(), profile.load_sectors_per_kilo(), profile.sector_use()), (None, None, None));
}

/// By the sources: fwt has 4 + 4 accesses of a line and 42 instructions, blk 3 + 2 of two lines. mm
/// has, per TB and tile step, two accesses of two rows of 64 bytes, and one store at the end. bfs
/// writes flags that it reads.
#[test]
fn the_kernels_access_what_their_sources_say() {
    let of = |name: &str, size| {
        let trace = kernels::trace(kernels::find(name).unwrap(), size, 1).unwrap();
        let profile = Profile::of(&trace, 128);
        assert_eq!(profile.mix.iter().sum::<u64>(), profile.warp_insts, "{name}: every instruction is of one kind");
        assert_eq!((profile.warp_insts, profile.thread_insts), (trace.warp_insts(), trace.thread_insts()));
        profile
    };
    let fwt = of("fwt", 4096);
    assert_eq!(fwt.requests_per_memory(), Some(1.0));
    assert_eq!((fwt.compute_per_memory(), fwt.sector_use()), (Some((42.0 - 8.0) / 8.0), Some(1.0)));
    assert!(!fwt.idempotent, "in place");
    let blk = of("blk", 1024);
    assert_eq!((blk.requests_per_memory(), blk.sector_use(), blk.idempotent), (Some(2.0), Some(1.0), true));
    assert_eq!(blk.mix[Kind::Load as usize] / blk.warps, 3);
    let mm = of("mm", 64);
    assert_eq!((mm.requests_per_memory(), mm.idempotent), (Some(2.0), true));
    assert_eq!(mm.mix[Kind::Load as usize] / mm.warps, 2 * 4, "two per tile");
    assert_eq!(mm.mix[Kind::Barrier as usize] / mm.warps, 2 * 4);
    let bfs = of("bfs", 4096);
    assert!(!bfs.idempotent && bfs.sector_use().unwrap() < 0.5 && bfs.requests_per_memory().unwrap() > 2.0);
}
