//! PTX written by hand, for what nvcc 11.8 does not make of our sources: lists of branches, guarded
//! calls and returns, overlapping accesses of a call's structure, reductions at barriers, module
//! variables of all kinds.

use super::harness::{Device, count, row};
use mias_ptx::lower::record::RecordError;
use mias_ptx::{Arg, Program};
use mias_warp_trace::KernelTrace;
use mias_warp_trace::isa::{Class, Space};
use proptest::prelude::*;

pub(crate) const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// Returns a kernel `k(out)` with `%r1` the thread and `%rd3` the address of its word; `before`
/// stands outside of it.
pub(crate) fn kernel(before: &str, body: &str) -> String {
    format!(
        "{HEAD}{before}\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n\
         .shared .align 4 .b8 s[256];\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
         {body}\nst.global.u32 [%rd3], %r3;\nret;\n}}\n"
    )
}

pub(crate) fn run(before: &str, body: &str, threads: u32) -> Result<(Vec<i32>, KernelTrace), RecordError> {
    let program = Program::parse("k.ptx", &kernel(before, body), "k").unwrap_or_else(|e| panic!("{e}"));
    let mut device = Device::default();
    let out = device.zeros(4 * threads as usize);
    let trace = device.run(&program, row(1, threads), &[Arg::U64(out)])?;
    Ok((device.read_ints(out, threads as usize), trace))
}

fn results(before: &str, body: &str, threads: u32) -> Vec<i32> {
    run(before, body, threads).unwrap_or_else(|e| panic!("{e}")).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Each lane takes the branch that its number says, by a table in any order; all meet behind
    /// it.
    #[test]
    fn branches_by_a_list(table in prop::collection::vec(0usize..4, 8), threads in 1u32..70) {
        let names: Vec<String> = table.iter().map(|t| format!("L{t}")).collect();
        let body = format!(
            "T: .branchtargets {};\nmov.u32 %r3, 1;\nand.b32 %r2, %r1, 7;\nbrx.idx %r2, T;\nL0: add.u32 %r3, %r3, 10;\nbra END;\n\
             L1: add.u32 %r3, %r3, 100;\nL2: add.u32 %r3, %r3, 1000;\nbra END;\nL3: mul.lo.u32 %r3, %r1, 3;\nEND: activemask.b32 %r4;\n\
             popc.b32 %r4, %r4;\nmul.lo.u32 %r4, %r4, 100000;\nadd.u32 %r3, %r3, %r4;",
            names.join(", ")
        );
        let expected: Vec<i32> = (0..threads).map(|i| {
            let value = match table[i as usize & 7] { 0 => 11, 1 => 1101, 2 => 1001, _ => 3 * i };
            (value + 100_000 * (threads - i / 32 * 32).min(32)) as i32
        }).collect();
        prop_assert_eq!(results("", &body, threads), expected);
    }

    /// A guarded call, a guarded return, a loop with an early return, and a call within a call,
    /// against the same in Rust.
    #[test]
    fn calls_in_some_lanes_only(bound in 0u32..40, stop in 1u32..9, threads in 1u32..70) {
        let functions = format!(
            ".func (.param .u32 r) twice(.param .u32 a);\n\
             .func (.param .u32 r) f(.param .u32 a)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\nld.param.u32 %r1, [a];\nmov.u32 %r2, 0;\nst.param.u32 [r], 7;\n\
             setp.eq.u32 %p1, %r1, 3;\n@%p1 ret;\nL: add.u32 %r2, %r2, %r1;\nst.param.u32 [r], %r2;\nsetp.gt.u32 %p1, %r2, {stop}0;\n@%p1 ret;\n\
             {{ .param .u32 x; .param .u32 y;\nst.param.u32 [x], %r1;\ncall.uni (y), twice, (x);\nld.param.u32 %r1, [y]; }}\n\
             setp.lt.u32 %p2, %r1, 50;\n@%p2 bra L;\nadd.u32 %r2, %r2, 1000;\nst.param.u32 [r], %r2;\n}}\n\
             .func (.param .u32 r) twice(.param .u32 a)\n{{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\nmad.lo.u32 %r2, %r1, 2, 1;\nst.param.u32 [r], %r2;\nret;\n}}"
        );
        let body = format!(
            "mov.u32 %r3, 5;\nsetp.lt.u32 %p1, %r1, {bound};\n{{ .param .u32 a0; .param .u32 v;\nst.param.u32 [a0], %r1;\nst.param.u32 [v], 1;\n\
             @!%p1 call (v), f, (a0);\nld.param.u32 %r3, [v]; }}"
        );
        let f = |mut a: u32| {
            let mut sum = 0;
            if a == 3 { return 7; }
            loop {
                sum += a;
                if sum > stop * 10 { return sum; }
                a = 2 * a + 1;
                if a >= 50 { return sum + 1000; }
            }
        };
        let expected: Vec<i32> = (0..threads).map(|i| if i < bound { 1 } else { f(i) as i32 }).collect();
        prop_assert_eq!(results(&functions, &body, threads), expected);
    }

    /// Each 64-bit update by all threads on one place of shared, global, or generic memory, against
    /// its definition; and in halves.
    #[test]
    fn atomics_beyond_words(start: i64, k in 1i64..i64::MAX, threads in 1u32..70, place in 0usize..3) {
        let at = ["mov.u64 %rd4, wide;", "mov.u64 %rd4, far;", "mov.u64 %rd4, wide;\ncvta.shared.u64 %rd4, %rd4;"][place];
        let space = [".shared", ".global", ""][place];
        let module = ".shared .align 8 .b8 wide[8];\n.global .u64 far;";
        let one = |op: &str, operand: &str, read: &str| {
            let body = format!(
                "{at}\nst{space}.u64 [%rd4], {start};\ncvt.u64.u32 %rd5, %r1;\nmul.lo.u64 %rd6, %rd5, {k};\nand.b32 %r5, %r1, 31;\nmov.u64 %rd7, 1;\n\
                 shl.b64 %rd7, %rd7, %r5;\nbar.sync 0;\nred{space}.{op} [%rd4], {operand};\nbar.sync 0;\nld{space}.u64 %rd8, [%rd4];\n{read}"
            );
            results(module, &body, threads)[0]
        };
        let whole = |op: &str, operand: &str| {
            let low = one(op, operand, "cvt.u32.u64 %r3, %rd8;") as u32;
            i64::from(one(op, operand, "shr.u64 %rd8, %rd8, 32;\ncvt.u32.u64 %r3, %rd8;")) << 32 | i64::from(low)
        };
        let values: Vec<i64> = (0..i64::from(threads)).map(|i| i.wrapping_mul(k)).collect();
        let unsigned = |pick: fn(u64, u64) -> u64| values.iter().fold(start as u64, |a, &b| pick(a, b as u64)) as i64;
        prop_assert_eq!(whole("add.u64", "%rd6"), values.iter().fold(start, |a, &b| a.wrapping_add(b)));
        prop_assert_eq!(whole("min.s64", "%rd6"), values.iter().fold(start, |a, &b| a.min(b)));
        prop_assert_eq!(whole("max.s64", "%rd6"), values.iter().fold(start, |a, &b| a.max(b)));
        prop_assert_eq!(whole("min.u64", "%rd6"), unsigned(u64::min));
        prop_assert_eq!(whole("max.u64", "%rd6"), unsigned(u64::max));
        let bits = (0..threads.min(32)).fold(0, |bits, i| bits | 1i64 << i);
        prop_assert_eq!(whole("or.b64", "%rd7"), start | bits);
        // Small whole numbers add exactly in every format.
        let small = start & 15;
        let sum = |op: &str, one: u64, read: &str, first: u64| {
            let body = format!(
                "{at}\nst{space}.u64 [%rd4], {first};\nmov.u64 %rd6, {one};\ncvt.u32.u64 %r6, %rd6;\ncvt.u16.u32 %rs1, %r6;\nbar.sync 0;\n\
                 red{space}.{op};\nbar.sync 0;\n{read}"
            );
            results(module, &body, threads)[0]
        };
        let expected = small as i32 + threads as i32;
        let double = format!("ld{space}.f64 %rd8, [%rd4];\ncvt.rzi.s32.f64 %r3, %rd8;");
        prop_assert_eq!(sum("add.f64 [%rd4], %rd6", 1f64.to_bits(), &double, (small as f64).to_bits()), expected);
        let single = format!("ld{space}.u32 %r4, [%rd4];\ncvt.rzi.s32.f32 %r3, %r4;");
        prop_assert_eq!(sum("add.f32 [%rd4], %r6", u64::from(1f32.to_bits()), &single, u64::from((small as f32).to_bits())), expected);
        let halves = format!("ld{space}.v2.u16 {{%rs2, %rs3}}, [%rd4];\ncvt.rzi.s32.f16 %r4, %rs2;\ncvt.rzi.s32.f16 %r5, %rs3;\nmad.lo.s32 %r3, %r5, 1000, %r4;");
        prop_assert_eq!(sum("add.noftz.f16x2 [%rd4], %r6", 0x4000_3c00, &halves, 0), threads as i32 * 2001);
        prop_assert_eq!(sum("add.noftz.f16 [%rd4], %rs1", 0x3c00, &halves, 0), threads as i32);
        // One thread finds what it looks for.
        let swap = sum("or.b32 [%rd4], 0", 0, &format!("atom{space}.cas.b16 %rs2, [%rd4+2], 0, 9;\nsetp.eq.s16 %p1, %rs2, 0;\nbar.red.popc.u32 %r3, 0, %p1;"), 0);
        prop_assert_eq!(swap, 1);
    }

    /// Reductions over the threads of several warps at a barrier.
    #[test]
    fn reductions_at_barriers(bound in 0u32..70, threads in 1u32..70) {
        let body = format!(
            "setp.lt.u32 %p1, %r1, {bound};\nmov.u32 %r5, 3;\nbar.red.popc.u32 %r3, %r5, %p1;\nbar.red.and.pred %p2, 1, %p1;\nbarrier.cta.red.or.pred %p3, 0, !%p1;\n\
             @%p2 add.u32 %r3, %r3, 1000;\n@%p3 add.u32 %r3, %r3, 10000;"
        );
        let yes = bound.min(threads);
        let all = if yes == threads { 1000 } else { 10_000 };
        prop_assert_eq!(results("", &body, threads), vec![(yes + all) as i32; threads as usize]);
    }
}

/// A structure that the caller fills word by word and the function reads in halves and doubles goes
/// by local memory; one that both sides see alike goes by registers.
#[test]
fn structures_that_are_seen_in_different_ways() {
    let take = |load: &str| {
        format!(
            ".func (.param .b32 r) take(.param .align 8 .b8 a[16])\n{{\n.reg .b16 %h;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n{load}\nst.param.b32 [r], %r1;\nret;\n}}"
        )
    };
    let body = "{ .param .align 8 .b8 x[16]; .param .b32 y;\nst.param.v2.b32 [x], {%r1, 77};\nst.param.b32 [x+8], -9;\nst.param.b32 [x+12], 1;\n\
        call (y), take, (x);\nld.param.b32 %r3, [y]; }";
    let (found, trace) = run(&take("ld.param.b32 %r1, [a+8];\nld.param.b32 %r2, [a+4];\nadd.u32 %r1, %r1, %r2;"), body, 32).unwrap();
    assert_eq!((found, count(&trace, Class::Store(Space::Local))), (vec![68; 32], 0));
    // The lower part of a register is one, too.
    let (found, trace) = run(&take("ld.param.s8 %r1, [a+8];"), body, 32).unwrap();
    assert_eq!((found, count(&trace, Class::Store(Space::Local))), (vec![-9; 32], 0));
    let whole = "ld.param.u64 %rd1, [a+8];\nshr.u64 %rd1, %rd1, 16;\ncvt.u32.u64 %r1, %rd1;\nld.param.u16 %h, [a+6];\n";
    let (found, trace) = run(&take(whole), body, 32).unwrap();
    assert_eq!((found, count(&trace, Class::Store(Space::Local))), (vec![0x1_ffff; 32], 3));
    assert_eq!(count(&trace, Class::Load(Space::Local)), 2);
}

#[test]
fn module_variables_of_every_form() {
    let module = ".global .align 4 .u32 square[2][3] = {{1, 2}, {3, 4, 5}};\n.global .u16 few[] = {7, -8, 9};\n\
        .const .f32 half = 0f3F000000;\n.global .align 8 .b8 bytes[4] = {0xFF(far), 0xFF00(far), 0x7, -1};\n.global .u32 far;\n\
        .global .u64 inside = square+16;\n.global .u64 other = generic(few)+2;\n.shared .align 8 .b8 common[64];\n.extern .shared .align 16 .b8 open[];";
    let load = |body: &str| results(module, body, 1)[0];
    for (at, value) in [1, 2, 0, 3, 4, 5].into_iter().enumerate() {
        assert_eq!(load(&format!("ld.global.u32 %r3, [square+{}];", 4 * at)), value, "{at}");
    }
    assert_eq!(load("ld.global.s16 %r3, [few+2];"), -8);
    assert_eq!(load("ld.const.b32 %r3, [half];"), 0x3f00_0000);
    assert_eq!(load("ld.global.u64 %rd4, [inside];\nld.u32 %r3, [%rd4];"), 4);
    assert_eq!(load("ld.global.u64 %rd4, [other];\nld.global.s16 %r3, [%rd4+2];"), 9);
    assert_eq!(
        load("mov.u64 %rd4, far;\nld.global.u16 %r4, [bytes];\ncvt.u32.u64 %r5, %rd4;\nxor.b32 %r3, %r4, %r5;\nand.b32 %r3, %r3, 0xffff;"),
        0
    );
    assert_eq!(load("ld.global.u16 %r3, [bytes+2];"), 0xff07);
    // Static first, then what the launch adds, as far as the kernel names it.
    assert_eq!(load("mov.u32 %r3, common;"), 256);
    assert_eq!(load("mov.u32 %r4, common;\nmov.u32 %r5, open;\nsub.u32 %r3, %r5, %r4;"), 64);
}

/// A kernel's structure, read at a place that each thread chooses.
#[test]
fn parameters_by_address() {
    let text = format!(
        "{HEAD}.entry k(.param .u64 out, .param .align 4 .b8 list[64])\n{{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [out];\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.b64 %rd4, list;\nadd.s64 %rd5, %rd4, %rd2;\n\
         ld.param.u32 %r2, [%rd5];\ncvta.param.u64 %rd6, %rd4;\nadd.s64 %rd6, %rd6, %rd2;\nld.u32 %r3, [%rd6+4];\nsub.u32 %r2, %r3, %r2;\n\
         st.global.u32 [%rd3], %r2;\nret;\n}}\n"
    );
    let program = Program::parse("k.ptx", &text, "k").unwrap();
    let mut device = Device::default();
    let out = device.zeros(60);
    let squares = (0..16u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    let trace = device.run(&program, row(1, 15), &[Arg::U64(out), Arg::Bytes(squares)]).unwrap();
    assert_eq!(device.read_ints(out, 15), (0..15).map(|i| 2 * i + 1).collect::<Vec<_>>());
    assert_eq!(count(&trace, Class::Load(Space::Constant)), 2);
}

#[test]
fn wide_registers_hold_narrow_loads() {
    let body = "st.shared.u32 [s], -5;\nld.shared.s32 %rd4, [s];\nld.shared.u8 %rd5, [s];\nst.shared.u16 [s+4], %rd4;\nld.shared.v2.u16 {_, %rs1}, [s+4];\n\
        ld.shared.u16 %r4, [s+4];\nadd.s64 %rd6, %rd4, %rd5;\nadd.s64 %rd6, %rd6, 10;\ncvt.u32.u64 %r3, %rd6;\nadd.u32 %r3, %r3, %r4;";
    assert_eq!(results("", body, 3), [-5 + 251 + 10 + 0xfffb; 3]);
}

#[test]
fn quarters_and_bytes_pack_and_unpack() {
    let body = "mov.b32 %r4, 0x11223344;\nmov.b32 {%rs1, %rs2}, %r4;\nmov.b16 {%rs3, %rs4}, %rs1;\nmov.b16 %rs5, {%rs4, %rs3};\n\
        mov.b64 %rd4, {%rs1, %rs2, %rs5, %rs1};\nmov.b64 {%rs1, %rs6, %rs7, %rs3}, %rd4;\nmov.b32 %r3, {%rs7, %rs6};";
    assert_eq!(results("", body, 1), [0x1122_4433]);
}

#[test]
fn time_is_what_the_warp_has_executed() {
    let body = "mov.u64 %rd4, %clock64;\nmov.u32 %r5, %clock;\nmov.u32 %r6, %clock;\nsub.u32 %r3, %r6, %r5;";
    assert_eq!(results("", body, 2), [1, 1]);
}
