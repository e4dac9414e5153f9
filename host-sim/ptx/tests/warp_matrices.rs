//! `wmma`, `ldmatrix` and related instructions, written by hand, against the host; and matrix
//! instructions that are refused.

use super::harness::{Device, count, row};
use super::matrices::{HEAD, float, list, mix};
use mias_ptx::lower::record::RecordError;
use mias_ptx::{Arg, Program};
use mias_warp_trace::KernelTrace;
use mias_warp_trace::isa::{Class, Space};
use proptest::prelude::*;

/// Parses a kernel on bytes: `body` finds `%rd1` and on, the addresses of its parameters, and
/// `%r1`, the thread.
fn kernel(params: usize, body: &str) -> Program {
    let names: Vec<String> = (1..=params).map(|i| format!(".param .u64 p{i}")).collect();
    let loads: String = (1..=params).map(|i| format!("ld.param.u64 %rd{i}, [p{i}];\n")).collect();
    let text = format!(
        "{HEAD}.entry k({})\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .b32 %a<9>, %b<9>, %c<9>, %d<9>;\n.reg .f64 %x<9>;\n\
         .shared .align 128 .b8 s[16384];\n{loads}mov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n",
        names.join(", ")
    );
    Program::parse("k.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}"))
}

fn run(program: &Program, device: &Device, threads: u32, buffers: &[u64]) -> Result<KernelTrace, RecordError> {
    device.run(program, row(1, threads), &buffers.iter().map(|&address| Arg::U64(address)).collect::<Vec<_>>())
}

/// Form of `wmma` for one type: types in the opcode, factor, sum, shape, registers of a, b and c.
type WarpForm = (&'static str, &'static str, &'static str, [usize; 3], [usize; 3]);

const WARP_FORMS: [WarpForm; 14] = [
    ("f32.f32", "f16", "f32", [16, 16, 16], [8, 8, 8]),
    ("f16.f16", "f16", "f16", [32, 8, 16], [8, 8, 4]),
    ("f32.f32", "f16", "f32", [8, 32, 16], [8, 8, 8]),
    ("f32.bf16.bf16.f32", "bf16", "f32", [16, 16, 16], [4, 4, 8]),
    ("f32.bf16.bf16.f32", "bf16", "f32", [8, 32, 16], [2, 8, 8]),
    ("f32.tf32.tf32.f32", "tf32", "f32", [16, 16, 8], [4, 4, 8]),
    ("f64.f64.f64.f64", "f64", "f64", [8, 8, 4], [1, 1, 2]),
    ("rn.f64.f64.f64.f64", "f64", "f64", [8, 8, 4], [1, 1, 2]),
    ("s32.s8.s8.s32", "s8", "s32", [16, 16, 16], [2, 2, 8]),
    ("s32.s8.s8.s32", "s8", "s32", [32, 8, 16], [4, 1, 8]),
    ("s32.u8.u8.s32", "u8", "s32", [8, 32, 16], [1, 4, 8]),
    ("s32.u8.u8.s32.satfinite", "u8", "s32", [16, 16, 16], [2, 2, 8]),
    ("s32.s4.s4.s32", "s4", "s32", [8, 8, 32], [1, 1, 2]),
    ("s32.b1.b1.s32", "b1", "s32", [8, 8, 128], [1, 1, 2]),
];

fn width(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "b1" => 1,
        ty => ty[1..].parse().unwrap(),
    }
}

fn encoded(ty: &str, value: i64) -> u64 {
    match ty {
        "f64" => (value as f64).to_bits(),
        "f16" | "bf16" | "f32" | "tf32" => float(if ty == "tf32" { "f32" } else { ty }, value),
        _ => value as u64 & (u64::MAX >> (64 - width(ty))),
    }
}

/// Lays a matrix out in memory: rows (or columns) of `stride` elements.
fn laid_out(ty: &str, [rows, columns]: [usize; 2], layout: &str, stride: usize, value: impl Fn(usize, usize) -> i64) -> Vec<u8> {
    let bits = width(ty);
    let mut data = vec![0u8; (if layout == "row" { rows } else { columns }) * stride * bits / 8];
    for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        let bit = bits * if layout == "row" { r * stride + c } else { c * stride + r };
        let value = encoded(ty, value(r, c));
        if bits < 8 {
            data[bit / 8] |= (value as u8) << (bit % 8);
        } else {
            data[bit / 8..][..bits / 8].copy_from_slice(&value.to_le_bytes()[..bits / 8]);
        }
    }
    data
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// Matrices are loaded, multiplied, stored to shared memory, loaded from there by generic
    /// addresses, and stored: in all layouts and with strides.
    #[test]
    fn products_by_warp(seed: u64, pad in 0usize..3, order in 0usize..4, sum_order in 0usize..4) {
        for (types, ty, sum, [m, n, k], [ra, rb, rc]) in WARP_FORMS {
            let narrow = width(ty) < 8;
            let layouts = ["row", "col"];
            let (left, right) = if narrow { ("row", "col") } else { (layouts[order & 1], layouts[order >> 1]) };
            let (first, second) = (layouts[sum_order & 1], layouts[sum_order >> 1]);
            let number = |seed: u64, r: usize, c: usize| {
                let x = mix(seed, r, c);
                match ty { "b1" => x as i64 & 1, "u8" => x as i64 & 0xff, "s4" => (x % 16) as i64 - 8, _ => (x % 17) as i64 - 8 }
            };
            let step = |rows: usize, columns: usize, layout: &str, ty: &str| {
                let own = if layout == "row" { columns } else { rows };
                // Rows begin at multiples of 16 bytes.
                own + pad * 128 / width(ty).min(16)
            };
            let (sa, sb) = (step(m, k, left, ty), step(k, n, right, ty));
            let (s1, s2) = (step(m, n, first, sum), step(m, n, second, sum));
            let shared = m.max(n) + 8 * pad;
            let mut device = Device::default();
            let a = device.put(&laid_out(ty, [m, k], left, sa, |r, c| number(seed, r, c)));
            let b = device.put(&laid_out(ty, [k, n], right, sb, |r, c| number(!seed, r, c)));
            let c = device.put(&laid_out(sum, [m, n], first, s1, |r, c| number(seed ^ 7, r, c)));
            let expected = laid_out(sum, [m, n], second, s2, |r, c| {
                let step = |l: usize| match ty { "b1" => number(seed, r, l) ^ number(!seed, l, c), _ => number(seed, r, l) * number(!seed, l, c) };
                (0..k).map(step).sum::<i64>() + number(seed ^ 7, r, c)
            });
            let out = device.zeros(expected.len());
            // Double registers are numbered on from operand to operand.
            let name = |register: &str, count: usize| {
                let first = match (ty, register) { ("f64", "b") => 1, ("f64", "c") => 2, ("f64", "d") => 4, _ => 0 };
                let register = if ty == "f64" { "x" } else { register };
                (first..first + count).map(|i| format!("%{register}{i}")).collect::<Vec<_>>().join(", ")
            };
            let shape = format!("m{m}n{n}k{k}");
            let (operation, types, clamp) = match ty {
                "b1" => ("mma.xor.popc", types, ""),
                _ => match types.strip_suffix(".satfinite") { Some(types) => ("mma", types, ".satfinite"), None => ("mma", types, "") },
            };
            let program = kernel(4, &format!(
                "wmma.load.a.sync.aligned.{left}.{shape}.global.{ty} {{{a}}}, [%rd2], {sa};\nwmma.load.b.sync.aligned.{right}.{shape}.{ty} {{{b}}}, [%rd3], {sb};\n\
                 mov.u32 %r3, {s1};\nwmma.load.c.sync.aligned.{first}.{shape}.global.{sum} {{{c}}}, [%rd4], %r3;\n\
                 wmma.{operation}.sync.aligned.{left}.{right}.{shape}.{types}{clamp} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};\n\
                 wmma.store.d.sync.aligned.{second}.{shape}.shared.{sum} [s], {{{d}}}, {shared};\nmov.u64 %rd5, s;\ncvta.shared.u64 %rd5, %rd5;\n\
                 wmma.load.c.sync.aligned.{second}.{shape}.{sum} {{{c}}}, [%rd5], {shared};\nwmma.store.d.sync.aligned.{second}.{shape}.global.{sum} [%rd1], {{{c}}}, {s2};",
                a = name("a", ra), b = name("b", rb), c = name("c", rc), d = name("d", rc)
            ));
            let trace = run(&program, &device, 32, &[out, a, b, c]).unwrap_or_else(|e| panic!("{types}: {e}"));
            // Products of elements in one instruction of the tensor unit (sources.md D114).
            let at_once = match ty { "f64" => 256, "tf32" => 512, "s4" => 2048, "b1" => 8192, _ => 1024 };
            prop_assert_eq!(count(&trace, Class::Tensor), m * n * k / at_once);
            prop_assert_eq!(device.0.read(out, expected.len()).unwrap(), expected, "{} {} {} {} {} {}", shape, types, left, right, first, second);
        }
    }

    /// Each lane's two halves per matrix come from the row that the table says, or the column.
    #[test]
    fn rows_of_matrices(offsets in Just((0..64usize).collect::<Vec<_>>()).prop_shuffle(), log in 0usize..3, generic: bool) {
        let matrices = 1 << log;
        for transposed in [false, true] {
            let rows: Vec<i32> = offsets.iter().take(32).map(|&row| 16 * row as i32).collect();
            let mut device = Device::default();
            let (out, places) = (device.zeros(512), device.ints(rows.iter().copied()));
            let space = if generic { "" } else { ".shared" };
            let trans = if transposed { ".trans" } else { "" };
            // Half h of shared memory is h; then the matrices go back to where they came from, and
            // one further.
            let program = kernel(2, &format!(
                "mov.u32 %r2, 0;\nL: mad.lo.u32 %r3, %r2, 32, %r1;\nshl.b32 %r4, %r3, 1;\nadd.u32 %r5, %r4, 1;\nshl.b32 %r5, %r5, 16;\nor.b32 %r5, %r5, %r4;\n\
                 shl.b32 %r6, %r3, 2;\nmov.u32 %r7, s;\nadd.u32 %r6, %r6, %r7;\nst.shared.u32 [%r6], %r5;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 8;\n@%p1 bra L;\n\
                 bar.sync 0;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r8, [%rd4];\nadd.u32 %r8, %r8, %r7;\ncvt.u64.u32 %rd5, %r8;\n\
                 {}ldmatrix.sync.aligned.m8n8.x{matrices}{trans}{space}.b16 {d}, [%rd5];\n\
                 stmatrix.sync.aligned.m8n8.x{matrices}{trans}{space}.b16 [%rd5+1024], {d};\n\
                 ldmatrix.sync.aligned.m8n8.x{matrices}{space}.b16 {d}, [%rd5+1024];\n\
                 mul.wide.u32 %rd6, %r1, 16;\nadd.s64 %rd6, %rd1, %rd6;\n{}",
                if generic { "cvta.shared.u64 %rd5, %rd5;\n" } else { "" },
                (0..matrices).map(|i| format!("{}st.global.u32 [%rd6+{}], %d{i};\n", if transposed { format!("movmatrix.sync.aligned.m8n8.trans.b16 %d{i}, %d{i};\n") } else { String::new() }, 4 * i)).collect::<String>(),
                d = list("d", matrices)
            ));
            let trace = run(&program, &device, 32, &[out, places]).unwrap();
            prop_assert_eq!(count(&trace, Class::Load(Space::Shared)), 2);
            let found = device.read_halves(out, 256);
            for (lane, matrix, e) in (0..32).flat_map(|l| (0..matrices).flat_map(move |m| [(l, m, 0), (l, m, 1)])) {
                let (row, column) = (lane / 4, lane % 4 * 2 + e);
                let (row, column) = if transposed { (column, row) } else { (row, column) };
                let expected = rows[8 * matrix + row] as usize / 2 + column;
                prop_assert_eq!(usize::from(found[lane * 8 + 2 * matrix + e]), expected);
            }
        }
    }
}

#[test]
fn a_part_of_a_warp_cannot_multiply() {
    let program = kernel(1, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};");
    let error = run(&program, &Device::default(), 40, &[0]).unwrap_err().to_string();
    assert!(error.ends_with("warp 1: only a part of a warp of 32 threads reaches a matrix instruction"), "{error}");
    // Nobody does it where the guard fails for all.
    let guarded = "setp.eq.u32 %p1, %r1, 99;\n@%p1 mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};";
    run(&kernel(1, guarded), &Device::default(), 40, &[0]).unwrap();
}

#[test]
fn rows_elsewhere_are_named() {
    let program = kernel(1, "ldmatrix.sync.aligned.m8n8.x1.b16 {%d0}, [%rd1];");
    let mut device = Device::default();
    let buffer = device.zeros(512);
    let error = run(&program, &device, 32, &[buffer]).unwrap_err().to_string();
    assert!(error.contains("the instruction needs shared memory, not a global access of 16 bytes at address"), "{error}");
    let program = kernel(1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [s+8];");
    let error = run(&program, &device, 32, &[buffer]).unwrap_err().to_string();
    assert!(error.contains("misaligned shared access of 16 bytes at address 0x8"), "{error}");
}

#[test]
fn what_the_tables_do_not_have() {
    let refused = |inst: &str| {
        let text = format!("{HEAD}.entry k()\n{{\n.reg .b32 %r<20>;\n.reg .f64 %x<4>;\n.reg .b64 %rd<4>;\n{inst}\nret;\n}}\n");
        Program::parse("k.ptx", &text, "k").unwrap_err().to_string()
    };
    for opcode in [
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32",
        "mma.sync.aligned.m8n8k32.row.col.s32.s8.s8.s32",
        "mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32",
        "wmma.load.a.sync.aligned.col.m8n8k32.global.s4",
        "wmma.load.a.sync.aligned.row.m16n16k16.local.f16",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16",
    ] {
        assert_eq!(refused(&format!("{opcode} %r1, %r2, %r3, %r4;")), format!("k.ptx:9:1: unsupported instruction: `{opcode}`"));
    }
    let short =
        refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7, %r8}, {%r1, %r2, %r3, %r4};");
    assert_eq!(short, "k.ptx:9:1: expected a vector of 4 registers, found `{%r1, %r2}`");
}
