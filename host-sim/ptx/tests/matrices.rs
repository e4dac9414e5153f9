//! `mma`, written by hand: fragments by the tables of PTX ISA 7.8 section 9.7.13, products against
//! the host.

use super::harness::{Device, count, row};
use mias_ptx::{Arg, Program};
use mias_warp_trace::isa::Class;
use proptest::prelude::*;

pub(crate) const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

pub(crate) fn list(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Runs `opcode d, a, b, c;` with these numbers of registers of `bits` bits each; the inputs are
/// those of lane 0 first.
fn fragments(opcode: &str, [d, a, b, c]: [usize; 4], bits: usize, inputs: [&[u64]; 3]) -> Vec<u64> {
    let mut body = String::new();
    let bytes = bits / 8;
    for (name, registers) in [("a", a), ("b", b), ("c", c)] {
        body += &format!("ld.param.u64 %rd1, [p{name}];\nmul.wide.u32 %rd2, %r1, {};\nadd.s64 %rd1, %rd1, %rd2;\n", registers * bytes);
        (0..registers).for_each(|i| body += &format!("ld.global.b{bits} %{name}{i}, [%rd1+{}];\n", i * bytes));
    }
    body += &format!("{opcode} {}, {}, {}, {};\n", list("d", d), list("a", a), list("b", b), list("c", c));
    body += &format!("ld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %r1, {};\nadd.s64 %rd1, %rd1, %rd2;\n", d * bytes);
    (0..d).for_each(|i| body += &format!("st.global.b{bits} [%rd1+{}], %d{i};\n", i * bytes));
    let text = format!(
        "{HEAD}.entry k(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
         .reg .b{bits} %a<9>, %b<9>, %c<9>, %d<9>;\nmov.u32 %r1, %tid.x;\n{body}ret;\n}}\n"
    );
    let program = Program::parse("k.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}"));
    let mut device = Device::default();
    let out = device.zeros(32 * d * bytes);
    let mut args = vec![Arg::U64(out)];
    for input in inputs {
        let data: Vec<u8> = input.iter().flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect();
        args.push(Arg::U64(device.put(&data)));
    }
    let trace = device.run(&program, row(1, 32), &args).unwrap_or_else(|e| panic!("{e}"));
    // Their number is tested with the lowering.
    assert!(count(&trace, Class::Tensor) > 0);
    let data = device.0.read(out, 32 * d * bytes).unwrap();
    data.chunks(bytes).map(|chunk| chunk.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))).collect()
}

type At = fn(usize, usize) -> (usize, usize);

/// A shape and type, with its fragments as the tables have them: row and column of element i of a
/// lane.
struct Form {
    name: &'static str,
    shape: [usize; 3],
    /// Bits of a factor's element.
    bits: usize,
    a: At,
    b: At,
}

/// Returns the row and column of an element of the sum, for every shape of 16 x 8.
fn sum16(lane: usize, i: usize) -> (usize, usize) {
    (if i < 2 { lane / 4 } else { lane / 4 + 8 }, lane % 4 * 2 + (i & 1))
}

const FORMS: [Form; 9] = [
    Form {
        name: "m16n8k8.row.col.f32.T.T.f32",
        shape: [16, 8, 8],
        bits: 16,
        a: |l, i| (if i < 2 { l / 4 } else { l / 4 + 8 }, l % 4 * 2 + (i & 1)),
        b: |l, i| (l % 4 * 2 + i, l / 4),
    },
    Form {
        name: "m16n8k16.row.col.f32.T.T.f32",
        shape: [16, 8, 16],
        bits: 16,
        a: |l, i| (if i < 2 || (4..6).contains(&i) { l / 4 } else { l / 4 + 8 }, l % 4 * 2 + (i & 1) + if i < 4 { 0 } else { 8 }),
        b: |l, i| (l % 4 * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, l / 4),
    },
    Form {
        name: "m16n8k4.row.col.f32.tf32.tf32.f32",
        shape: [16, 8, 4],
        bits: 32,
        a: |l, i| (if i == 0 { l / 4 } else { l / 4 + 8 }, l % 4),
        b: |l, _| (l % 4, l / 4),
    },
    Form {
        name: "m16n8k8.row.col.f32.tf32.tf32.f32",
        shape: [16, 8, 8],
        bits: 32,
        a: |l, i| (if i == 0 || i == 2 { l / 4 } else { l / 4 + 8 }, if i < 2 { l % 4 } else { l % 4 + 4 }),
        b: |l, i| (if i == 0 { l % 4 } else { l % 4 + 4 }, l / 4),
    },
    Form {
        name: "m8n8k16.row.col.s32.T.T.s32",
        shape: [8, 8, 16],
        bits: 8,
        a: |l, i| (l / 4, l % 4 * 4 + i),
        b: |l, i| (l % 4 * 4 + i, l / 4),
    },
    Form {
        name: "m16n8k16.row.col.s32.T.T.s32",
        shape: [16, 8, 16],
        bits: 8,
        a: |l, i| (if i < 4 { l / 4 } else { l / 4 + 8 }, l % 4 * 4 + (i & 3)),
        b: |l, i| (l % 4 * 4 + i, l / 4),
    },
    Form {
        name: "m16n8k32.row.col.s32.T.T.s32",
        shape: [16, 8, 32],
        bits: 8,
        a: |l, i| (if i < 4 || (8..12).contains(&i) { l / 4 } else { l / 4 + 8 }, l % 4 * 4 + (i & 3) + if i < 8 { 0 } else { 16 }),
        b: |l, i| (l % 4 * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, l / 4),
    },
    Form {
        name: "m16n8k64.row.col.s32.T.T.s32",
        shape: [16, 8, 64],
        bits: 4,
        a: |l, i| (if i < 8 || (16..24).contains(&i) { l / 4 } else { l / 4 + 8 }, l % 4 * 8 + (i & 7) + if i < 16 { 0 } else { 32 }),
        b: |l, i| (l % 4 * 8 + (i & 7) + if i < 8 { 0 } else { 32 }, l / 4),
    },
    Form {
        name: "m16n8k256.row.col.s32.b1.b1.s32.T.popc",
        shape: [16, 8, 256],
        bits: 1,
        a: |l, i| (if i < 32 || (64..96).contains(&i) { l / 4 } else { l / 4 + 8 }, l % 4 * 32 + (i & 31) + if i < 64 { 0 } else { 128 }),
        b: |l, i| (l % 4 * 32 + (i & 31) + if i < 32 { 0 } else { 128 }, l / 4),
    },
];

/// Packs a matrix, given by a function, into the registers of all lanes.
fn pack(elements: usize, bits: usize, at: At, value: impl Fn(usize, usize) -> u64) -> Vec<u64> {
    let per = (32 / bits).max(1);
    let mut words = vec![0; 32 * elements / per];
    for (lane, i) in (0..32).flat_map(|lane| (0..elements).map(move |i| (lane, i))) {
        let (row, column) = at(lane, i);
        words[lane * (elements / per) + i / per] |= value(row, column) << (i % per * bits);
    }
    words
}

/// Returns the bits of a small whole number as a half, bf16, or f32.
pub(crate) fn float(ty: &str, value: i64) -> u64 {
    let bits = u64::from((value as f32).to_bits());
    match ty {
        "bf16" => bits >> 16,
        "f16" if value == 0 => 0,
        // Sign, exponent with another bias, and the 10 upper digits.
        "f16" => bits >> 16 & 0x8000 | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff,
        _ => bits,
    }
}

/// Returns an arbitrary whole number of few digits for a place.
pub(crate) fn mix(seed: u64, row: usize, column: usize) -> u64 {
    let x = (seed ^ (row as u64) << 32 ^ column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Products of integers, whose sums are exact in every type, equal the host's.
    #[test]
    fn products_of_whole_numbers(seed: u64) {
        for form in &FORMS {
            let [m, n, k] = form.shape;
            let types: &[&str] = match form.bits { 16 => &["f16", "bf16"], 32 => &["tf32"], 8 => &["s8", "u8"], 4 => &["s4", "u4"], _ => &["xor", "and"] };
            for ty in types {
                let signed = |x: u64| match form.bits {
                    16 | 32 => (x % 17) as i64 - 8,
                    1 => (x & 1) as i64,
                    bits if ty.starts_with('s') => (x as i64) << (64 - bits) >> (64 - bits),
                    bits => (x & ((1 << bits) - 1)) as i64,
                };
                let bits = |value: i64| match form.bits { 16 | 32 => float(ty, value), bits => value as u64 & ((1 << bits) - 1) };
                let (a, b) = (|r, c| signed(mix(seed, r, c)), |r, c| signed(mix(!seed, r, c)));
                let c = |r, c| (mix(seed ^ 5, r, c) % 2000) as i64 - 1000;
                let sum: At = if m == 16 { sum16 } else { |l, i| (l / 4, l % 4 * 2 + i) };
                let floats = form.bits > 8;
                let inputs = [
                    pack(m * k / 32, form.bits, form.a, |r, c| bits(a(r, c))),
                    pack(n * k / 32, form.bits, form.b, |r, c| bits(b(r, c))),
                    pack(m * n / 32, 32, sum, |r, j| if floats { float("f32", c(r, j)) } else { c(r, j) as u32 as u64 }),
                ];
                let registers = [m * n / 32, m * k * form.bits / 1024, n * k * form.bits / 1024, m * n / 32];
                let opcode = format!("mma.sync.aligned.{}", form.name.replace('T', ty));
                let found = fragments(&opcode, registers, 32, inputs.each_ref().map(|v| &v[..]));
                let expected = pack(m * n / 32, 32, sum, |i, j| {
                    let step = |l| if *ty == "xor" { i64::from(a(i, l) != b(l, j)) } else { a(i, l) * b(l, j) };
                    let value = (0..k).map(step).sum::<i64>() + c(i, j);
                    if floats { float("f32", value) } else { value as u32 as u64 }
                });
                prop_assert_eq!(found, expected, "{}", opcode);
            }
        }
    }

    /// Products of arbitrary numbers of single precision's size are compared with double precision:
    /// the error is that of k + 1 roundings.
    #[test]
    fn products_of_fractions(a in prop::collection::vec(-0x3f80i32..0x3f80, 256), b in prop::collection::vec(-0x3f80i32..0x3f80, 128)) {
        let form = &FORMS[1];
        // bf16 by their bits: magnitudes below 1.
        let bits = |x: i32| (x.unsigned_abs() | if x < 0 { 0x8000 } else { 0 }) as u64;
        let value = |x: i32| f64::from(f32::from_bits((bits(x) as u32) << 16));
        let inputs = [pack(8, 16, form.a, |r, c| bits(a[r * 16 + c])), pack(4, 16, form.b, |r, c| bits(b[r * 8 + c])), vec![0; 128]];
        let found = fragments("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", [4, 4, 2, 4], 32, inputs.each_ref().map(|v| &v[..]));
        for (lane, i) in (0..32).flat_map(|lane| (0..4).map(move |i| (lane, i))) {
            let (row, column) = sum16(lane, i);
            let terms = (0..16).map(|l| value(a[row * 16 + l]) * value(b[l * 8 + column]));
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
            let found = f64::from(f32::from_bits(found[lane * 4 + i] as u32));
            prop_assert!((found - sum).abs() <= 17.0 * size * f64::from(f32::EPSILON) + 1e-40);
        }
    }

    /// Products in double precision are exact on whole numbers, for the three shapes with 16 rows
    /// too.
    #[test]
    fn doubles(seed: u64) {
        for (m, k) in [(8, 4), (16, 4), (16, 8), (16, 16)] {
            let number = |seed: u64, r, c| (mix(seed, r, c) % 2001) as f64 - 1000.0;
            // m16n8k16: col = i * 2 + thread for even i, i * 2 - 2 + thread for odd i.
            let a: At = if m == 8 { |l, _| (l / 4, l % 4) } else { |l, i| (l / 4 + i % 2 * 8, l % 4 + i / 2 * 4) };
            let b: At = |l, i| (l % 4 + 4 * i, l / 4);
            let sum: At = if m == 16 { sum16 } else { |l, i| (l / 4, l % 4 * 2 + i) };
            let pack = |elements: usize, at: At, seed: u64| -> Vec<u64> {
                let slots = (0..32).flat_map(|lane| (0..elements).map(move |i| (lane, i)));
                slots.map(|(lane, i)| { let (r, c) = at(lane, i); number(seed, r, c).to_bits() }).collect()
            };
            let inputs = [pack(m * k / 32, a, seed), pack(k / 4, b, !seed), pack(m / 4, sum, seed ^ 9)];
            let opcode = format!("mma.sync.aligned.m{m}n8k{k}.row.col.f64.f64.f64.f64");
            let found = fragments(&opcode, [m / 4, m * k / 32, k / 4, m / 4], 64, inputs.each_ref().map(|v| &v[..]));
            for (at, found) in found.into_iter().enumerate() {
                let (row, column) = sum(at / (m / 4), at % (m / 4));
                let expected = (0..k).map(|l| number(seed, row, l) * number(!seed, l, column)).sum::<f64>() + number(seed ^ 9, row, column);
                prop_assert_eq!(f64::from_bits(found), expected, "{}", opcode);
            }
        }
    }

    /// The four products of `mma.m8n8k4`, in all layouts and sums.
    #[test]
    fn quarters_of_a_warp(seed: u64) {
        let high = |l: usize| if l < 16 { 0 } else { 4 };
        let product = |l: usize| l % 16 / 4;
        for (left, right) in [("row", "row"), ("row", "col"), ("col", "row"), ("col", "col")] {
            for (to, from) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
                let a_at = |l: usize, i: usize| if left == "row" { (l % 4 + high(l), i) } else { (i + high(l), l % 4) };
                let b_at = |l: usize, i: usize| if right == "row" { (l % 4, i + high(l)) } else { (i, l % 4 + high(l)) };
                let c_at = |ty: &str, l: usize, i: usize| match ty {
                    "f16" => (l % 4 + high(l), i),
                    _ => ((l & 1) + (i & 2) + high(l), (i & 4) + (l & 2) + (i & 1)),
                };
                let number = |which: u64, p: usize, (r, c): (usize, usize)| (mix(seed ^ which, r + 100 * p, c) % 9) as i64 - 4;
                let halves = |which: u64, at: &dyn Fn(usize, usize) -> (usize, usize), count: usize| -> Vec<u64> {
                    let half = |l: usize, i: usize| float("f16", number(which, product(l), at(l, i)));
                    (0..32).flat_map(|l| (0..count / 2).map(move |i| (l, 2 * i))).map(|(l, i)| half(l, i) | half(l, i + 1) << 16).collect()
                };
                let c = match from {
                    "f16" => halves(3, &|l, i| c_at("f16", l, i), 8),
                    _ => (0..256).map(|at| float("f32", number(3, product(at / 8), c_at("f32", at / 8, at % 8)))).collect(),
                };
                let (a, b) = (halves(1, &a_at, 4), halves(2, &b_at, 4));
                let registers = |ty: &str| if ty == "f16" { 4 } else { 8 };
                let opcode = format!("mma.sync.aligned.m8n8k4.{left}.{right}.{to}.f16.f16.{from}");
                let found = fragments(&opcode, [registers(to), 2, 2, registers(from)], 32, [&a, &b, &c]);
                let expected = |l: usize, i: usize| {
                    let (row, column) = c_at(to, l, i);
                    let p = product(l);
                    let value = (0..4).map(|k| number(1, p, (row, k)) * number(2, p, (k, column))).sum::<i64>() + number(3, p, (row, column));
                    float(to, value)
                };
                let all: Vec<u64> = match to {
                    "f16" => (0..128).map(|at| (at / 4, at % 4 * 2)).map(|(l, i)| expected(l, i) | expected(l, i + 1) << 16).collect(),
                    _ => (0..256).map(|at| expected(at / 8, at % 8)).collect(),
                };
                prop_assert_eq!(found, all, "{}", opcode);
            }
        }
    }
}

#[test]
fn integers_are_cut_or_clamped() {
    // 32 products of 127 * 127, on top of the largest.
    let (a, b, c) = (vec![0x7f7f_7f7fu64; 128], vec![0x7f7f_7f7fu64; 64], vec![0x7fff_ffffu64; 128]);
    let sum = 0x7fff_ffffu32.wrapping_add(32 * 127 * 127);
    for (modifier, expected) in [("", sum), (".satfinite", 0x7fff_ffff)] {
        let opcode = format!("mma.sync.aligned.m16n8k32.row.col{modifier}.s32.s8.s8.s32");
        assert_eq!(fragments(&opcode, [4, 4, 2, 4], 32, [&a, &b, &c]), vec![u64::from(expected); 128]);
    }
}
