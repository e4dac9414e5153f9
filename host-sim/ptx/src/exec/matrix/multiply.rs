//! Matrix products `mma.sync` and `wmma.mma.sync`: d = a b + c by a whole warp (PTX ISA 7.8
//! sections 9.7.13.3 "wmma.mma" and 9.7.13.4 "mma").
//!
//! Sums run along the depth, starting with c. For f16, bf16 and tf32, every product is exact and
//! every sum is rounded to single precision. PTX leaves order and rounding of the sums open, with
//! at least single precision. An f16 result is rounded once more at the end. For f64, each step is
//! a fused multiply-add. Integers are exact, and are cut to 32 bits or clamped at the end.

use super::element::Kind;
use super::fragment::{Fragment, Order, Role, Shape};
use super::registers::{Held, gather, scatter, sources, targets};
use crate::error::PtxError;
use crate::exec::memory::{Source, Target};
use crate::ieee::{F64, Mode};
use crate::operands::Decoder;
use crate::registers::Lanes;

/// Combination of the elements of a row and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sum of products.
    Multiply,
    /// Count of differing bits.
    Differ,
    /// Count of bits that are 1 in both.
    Both,
}

/// A decoded product.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiply {
    /// Rows, columns, depth.
    pub shape: Shape,
    /// Factors and addend, with their registers.
    pub from: [(Held, Vec<Source>); 3],
    /// Result, with its registers.
    pub to: (Held, Vec<Target>),
    step: Step,
    mode: Mode,
    saturate: bool,
}

/// Decodes `mma`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Multiply, PtxError> {
    let parts = d.parts.clone();
    let ["mma", "sync", "aligned", shape, left, right, ref rest @ ..] = parts[..] else { return d.unsupported() };
    let (saturate, rest) = without("satfinite", rest);
    let (types, step) = match &rest[..] {
        [types @ .., "xor", "popc"] => (types, Step::Differ),
        [types @ .., "and", "popc"] => (types, Step::Both),
        types => (types, Step::Multiply),
    };
    let (Some(shape), Some(left), Some(right), &[to, a, b, c]) = (Shape::parse(shape), order(left), order(right), types) else {
        return d.unsupported();
    };
    let ([Some(to), Some(a), Some(b), Some(c)], bits) = ([to, a, b, c].map(Kind::parse), step != Step::Multiply) else {
        return d.unsupported();
    };
    let grouped = a == Kind::F16 && shape.m == 8;
    let usual = left == Order::Row && right == Order::Column;
    // Only `mma.m8n8k4` of halves may widen its sum.
    let sums = to == c || grouped && (to, c) == (Kind::F32, Kind::F16);
    if !a.multiplies(shape) || !sums || !(usual || grouped) || !fits([to, a, b, c], bits, saturate) {
        return d.unsupported();
    }
    let place = |role, kind: Kind| match (grouped, role, kind) {
        (false, ..) => Fragment::tiled(role, shape, kind.run(role)),
        (true, Role::C, Kind::F32) => Fragment::grouped_singles(),
        (true, Role::B, _) => Fragment::grouped(role, right),
        (true, ..) => Fragment::grouped(role, left),
    };
    let matrix = |role, kind| Held { kind, fragment: place(role, kind) };
    let (a, b, c, to) = (matrix(Role::A, a), matrix(Role::B, b), matrix(Role::C, c), matrix(Role::C, to));
    operands(d, shape, [a, b, c], to, (step, Mode::Nearest, saturate))
}

/// Decodes `wmma.mma`.
pub(super) fn decode_warp(d: &mut Decoder<'_, '_>) -> Result<Multiply, PtxError> {
    let parts = d.parts.clone();
    let ["wmma", "mma", ref rest @ ..] = parts[..] else { return d.unsupported() };
    let (step, rest) = match rest {
        ["xor", "popc", rest @ ..] => (Step::Differ, rest),
        ["and", "popc", rest @ ..] => (Step::Both, rest),
        _ => (Step::Multiply, rest),
    };
    let rest = match rest {
        ["sync", "aligned", rest @ ..] | ["sync", rest @ ..] => rest,
        _ => return d.unsupported(),
    };
    let (saturate, rest) = without("satfinite", rest);
    let &[left, right, shape, ref rest @ ..] = &rest[..] else { return d.unsupported() };
    let (mode, types) = match rest {
        [mode, types @ ..] if Mode::parse(mode).is_some() => (Mode::parse(mode), types),
        types => (None, types),
    };
    let (Some(shape), Some(left), Some(right)) = (Shape::parse(shape), order(left), order(right)) else { return d.unsupported() };
    let kinds = match *types {
        // For halves, only the types of the sums are stated.
        [to, c] => [Kind::parse(to), Some(Kind::F16), Some(Kind::F16), Kind::parse(c)],
        [to, a, b, c] if a != "f16" => [to, a, b, c].map(Kind::parse),
        _ => return d.unsupported(),
    };
    let [Some(to), Some(a), Some(b), Some(c)] = kinds else { return d.unsupported() };
    let usual = left == Order::Row && right == Order::Column || !matches!(a, Kind::Integer(1 | 4, _));
    let rounded = mode.is_none() || a == Kind::F64;
    let sums = to == c || a == Kind::F16;
    if !a.multiplies_by_warp(shape) || !usual || !rounded || !sums || !fits([to, a, b, c], step != Step::Multiply, saturate) {
        return d.unsupported();
    }
    let matrix = |role, kind: Kind| Held { kind, fragment: Fragment::tiled(role, shape, kind.run(role)) };
    let (a, b, c, to) = (matrix(Role::A, a), matrix(Role::B, b), matrix(Role::C, c), matrix(Role::C, to));
    operands(d, shape, [a, b, c], to, (step, mode.unwrap_or(Mode::Nearest), saturate))
}

/// Parses `row` and `col`.
pub(super) fn order(text: &str) -> Option<Order> {
    match text {
        "row" => Some(Order::Row),
        "col" => Some(Order::Column),
        _ => None,
    }
}

/// Removes a modifier from the parts and tells whether it was present.
fn without<'a>(modifier: &str, parts: &[&'a str]) -> (bool, Vec<&'a str>) {
    (parts.contains(&modifier), parts.iter().copied().filter(|part| *part != modifier).collect())
}

/// Checks that the types of d, a, b and c are compatible, and selects the step.
fn fits([to, a, b, c]: [Kind; 4], bits: bool, saturate: bool) -> bool {
    // The signs of integer factors may differ.
    let alike = a == b || matches!((a, b), (Kind::Integer(x, _), Kind::Integer(y, _)) if x == y);
    let integer = matches!(a, Kind::Integer(8 | 4, _));
    alike && a.adds_to(to) && a.adds_to(c) && bits == (a.bits() == 1) && (!saturate || integer)
}

fn operands(
    d: &mut Decoder<'_, '_>,
    shape: Shape,
    [a, b, c]: [Held; 3],
    to: Held,
    (step, mode, saturate): (Step, Mode, bool),
) -> Result<Multiply, PtxError> {
    d.arity(4)?;
    let mut starts = [0; 3];
    let mut read = |d: &mut Decoder<'_, '_>, matrix: Held, index: usize| {
        starts[index - 1] = d.uses.len();
        Ok::<_, PtxError>((matrix, sources(d, matrix, index)?))
    };
    let from = [read(d, a, 1)?, read(d, b, 2)?, read(d, c, 3)?];
    // The machine instruction has one register per operand: the first of each comes first, for the
    // model's four sources.
    let mut later = d.uses.split_off(starts[0]);
    let mut first: Vec<_> = starts.iter().filter_map(|&at| later.get(at - starts[0]).copied()).collect();
    later.retain(|reg| !first.contains(reg));
    d.uses.append(&mut first);
    d.uses.append(&mut later);
    let to = (to, targets(d, to, 0)?);
    Ok(Multiply { shape, from, to, step, mode, saturate })
}

/// Executes the product in a whole warp.
pub(super) fn execute(op: &Multiply, l: &mut Lanes<'_>) {
    let Shape { m, n, k } = op.shape;
    let [a, b, c] = op.from.each_ref().map(|(matrix, from)| {
        let bits = gather(matrix, from, l);
        bits.into_iter().map(|bits| matrix.kind.value(bits)).collect::<Vec<f64>>()
    });
    let factor = op.from[0].0.kind;
    let mut result = Vec::with_capacity(c.len());
    for (at, &start) in c.iter().enumerate() {
        let (product, row, column) = (at / (m * n), at / n % m, at % n);
        let left = a[(product * m + row) * k..][..k].iter();
        let right = b[product * k * n + column..].iter().step_by(n).take(k);
        let pairs = left.zip(right);
        let sum = match (op.step, factor) {
            (Step::Multiply, Kind::F64) if op.mode != Mode::Nearest => {
                pairs.fold(start, |sum, (a, b)| f64::from_bits(F64.fma(a.to_bits(), b.to_bits(), sum.to_bits(), op.mode)))
            }
            (Step::Multiply, Kind::F64) => pairs.fold(start, |sum, (a, b)| a.mul_add(*b, sum)),
            (Step::Multiply, Kind::Integer(..)) => pairs.fold(start, |sum, (a, b)| sum + a * b),
            (Step::Multiply, _) => pairs.fold(start, |sum, (a, b)| f64::from((sum + a * b) as f32)),
            (Step::Differ, _) => pairs.fold(start, |sum, (a, b)| sum + f64::from(u8::from(a != b))),
            (Step::Both, _) => pairs.fold(start, |sum, (a, b)| sum + a * b),
        };
        result.push(op.to.0.kind.bits_of(sum, op.saturate));
    }
    scatter(&op.to.0, &op.to.1, &result, l);
}
