//! Whole small kernels: divergence, loops, barriers, and everything that ends in an error.

use super::*;
use crate::memory::Buffer;
use crate::warp::{Event, Unobserved};
use proptest::prelude::*;

const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.shared .align 4 .b8 s[256];\n\
ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";

/// Line of the first line of a test's own text.
const FIRST_LINE: u32 = 14;

fn program(body: &str) -> Program {
    Program::parse("t.ptx", &format!("{HEAD}{body}\n}}\n"), "k").unwrap_or_else(|e| panic!("{e}"))
}

fn run_with(program: &Program, threads: u32, words: usize, observer: &mut impl Observer) -> Result<Vec<u32>, ExecError> {
    let mut device = DeviceMemory::new();
    let out: Buffer = device.allocate(vec![0; words]);
    let launch =
        Launch { grid: [1, 1, 1], block: [threads, 1, 1], args: vec![Arg::U64(out.address)], shared_bytes: 0, ..Launch::default() };
    TbRunner::new(program, &launch, &device)?.limit(10_000).run(0, observer)?;
    Ok(device.words(out).collect())
}

fn run(body: &str, threads: u32) -> Result<Vec<u32>, ExecError> {
    run_with(&program(body), threads, threads as usize, &mut Unobserved)
}

#[derive(Default)]
struct Masks(Vec<(u32, u32)>);

impl Observer for Masks {
    fn executed(&mut self, event: Event<'_>) {
        self.0.push((event.pc, event.mask));
    }
}

/// Each lane counts the Collatz steps of its number: loops of different length with a branch
/// inside.
const COLLATZ: &str = "add.s32 %r2, %r1, 1;\nmov.u32 %r3, 0;\n\
LOOP: setp.eq.u32 %p1, %r2, 1;\n@%p1 bra DONE;\nand.b32 %r4, %r2, 1;\nsetp.eq.b32 %p2, %r4, 0;\n@%p2 bra EVEN;\n\
mad.lo.s32 %r2, %r2, 3, 1;\nbra NEXT;\nEVEN: shr.u32 %r2, %r2, 1;\nNEXT: add.s32 %r3, %r3, 1;\nbra LOOP;\n\
DONE: st.global.u32 [%rd3], %r3;\nret;";

fn collatz(mut n: u32) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

#[test]
fn divergent_loops_give_each_lane_its_own_result() {
    let expected: Vec<u32> = (1..=77).map(collatz).collect();
    assert_eq!(run(COLLATZ, 77).unwrap(), expected);
}

#[test]
fn lanes_meet_again_at_the_post_dominator() {
    let program = program(COLLATZ);
    let mut masks = Masks::default();
    run_with(&program, 32, 32, &mut masks).unwrap();
    let store = program.insts.iter().position(|i| i.opcode.starts_with("st.")).unwrap() as u32;
    let stores: Vec<u32> = masks.0.iter().filter(|(pc, _)| *pc == store).map(|(_, mask)| *mask).collect();
    assert_eq!(stores, [u32::MAX], "one store by the whole warp");
    // The step counter is incremented once per round by all lanes still looping: as often as the
    // longest lane needs.
    let adds = masks.0.iter().filter(|(pc, _)| *pc == store - 2).count() as u32;
    assert_eq!(adds, (1..=32).map(collatz).max().unwrap());
}

#[test]
fn early_exit_and_predication() {
    let body =
        "setp.ge.u32 %p1, %r1, 20;\n@%p1 exit;\nsetp.lt.u32 %p2, %r1, 10;\n@%p2 st.global.u32 [%rd3], 5;\n@!%p2 st.global.u32 [%rd3], 7;";
    let expected: Vec<u32> = (0..40)
        .map(|i| {
            if i >= 20 {
                0
            } else if i < 10 {
                5
            } else {
                7
            }
        })
        .collect();
    assert_eq!(run(body, 40).unwrap(), expected);
}

#[test]
fn barriers_order_shared_memory_across_warps() {
    // Each thread writes its slot and reads the mirrored one, which another warp wrote.
    let body = "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n\
        sub.s32 %r5, 252, %r2;\nadd.s32 %r5, %r5, %r3;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3], %r6;\nret;";
    assert_eq!(run(body, 64).unwrap(), (0..64).rev().collect::<Vec<u32>>());
}

#[test]
fn warps_that_have_ended_are_not_waited_for() {
    let body = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra OUT;\nbar.sync 0;\nst.global.u32 [%rd3], 9;\nOUT: ret;";
    let expected: Vec<u32> = (0..64).map(|i| if i < 32 { 0 } else { 9 }).collect();
    assert_eq!(run(body, 64).unwrap(), expected);
}

#[test]
fn a_label_at_the_very_end_returns() {
    let mut masks = Masks::default();
    let program = program("setp.lt.u32 %p1, %r1, 9;\n@%p1 bra END;\nst.global.u32 [%rd3], 1;\nret;\nEND:");
    let found = run_with(&program, 32, 32, &mut masks).unwrap();
    assert_eq!(found, (0..32).map(|i| u32::from(i >= 9)).collect::<Vec<_>>());
    assert!(program.insts[masks.0.last().unwrap().0 as usize].op.is_exit());
}

#[test]
fn faults_name_everything() {
    let error = run("st.global.u32 [%rd3+12], 1;\nret;", 40).unwrap_err();
    assert!(matches!(&error, ExecError::Access { thread: [37, 0, 0], line: FIRST_LINE, bytes: 4, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("t.ptx:14: kernel `k`, TB [0, 0, 0], thread [37, 0, 0]: out of bounds global access of 4 bytes at"), "{text}");
    let text = run("ld.shared.u32 %r2, [s+2];", 32).unwrap_err().to_string();
    assert!(text.contains("misaligned shared access of 4 bytes at address 0x2"), "{text}");
}

/// Of 40 threads, 37 reverse their numbers through shared memory; the other three have ended, or
/// are about to.
#[test]
fn threads_that_return_before_a_barrier_are_not_waited_for() {
    let work = "shl.b32 %r5, %r1, 2;\nmov.u32 %r6, s;\nadd.u32 %r7, %r6, %r5;\nst.shared.u32 [%r7], %r1;\nbar.sync 0;\n\
        sub.u32 %r8, %r6, %r5;\nld.shared.u32 %r9, [%r8+144];\nst.global.u32 [%rd3], %r9;\n";
    let more = "setp.ge.u32 %p1, %r1, 37;\n";
    for (others, body) in [
        (0, format!("{more}@%p1 bra L;\n{work}L: ret;")),
        (0, format!("{more}@!%p1 bra L;\nret;\nL: {work}ret;")),
        (0, format!("{more}@%p1 ret;\n{work}ret;")),
        (0, format!("{more}@%p1 exit;\n{work}")),
        // They end later, and what they do before has no barrier.
        (99, format!("{more}mov.u32 %r9, 99;\n@%p1 bra L;\n{work}L: st.global.u32 [%rd3], %r9;\nret;")),
        // The three threads are in a separate branch that ends elsewhere.
        (5, format!("{more}@%p1 bra L;\n{work}ret;\nL: st.global.u32 [%rd3], 5;\nret;")),
        // The same barrier is on both sides.
        (7, format!("{more}@!%p1 bra L;\nbar.sync 0;\nst.global.u32 [%rd3], 7;\nret;\nL: {work}ret;")),
        // A loop with different iterations: thread i leaves it after i iterations of a barrier.
        (
            8,
            format!(
                "{more}@!%p1 bra W;\nmov.u32 %r4, 0;\nst.global.u32 [%rd3], 8;\n\
            N: setp.ge.u32 %p2, %r4, %r1;\n@%p2 bra E;\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\nbra N;\nE: ret;\nW: {work}ret;"
            ),
        ),
    ] {
        let expected: Vec<u32> = (0..40).map(|i| if i < 37 { 36 - i } else { others }).collect();
        assert_eq!(run(&body, 40).unwrap(), expected, "{body}");
    }
}

#[test]
fn lanes_leave_a_loop_with_a_barrier_one_after_the_other() {
    let body = "mov.u32 %r4, 0;\nN: setp.ge.u32 %p2, %r4, %r1;\n@%p2 bra E;\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\nbra N;\n\
        E: st.global.u32 [%rd3], %r4;\nret;";
    assert_eq!(run(body, 50).unwrap(), (0..50).collect::<Vec<_>>());
}

#[test]
fn endless_loops_and_broken_barriers_are_errors() {
    let text = run("L: bra L;", 32).unwrap_err().to_string();
    let expected = "t.ptx:14: kernel `k`, TB [0, 0, 0], warp 0: still running after 10000 instructions, in line 14; if it needs more, \
        raise `warp_instructions` in the table [limits] of its file; a thread that waits for another of its warp, or for a later TB, waits \
        forever here";
    assert_eq!(text, expected);
    let text = run("setp.lt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbar.sync 0;\nL: bar.sync 0;\nret;", 32).unwrap_err().to_string();
    assert!(text.contains("only a part of the warp"), "{text}");
    let text = run("setp.lt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbar.sync 0;\nret;\nL: bar.sync 1;\nret;", 32).unwrap_err().to_string();
    assert!(text.contains("only a part of the warp"), "{text}");
    let text = run("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra L;\nbar.sync 0;\nret;\nL: bar.sync 1;\nret;", 64).unwrap_err().to_string();
    assert!(text.ends_with("the TB hangs: waiting: warp 0 at barrier 1 in line 18; warp 1 at barrier 0 in line 16"), "{text}");
}

#[test]
fn arguments_and_geometry_are_checked() {
    let program = program("ret;");
    let device = DeviceMemory::new();
    let error = |grid, block, args| {
        let launch = Launch { grid, block, args, shared_bytes: 0, ..Launch::default() };
        TbRunner::new(&program, &launch, &device).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let ok = vec![Arg::U64(0)];
    assert_eq!(error([1, 1, 1], [32, 1, 1], ok.clone()), "");
    assert!(error([1, 1, 1], [32, 1, 1], vec![]).contains("0 arguments, the entry takes 1"));
    assert!(error([1, 1, 1], [32, 1, 1], vec![Arg::F32(1.0)]).contains("argument 1 has 4 bytes, parameter `out` has 8"));
    assert!(error([0, 1, 1], [32, 1, 1], ok.clone()).contains("no axis may be zero"));
    assert!(error([1, 1, 1], [32, 33, 1], ok).contains("at most 1024"));
}

#[path = "launch_warp_tests.rs"]
mod warp_tests;

proptest! {
    /// Nested divergence against a scalar run of the same decisions.
    #[test]
    fn nested_branches(a in 0u32..40, b in 0u32..40, c in 1u32..5, threads in 1u32..80) {
        let body = format!(
            "mov.u32 %r3, 0;\nsetp.lt.u32 %p1, %r1, {a};\n@%p1 bra X;\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r1, {b};\n@!%p2 bra Y;\n\
             add.s32 %r3, %r3, 10;\nbra Y;\nX: add.s32 %r3, %r3, 100;\nsetp.gt.u32 %p3, %r1, {b};\n@%p3 bra Z;\nadd.s32 %r3, %r3, 1000;\n\
             Y: mov.u32 %r4, 0;\nW: add.s32 %r4, %r4, {c};\nadd.s32 %r3, %r3, 10000;\nsetp.lt.u32 %p4, %r4, %r1;\n@%p4 bra W;\n\
             Z: st.global.u32 [%rd3], %r3;\nret;"
        );
        let expected: Vec<u32> = (0..threads).map(|i| {
            let mut v = 0;
            if i < a {
                v += 100;
                if i > b { return v; }
                v += 1000;
            } else {
                v += 1;
                if i < b { v += 10; }
            }
            v + 10000 * i.div_ceil(c).max(1)
        }).collect();
        prop_assert_eq!(run(&body, threads).unwrap(), expected);
    }
}
