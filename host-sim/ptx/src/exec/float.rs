//! 32-bit floating-point arithmetic: `add sub mul fma mad neg abs min max`, rounded to nearest even
//! (PTX ISA 7.8 section 9.7.3).
//!
//! Results equal IEEE 754 bit for bit. A NaN result is 0x7fffffff, as in PTX. `.ftz` flushes
//! subnormal inputs and results to zero of the same sign.

use crate::ast::Type;
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{Src32, WordReg};
use crate::registers::Lanes;

/// NaN result of arithmetic.
pub(super) const NAN: u32 = 0x7fff_ffff;

/// A function of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// The smaller operand; the number if one is NaN; -0 is below +0.
    Min,
    /// The larger operand; the number if one is NaN; -0 is below +0.
    Max,
}

/// A function with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Two operands.
    Binary(Binary, WordReg, [Src32; 2]),
    /// a * b + c, rounded once.
    Fma(WordReg, [Src32; 3]),
    /// Negation: flips the sign.
    Neg(WordReg, Src32),
    /// Absolute value: clears the sign.
    Abs(WordReg, Src32),
}

/// A decoded f32 instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// Function to compute.
    pub function: Function,
    /// True if subnormals are zero.
    pub ftz: bool,
}

/// Decodes the instruction; its opcode ends with a float type.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Float, PtxError> {
    if d.ty()? != Type::Float(4) {
        return d.unsupported();
    }
    let mnemonic = d.parts[0];
    let mut ftz = false;
    for &modifier in d.modifiers() {
        match modifier {
            "rn" if !matches!(mnemonic, "neg" | "abs" | "min" | "max") => {}
            "ftz" => ftz = true,
            _ => return d.unsupported(),
        }
    }
    let binary = match mnemonic {
        "add" => Some(Binary::Add),
        "sub" => Some(Binary::Sub),
        "mul" => Some(Binary::Mul),
        "min" => Some(Binary::Min),
        "max" => Some(Binary::Max),
        _ => None,
    };
    d.arity(match mnemonic {
        "fma" | "mad" => 4,
        "neg" | "abs" => 2,
        _ => 3,
    })?;
    let (o0, o1) = (d.operand(0)?, d.operand(1)?);
    let function = match (mnemonic, binary) {
        ("neg", _) => Function::Neg(d.dst32(o0)?, d.src32(o1)?),
        ("abs", _) => Function::Abs(d.dst32(o0)?, d.src32(o1)?),
        (_, Some(f)) => {
            let o2 = d.operand(2)?;
            Function::Binary(f, d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?])
        }
        // mad.f32 is fma.f32 from sm_20 on.
        _ => {
            let (o2, o3) = (d.operand(2)?, d.operand(3)?);
            Function::Fma(d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?, d.src32(o3)?])
        }
    };
    Ok(Float { function, ftz })
}

/// Executes the function in the active lanes.
pub(super) fn execute(op: &Float, l: &mut Lanes<'_>) {
    if op.ftz { apply(op.function, l, flush) } else { apply(op.function, l, |bits| bits) }
}

/// Applies the function, with `adjust` on every input and result.
#[inline]
fn apply(function: Function, l: &mut Lanes<'_>, adjust: impl Fn(u32) -> u32 + Copy) {
    let value = |bits: u32| f32::from_bits(adjust(bits));
    let result = |value: f32| adjust(if value.is_nan() { NAN } else { value.to_bits() });
    match function {
        Function::Binary(Binary::Add, dst, s) => l.word2(dst, s, |a, b| result(value(a) + value(b))),
        Function::Binary(Binary::Sub, dst, s) => l.word2(dst, s, |a, b| result(value(a) - value(b))),
        Function::Binary(Binary::Mul, dst, s) => l.word2(dst, s, |a, b| result(value(a) * value(b))),
        Function::Binary(Binary::Min, dst, s) => l.word2(dst, s, |a, b| result(least(value(a), value(b)))),
        // max(a, b) = -min(-a, -b), signed zeros included.
        Function::Binary(Binary::Max, dst, s) => l.word2(dst, s, |a, b| result(-least(-value(a), -value(b)))),
        Function::Fma(dst, s) => l.word3(dst, s, |a, b, c| result(value(a).mul_add(value(b), value(c)))),
        Function::Neg(dst, s) => l.word1(dst, s, |a| adjust(a) ^ 0x8000_0000),
        Function::Abs(dst, s) => l.word1(dst, s, |a| adjust(a) & 0x7fff_ffff),
    }
}

/// Replaces a subnormal by zero of the same sign.
pub(super) fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn least(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::word;
    use super::*;
    use proptest::prelude::*;

    /// Generates all bit patterns, with special ones frequent.
    fn bits() -> impl Strategy<Value = u32> {
        let special = [0, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001];
        prop_oneof![2 => any::<u32>(), 1 => (prop::sample::select(special.to_vec()), any::<bool>()).prop_map(|(b, n)| b | u32::from(n) << 31)]
    }

    /// Rounds an f64 to f32, with canonical NaN. The sum and product of two f32, computed in f64
    /// and then rounded, are correctly rounded (53 >= 2 * 24 + 2). This is an independent
    /// reference.
    fn rounded(value: f64) -> u32 {
        if value.is_nan() { NAN } else { (value as f32).to_bits() }
    }

    fn wide(bits: u32) -> f64 {
        f32::from_bits(bits).into()
    }

    proptest! {
        #[test]
        fn ieee_arithmetic(a in bits(), b in bits()) {
            prop_assert_eq!(word("add.f32 %r7, %r0, %r1;", &[a, b]), rounded(wide(a) + wide(b)));
            prop_assert_eq!(word("sub.rn.f32 %r7, %r0, %r1;", &[a, b]), rounded(wide(a) - wide(b)));
            prop_assert_eq!(word("mul.f32 %r7, %r0, %r1;", &[a, b]), rounded(wide(a) * wide(b)));
            prop_assert_eq!(word("mul.ftz.f32 %r7, %r0, %r1;", &[a, b]), flush(rounded(wide(flush(a)) * wide(flush(b)))));
            prop_assert_eq!(word("neg.f32 %r7, %r0;", &[a]), a ^ 1 << 31);
            prop_assert_eq!(word("abs.f32 %r7, %r0;", &[a]), a & !(1 << 31));
        }

        /// One rounding: for integers small enough that a * b + c is exact in i128 and in f64, the
        /// rounded value is the expected one.
        #[test]
        fn fma_rounds_once(a in -(1i32 << 24)..1 << 24, b in -(1i32 << 24)..1 << 24, c in -(1i32 << 24)..1 << 24) {
            let exact = i64::from(a) * i64::from(b) + i64::from(c);
            let inputs = [a as f32, b as f32, c as f32].map(f32::to_bits);
            prop_assert_eq!(word("fma.rn.f32 %r7, %r0, %r1, %r2;", &inputs), (exact as f32).to_bits());
        }

        /// Except for NaN, min and max order numbers like a total order of their bits.
        #[test]
        fn least_and_largest(a in bits(), b in bits()) {
            let key = |x: u32| if x >> 31 == 1 { !x } else { x | 1 << 31 };
            let nan = |x: u32| f32::from_bits(x).is_nan();
            let (low, high) = match (nan(a), nan(b)) {
                (true, true) => (NAN, NAN),
                (true, false) => (b, b),
                (false, true) => (a, a),
                _ if key(a) <= key(b) => (a, b),
                _ => (b, a),
            };
            prop_assert_eq!(word("min.f32 %r7, %r0, %r1;", &[a, b]), low);
            prop_assert_eq!(word("max.f32 %r7, %r0, %r1;", &[a, b]), high);
        }
    }

    #[test]
    fn fma_of_special_values() {
        let fma = |a: f32, b: f32, c: f32| word("fma.rn.f32 %r7, %r0, %r1, %r2;", &[a, b, c].map(f32::to_bits));
        assert_eq!(fma(f32::INFINITY, 0.0, 1.0), NAN);
        assert_eq!(fma(1.0, 1.0, -1.0), 0);
        assert_eq!(fma(-1.0, 0.0, -0.0), 0x8000_0000);
        // Two roundings would lose (1 + 2^-23)^2 - 1 - 2^-22 = 2^-46.
        let x = 1.0 + f32::EPSILON;
        assert_eq!(fma(x, x, -1.0 - 2.0 * f32::EPSILON), (2.0f32).powi(-46).to_bits());
    }
}
