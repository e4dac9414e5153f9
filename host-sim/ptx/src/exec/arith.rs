//! Floating-point arithmetic beyond f32 rounded to nearest: f64, f16, bf16, pairs of these,
//! directed rounding, saturation, division, square roots, reciprocals and approximate functions
//! (PTX ISA 7.8 sections 9.7.3 and 9.7.4).
//!
//! IEEE results are computed in `ieee.rs`, or by the host if they round to nearest. The approximate
//! functions are in `approx.rs`.

use super::approx::Function as Approximate;
use super::float::flush;
use super::scalar::{ABSENT, Function, Scalar};
use crate::ast::Type;
use crate::error::PtxError;
use crate::ieee::{BF16, F16, F32, F64, Format, Mode, Value};
use crate::operands::Decoder;
use mias_warp_trace::isa::Class;

/// A floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// a * b.
    Mul,
    /// a * b + c.
    Fma,
    /// a / b.
    Div,
    /// The square root.
    Sqrt,
    /// 1 / a.
    Rcp,
    /// The smaller operand; the number if one is NaN.
    Min,
    /// The larger operand; the number if one is NaN.
    Max,
    /// -a.
    Neg,
    /// |a|.
    Abs,
    /// The magnitude of b with the sign of a.
    Copysign,
    /// An approximate function.
    Approx(Approximate),
}

/// Function of a decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arith {
    operation: Operation,
    format: Format,
    mode: Mode,
    /// True if subnormals are zero.
    ftz: bool,
    /// True if the result is clamped to 0 to 1, with NaN to 0.
    saturate: bool,
    /// True if negative results become zero.
    relu: bool,
    /// True for two halves in a word.
    pair: bool,
    /// True if a NaN operand makes the result of min and max NaN.
    nan: bool,
}

impl Arith {
    pub(super) fn class(&self) -> Class {
        match self.operation {
            _ if self.format == F64 => Class::Dp,
            Operation::Sqrt | Operation::Rcp | Operation::Div | Operation::Approx(_) => Class::Sfu,
            _ => Class::Sp,
        }
    }

    pub(super) fn apply(&self, s: [u64; 4]) -> u64 {
        if self.pair { self.one(s.map(|x| x & 0xffff)) | self.one(s.map(|x| x >> 16 & 0xffff)) << 16 } else { self.one(s) }
    }

    fn one(&self, s: [u64; 4]) -> u64 {
        let f = self.format;
        let [a, b, c, _] = s.map(|x| self.flushed(x));
        let sign = f.sign(true);
        let result = match self.operation {
            Operation::Neg => a ^ sign,
            Operation::Abs => a & !sign,
            Operation::Copysign => b & !sign | a & sign,
            Operation::Min => self.least(a, b, 0),
            Operation::Max => self.least(a ^ sign, b ^ sign, sign),
            Operation::Approx(function) if f == F64 => function.double(a),
            Operation::Approx(function) if f == F32 => function.single(a, b),
            Operation::Approx(function) => function.half(f, a),
            _ if self.mode == Mode::Nearest && f == F64 => self.host(a, b, c),
            Operation::Add => f.add(a, b, self.mode),
            Operation::Sub if f.value(b) == Value::Nan => f.nan,
            Operation::Sub => f.add(a, b ^ sign, self.mode),
            Operation::Mul => f.mul(a, b, self.mode),
            Operation::Fma => f.fma(a, b, c, self.mode),
            Operation::Div => f.div(a, b, self.mode),
            Operation::Sqrt => f.sqrt(a, self.mode),
            Operation::Rcp => f.div((f.emax as u64) << (f.digits - 1), a, self.mode),
        };
        let result = self.flushed(result);
        match (self.saturate, self.relu && result & sign != 0) {
            (true, _) => self.clamp(result),
            // A NaN has no sign here.
            (false, true) => 0,
            (false, false) => result,
        }
    }

    fn host(&self, a: u64, b: u64, c: u64) -> u64 {
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let value = match self.operation {
            Operation::Add => x + y,
            Operation::Sub => x - y,
            Operation::Mul => x * y,
            Operation::Fma => x.mul_add(y, z),
            Operation::Div => x / y,
            Operation::Sqrt => x.sqrt(),
            _ => 1.0 / x,
        };
        if value.is_nan() { F64.nan } else { value.to_bits() }
    }

    fn flushed(&self, bits: u64) -> u64 {
        match self.ftz {
            true if self.format == F32 => flush(bits as u32).into(),
            true if self.format == F16 && bits & 0x7c00 == 0 => bits & 0x8000,
            true if self.format == BF16 && bits & 0x7f80 == 0 => bits & 0x8000,
            // In double precision, only the approximate functions flush, and they do so themselves.
            _ => bits,
        }
    }

    fn clamp(&self, bits: u64) -> u64 {
        let one = (self.format.emax as u64) << (self.format.digits - 1);
        if self.format.value(bits) == Value::Nan || bits & self.format.sign(true) != 0 { 0 } else { bits.min(one) }
    }

    /// Returns the smaller of two operands, each flipped by `flip` before, with the result flipped
    /// back.
    fn least(&self, a: u64, b: u64, flip: u64) -> u64 {
        let f = self.format;
        // Orders the bit patterns by their values.
        let key = |x: u64| if x & f.sign(true) != 0 { -1 - (x & !f.sign(true)) as i64 } else { x as i64 };
        match (f.value(a) == Value::Nan, f.value(b) == Value::Nan) {
            (true, true) => f.nan,
            (true, false) | (false, true) if self.nan => f.nan,
            (true, false) => b ^ flip,
            (false, true) => a ^ flip,
            _ if key(a) <= key(b) => a ^ flip,
            _ => b ^ flip,
        }
    }
}

/// Decodes the instruction; its opcode ends with a float type, `f16x2`, `bf16` or `bf16x2`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let last = d.parts.last().copied().unwrap_or_default();
    let pair = last.ends_with("f16x2");
    let (format, bytes) = match Type::parse(last) {
        _ if last == "bf16x2" => (BF16, 4),
        _ if last == "bf16" => (BF16, 2),
        _ if pair => (F16, 4),
        Some(Type::Float(2)) => (F16, 2),
        Some(Type::Float(4)) => (F32, 4),
        Some(Type::Float(8)) => (F64, 8),
        _ => return d.unsupported(),
    };
    let (mut mode, mut approx, mut ftz, mut saturate, mut relu, mut nan) = (None, false, false, false, false, false);
    let mnemonic = d.parts[0];
    for &modifier in d.modifiers() {
        match modifier {
            "rn" | "rz" | "rm" | "rp" if mode.is_none() => mode = Mode::parse(modifier),
            "approx" | "full" => approx = true,
            "ftz" if !matches!(format, F64 | BF16) || approx => ftz = true,
            "relu" if format.bits == 16 && mnemonic == "fma" => relu = true,
            "sat" if !matches!(format, F64 | BF16) && matches!(mnemonic, "add" | "sub" | "mul" | "fma" | "mad") => saturate = true,
            "NaN" if matches!(mnemonic, "min" | "max") => nan = true,
            _ => return d.unsupported(),
        }
    }
    let (operation, sources) = match (mnemonic, approx) {
        ("add", false) => (Operation::Add, 2),
        ("sub", false) => (Operation::Sub, 2),
        ("mul", false) => (Operation::Mul, 2),
        ("fma" | "mad", false) => (Operation::Fma, 3),
        ("min", false) => (Operation::Min, 2),
        ("max", false) => (Operation::Max, 2),
        ("neg", false) => (Operation::Neg, 1),
        ("abs", false) => (Operation::Abs, 1),
        ("copysign", false) if format.bits > 16 => (Operation::Copysign, 2),
        ("div", false) if mode.is_some() => (Operation::Div, 2),
        ("sqrt", false) if mode.is_some() => (Operation::Sqrt, 1),
        ("rcp", false) if mode.is_some() => (Operation::Rcp, 1),
        ("div", true) if format == F32 => (Operation::Approx(Approximate::Div), 2),
        (_, true) => match Approximate::parse(mnemonic, format) {
            Some(function) => (Operation::Approx(function), 1),
            None => return d.unsupported(),
        },
        _ => return d.unsupported(),
    };
    let exact = matches!(operation, Operation::Min | Operation::Max | Operation::Neg | Operation::Abs | Operation::Copysign);
    let directed = mode.is_some_and(|mode| mode != Mode::Nearest);
    if (exact || approx) && mode.is_some()
        || directed && format.bits == 16
        || format.bits == 16 && matches!(mnemonic, "div" | "sqrt" | "rcp")
    {
        return d.unsupported();
    }
    d.arity(1 + sources)?;
    let mut from = [ABSENT; 4];
    for (index, slot) in from.iter_mut().take(sources).enumerate() {
        *slot = d.source(1 + index, bytes)?;
    }
    let mode = mode.unwrap_or(Mode::Nearest);
    let function = Function::Arith(Arith { operation, format, mode, ftz, saturate, relu, pair, nan });
    Ok(Scalar { function, to: Some(d.target(0, bytes)?), flag: None, from })
}

#[cfg(test)]
#[path = "arith_tests.rs"]
mod tests;
