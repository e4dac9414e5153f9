//! The lowering of the kernels in the repository, and its rules on small texts.

use super::*;
use crate::{Arg, DeviceMemory, Launch};
use mias_warp_trace::KernelInfo;
use mias_warp_trace::isa::ZERO_REG;
use std::ops::ControlFlow;

fn lower(body: &str) -> (Program, Lowered) {
    let text = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n\
         .reg .b64 %rd<40>;\n.shared .align 16 .b8 s[512];\n{body}\n}}\n"
    );
    let program = Program::parse("t.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}"));
    let lowered = Lowered::new(&program);
    (program, lowered)
}

/// Returns the opcodes that remain, in scheduled order.
fn kept(program: &Program, lowered: &Lowered) -> Vec<String> {
    lowered.segments.iter().flat_map(|s| &s.order).map(|&pc| program.insts[pc as usize].opcode.clone()).collect()
}

#[test]
fn copies_constants_and_joins_cost_nothing() {
    let (program, lowered) = lower(
        "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\n\
         mad.lo.s32 %r3, %r1, %r2, %r1;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd2, %rd3;\nmov.u32 %r4, s;\nst.global.u32 [%rd4], %r4;\nret;",
    );
    assert_eq!(kept(&program, &lowered), ["ld.param.u64", "mov.u32", "mad.lo.s32", "add.s64", "st.global.u32", "ret"]);
    let at = |opcode: &str| lowered.statics[program.insts.iter().position(|i| i.opcode == opcode).unwrap()].unwrap();
    // The joined addition waits for the parameter and the thread number; the store for the addition
    // alone.
    let mut expected = [at("ld.param.u64").dst.unwrap(), at("mad.lo.s32").dst.unwrap()];
    let mut sources = at("add.s64").sources().to_vec();
    sources.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sources, expected);
    assert_eq!(at("st.global.u32").sources(), [at("add.s64").dst.unwrap()]);
}

#[test]
fn a_value_defined_twice_is_no_copy() {
    let (program, lowered) =
        lower("mov.u32 %r1, 0;\nL: add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\nst.shared.u32 [s], %r1;\nret;");
    assert_eq!(kept(&program, &lowered), ["mov.u32", "add.s32", "setp.lt.s32", "bra", "st.shared.u32", "ret"]);
    let insts: Vec<StaticInst> = lowered.statics.iter().flatten().copied().collect();
    let counter = insts[0].dst.unwrap();
    assert_eq!((insts[1].dst, insts[1].sources()), (Some(counter), &[counter][..]), "one name over the loop");
    assert_eq!(insts[3].sources(), [insts[2].dst.unwrap()], "the branch waits for its predicate");
    assert_ne!(insts[2].dst, Some(counter));
    assert_eq!(insts[4].sources(), [counter]);
}

#[test]
fn loads_rise_over_arithmetic_but_not_over_stores_and_barriers() {
    let (program, lowered) = lower(
        "ld.shared.f32 %f1, [s];\nadd.f32 %f2, %f1, %f1;\nld.shared.v2.f32 {%f3, %f4}, [s+8];\nadd.f32 %f5, %f3, %f4;\nst.shared.f32 [s+4], %f5;\n\
         ld.shared.f32 %f6, [s+16];\nbar.sync 0;\nld.shared.f32 %f7, [s];\nret;",
    );
    let order = kept(&program, &lowered);
    let expected = ["ld.shared.f32", "ld.shared.v2.f32", "add.f32", "st.shared.f32", "ld.shared.f32", "add.f32", "bar.sync"];
    assert_eq!(order[..7], expected, "the second sum leads to no load");
    let vector = lowered.statics[2].unwrap();
    assert_eq!(lowered.statics[3].unwrap().sources(), [vector.dst.unwrap()], "both halves of a vector have its name");
    assert_eq!((vector.width_bytes, vector.class), (8, Class::Load(Space::Shared)));
}

/// Two values alive at the same time have different names: the test replays scheduled code of
/// straight-line programs symbolically.
#[test]
fn names_carry_the_values_that_the_program_says() {
    let mut body = String::from("mov.u32 %r0, %tid.x;\n");
    for i in 1..30 {
        body += &format!("add.s32 %r{i}, %r{}, %r{};\n", i - 1, i / 2);
    }
    body += "st.shared.u32 [s], %r29;\nret;";
    let (program, lowered) = lower(&body);
    let mut holds = [None; 256];
    for &pc in lowered.segments.iter().flat_map(|s| &s.order) {
        let (inst, lowered) = (&program.insts[pc as usize], lowered.statics[pc as usize].unwrap());
        let mut wanted: Vec<usize> = inst.uses.iter().map(|&r| program.dense(r)).collect();
        wanted.dedup();
        let found: Vec<usize> = lowered.sources().iter().map(|&name| holds[usize::from(name)].unwrap()).collect();
        assert_eq!(found, wanted, "{} at {pc}", inst.opcode);
        if let Some(dst) = lowered.dst {
            assert_ne!(dst, ZERO_REG);
            holds[usize::from(dst)] = Some(program.dense(inst.defs[0]));
        }
    }
}

/// Lanes that leave early do so in a branch; the warp's one exit is its last instruction; what no
/// lane executes has 0 lanes.
#[test]
fn divergence_in_the_trace() {
    let (program, _) = lower(
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nsetp.ge.u32 %p1, %r1, 20;\n\
         @%p1 exit;\nsetp.lt.u32 %p2, %r1, 8;\n@%p2 bra LOW;\nst.global.u32 [%rd3], 1;\nLOW: setp.gt.u32 %p3, %r1, 99;\n\
         @%p3 st.global.u32 [%rd3], 2;\nret;",
    );
    let mut device = DeviceMemory::new();
    let buffer = device.allocate([0; 40]);
    let info = KernelInfo { name: "k".into(), grid: [1, 1, 1], block: [40, 1, 1], registers_per_thread: 8, shared_bytes: 0 };
    let launch = Launch { grid: info.grid, block: info.block, args: vec![Arg::U64(buffer.address)], shared_bytes: 0, ..Launch::default() };
    let trace = record::trace(&program, &launch, &device, info, &mut |_| ControlFlow::Continue(())).unwrap();
    let warp = |number: u32| -> Vec<(Class, u32)> {
        let reference = trace.warp(0, number);
        let range = trace.shape(reference.shape);
        let insts = &trace.shape_insts()[range.start as usize..range.end as usize];
        insts.iter().map(|i| (trace.statics()[i.index()].class, i.lanes())).collect()
    };
    let (int, store) = (Class::Int, Class::Store(Space::Global));
    let head = |lanes| vec![(int, lanes); 4];
    let mut first = head(32);
    first.extend([(Class::Branch, 32), (int, 20), (Class::Branch, 20), (store, 12), (int, 20), (store, 0), (Class::Exit, 20)]);
    assert_eq!(warp(0), first);
    let mut second = head(8);
    second.push((Class::Exit, 8));
    assert_eq!(warp(1), second, "all eight lanes leave at the first exit");
    // 12 lanes of 4 bytes from the eighth word on.
    let store = trace.mem(trace.warp(0, 0).first_mem);
    assert_eq!(store.base_sector, (buffer.address + 32) / 32);
    assert_eq!(trace.pattern(store.pattern).iter().map(|s| s.byte_mask.count_ones()).sum::<u32>(), 48);
    assert_eq!(trace.pattern(trace.mem(trace.warp(0, 0).first_mem + 1).pattern).len(), 0);
}

/// The tensor unit reads one register of each operand. A reader of any of its results waits for it,
/// also in a loop that accumulates them.
#[test]
fn products_depend_on_their_operands() {
    let mma =
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};";
    let (program, lowered) = lower(&format!(
        "mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.u32 %r9, 0;\n\
         L: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r1, %r2, %r3, %r4}}, [s];\n\
         ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%r5, %r6}}, [s+256];\n{mma}\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 4;\n@%p1 bra L;\n\
         st.shared.f32 [s], %f3;\nret;"
    ));
    let all = |opcode: &str| -> Vec<StaticInst> {
        let found = program.insts.iter().zip(&lowered.statics).filter(|(inst, _)| inst.opcode.starts_with(opcode));
        found.map(|(_, lowered)| lowered.unwrap()).collect()
    };
    let (product, loads, store) = (all("mma")[0], all("ldmatrix"), all("st.")[0]);
    assert_eq!(product.class, Class::Tensor);
    assert_eq!(product.sources(), [loads[0].dst.unwrap(), loads[1].dst.unwrap(), product.dst.unwrap()]);
    assert_eq!(store.sources(), [product.dst.unwrap()]);
    assert_eq!([loads[0].width_bytes, loads[1].width_bytes], [16, 8]);
    assert_eq!([loads[0].class, loads[1].class], [Class::Load(Space::Shared); 2]);
}

/// Products are divided into as many instructions as nvcc 11.8 writes for sm_75 (cuobjdump), or of
/// the smallest of sm_80 for what Turing lacks.
#[test]
fn products_are_cut_as_the_assembler_cuts_them() {
    let registers = |name: char, count: usize| {
        let all: Vec<String> = (0..count).map(|number| format!("%{name}{number}")).collect();
        format!("{{{}}}", all.join(", "))
    };
    // Opcode, registers of the sum, of the factors; tiles and pieces of the depth.
    for (opcode, (sum, sums), factors, (tiles, depth)) in [
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", ('f', 8), [8, 8], (2, 2)),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", ('r', 4), [8, 8], (2, 2)),
        ("wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32", ('f', 8), [8, 8], (2, 2)),
        ("wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", ('f', 8), [8, 8], (2, 2)),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32", ('r', 8), [2, 2], (4, 1)),
        ("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", ('r', 2), [1, 1], (1, 1)),
        ("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", ('r', 2), [1, 1], (1, 1)),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", ('f', 4), [2, 1], (1, 1)),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ('f', 4), [4, 2], (1, 2)),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", ('f', 8), [2, 2], (4, 1)),
        ("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", ('r', 4), [2, 2], (2, 1)),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ('f', 4), [4, 2], (1, 2)),
        ("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", ('r', 2), [1, 1], (1, 1)),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", ('r', 4), [4, 2], (2, 2)),
        ("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", ('r', 2), [1, 1], (1, 1)),
    ] {
        let [sum, a, b] = [(sum, sums), ('r', factors[0]), ('r', factors[1])].map(|(name, count)| registers(name, count));
        let (program, lowered) = lower(&format!("{opcode} {sum}, {a}, {b}, {sum};\nret;"));
        assert_eq!(lowered.steps[0], tensor::Steps { tiles, depth }, "{opcode}");
        let info = KernelInfo { name: "k".into(), grid: [1, 1, 1], block: [32, 1, 1], registers_per_thread: 32, shared_bytes: 512 };
        let launch = Launch { grid: info.grid, block: info.block, args: vec![Arg::U64(0)], shared_bytes: 0, ..Launch::default() };
        let trace = record::trace(&program, &launch, &DeviceMemory::new(), info, &mut |_| ControlFlow::Continue(())).unwrap();
        let kinds = trace.shape_insts().iter().map(|inst| &trace.statics()[inst.index()]);
        let writes: Vec<bool> = kinds.filter(|inst| inst.class == Class::Tensor).map(|inst| inst.dst.is_some()).collect();
        let expected: Vec<bool> = (0..tiles * depth).map(|piece| piece % tiles == tiles - 1).collect();
        assert_eq!(writes, expected, "{opcode}: one of each piece of the depth has the result");
    }
}
