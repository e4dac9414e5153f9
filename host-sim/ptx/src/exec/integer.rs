//! Integer arithmetic: `add sub mul mad div rem min max neg abs` on 32 and 64 bits (PTX ISA 7.8
//! section 9.7.1).

use crate::ast::Type;
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{DoubleReg, Src32, Src64, WordReg};
use crate::registers::Lanes;

/// A function of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Sum, wrapping.
    Add,
    /// Difference, wrapping.
    Sub,
    /// Low half of the product.
    MulLo,
    /// High half of the product.
    MulHi,
    /// Quotient towards zero; all ones for a division by zero (unspecified in PTX; the result of
    /// NVIDIA's expansion).
    Div,
    /// Remainder with the dividend's sign; the dividend for a division by zero (likewise).
    Rem,
    /// The smaller operand.
    Min,
    /// The larger operand.
    Max,
}

/// A decoded integer instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Function of two operands, `dst = f(a, b)`, on 32 bits.
    Word(Binary, bool, WordReg, [Src32; 2]),
    /// Function of two operands, `dst = f(a, b)`, on 64 bits.
    Double(Binary, bool, DoubleReg, [Src64; 2]),
    /// `mad.lo`, `mad.hi` on 32 bits: the product's half (`MulLo`, `MulHi`) plus c.
    MadWord(Binary, bool, WordReg, [Src32; 3]),
    /// `mad.lo`, `mad.hi` on 64 bits.
    MadDouble(Binary, bool, DoubleReg, [Src64; 3]),
    /// `mul.wide` of 32-bit operands.
    MulWide(bool, DoubleReg, [Src32; 2]),
    /// `mad.wide`: 32-bit factors, 64-bit addend.
    MadWide(bool, DoubleReg, [Src32; 2], Src64),
    /// `neg.s32`.
    NegWord(WordReg, Src32),
    /// `neg.s64`.
    NegDouble(DoubleReg, Src64),
    /// `abs.s32`.
    AbsWord(WordReg, Src32),
    /// `abs.s64`.
    AbsDouble(DoubleReg, Src64),
}

/// Decodes the instruction; its opcode ends with an integer type.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Integer, PtxError> {
    let ty = d.ty()?;
    let signed = ty.is_signed();
    if !matches!(ty, Type::Signed(4 | 8) | Type::Unsigned(4 | 8)) {
        return d.unsupported();
    }
    let modifiers = d.modifiers().to_vec();
    let half = match (d.parts[0], modifiers.as_slice()) {
        ("mul" | "mad", ["lo"]) => Some(Binary::MulLo),
        ("mul" | "mad", ["hi"]) => Some(Binary::MulHi),
        ("mul" | "mad", ["wide"]) if ty.bytes() == 4 => None,
        ("mul" | "mad", _) => return d.unsupported(),
        ("add", []) => Some(Binary::Add),
        ("sub", []) => Some(Binary::Sub),
        ("div", []) => Some(Binary::Div),
        ("rem", []) => Some(Binary::Rem),
        ("min", []) => Some(Binary::Min),
        ("max", []) => Some(Binary::Max),
        ("neg" | "abs", []) if signed => None,
        _ => return d.unsupported(),
    };
    d.arity(match d.parts[0] {
        "neg" | "abs" => 2,
        "mad" => 4,
        _ => 3,
    })?;
    let (o0, o1) = (d.operand(0)?, d.operand(1)?);
    Ok(match (d.parts[0], ty.bytes(), half) {
        ("neg", 4, _) => Integer::NegWord(d.dst32(o0)?, d.src32(o1)?),
        ("neg", ..) => Integer::NegDouble(d.dst64(o0)?, d.src64(o1)?),
        ("abs", 4, _) => Integer::AbsWord(d.dst32(o0)?, d.src32(o1)?),
        ("abs", ..) => Integer::AbsDouble(d.dst64(o0)?, d.src64(o1)?),
        ("mad", _, None) => {
            let (o2, o3) = (d.operand(2)?, d.operand(3)?);
            Integer::MadWide(signed, d.dst64(o0)?, [d.src32(o1)?, d.src32(o2)?], d.src64(o3)?)
        }
        ("mad", 4, Some(half)) => {
            let (o2, o3) = (d.operand(2)?, d.operand(3)?);
            Integer::MadWord(half, signed, d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?, d.src32(o3)?])
        }
        ("mad", _, Some(half)) => {
            let (o2, o3) = (d.operand(2)?, d.operand(3)?);
            Integer::MadDouble(half, signed, d.dst64(o0)?, [d.src64(o1)?, d.src64(o2)?, d.src64(o3)?])
        }
        (_, _, None) => {
            let o2 = d.operand(2)?;
            Integer::MulWide(signed, d.dst64(o0)?, [d.src32(o1)?, d.src32(o2)?])
        }
        (_, 4, Some(f)) => {
            let o2 = d.operand(2)?;
            Integer::Word(f, signed, d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?])
        }
        (_, _, Some(f)) => {
            let o2 = d.operand(2)?;
            Integer::Double(f, signed, d.dst64(o0)?, [d.src64(o1)?, d.src64(o2)?])
        }
    })
}

/// Executes the function in the active lanes.
pub(super) fn execute(op: &Integer, l: &mut Lanes<'_>) {
    match *op {
        Integer::Word(f, signed, dst, s) => match (f, signed) {
            (Binary::Add, _) => l.word2(dst, s, u32::wrapping_add),
            (Binary::Sub, _) => l.word2(dst, s, u32::wrapping_sub),
            (Binary::MulLo, _) => l.word2(dst, s, u32::wrapping_mul),
            (Binary::MulHi, signed) => l.word2(dst, s, |a, b| mul_hi32(signed, a, b)),
            (Binary::Div, false) => l.word2(dst, s, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
            (Binary::Div, true) => l.word2(dst, s, |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 }),
            (Binary::Rem, false) => l.word2(dst, s, |a, b| a.checked_rem(b).unwrap_or(a)),
            (Binary::Rem, true) => l.word2(dst, s, |a, b| if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 }),
            (Binary::Min, false) => l.word2(dst, s, u32::min),
            (Binary::Min, true) => l.word2(dst, s, |a, b| (a as i32).min(b as i32) as u32),
            (Binary::Max, false) => l.word2(dst, s, u32::max),
            (Binary::Max, true) => l.word2(dst, s, |a, b| (a as i32).max(b as i32) as u32),
        },
        Integer::Double(f, signed, dst, s) => match (f, signed) {
            (Binary::Add, _) => l.double2(dst, s, u64::wrapping_add),
            (Binary::Sub, _) => l.double2(dst, s, u64::wrapping_sub),
            (Binary::MulLo, _) => l.double2(dst, s, u64::wrapping_mul),
            (Binary::MulHi, signed) => l.double2(dst, s, |a, b| mul_hi64(signed, a, b)),
            (Binary::Div, false) => l.double2(dst, s, |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
            (Binary::Div, true) => l.double2(dst, s, |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }),
            (Binary::Rem, false) => l.double2(dst, s, |a, b| a.checked_rem(b).unwrap_or(a)),
            (Binary::Rem, true) => l.double2(dst, s, |a, b| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }),
            (Binary::Min, false) => l.double2(dst, s, u64::min),
            (Binary::Min, true) => l.double2(dst, s, |a, b| (a as i64).min(b as i64) as u64),
            (Binary::Max, false) => l.double2(dst, s, u64::max),
            (Binary::Max, true) => l.double2(dst, s, |a, b| (a as i64).max(b as i64) as u64),
        },
        Integer::MadWord(Binary::MulHi, signed, dst, s) => l.word3(dst, s, |a, b, c| mul_hi32(signed, a, b).wrapping_add(c)),
        Integer::MadWord(_, _, dst, s) => l.word3(dst, s, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Integer::MadDouble(Binary::MulHi, signed, dst, s) => l.double3(dst, s, |a, b, c| mul_hi64(signed, a, b).wrapping_add(c)),
        Integer::MadDouble(_, _, dst, s) => l.double3(dst, s, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Integer::MulWide(signed, dst, [a, b]) => {
            let (a, b) = (l.regs.word(a), l.regs.word(b));
            let values = std::array::from_fn(|i| wide(signed, a[i], b[i]));
            l.regs.set_double(dst, l.mask, &values);
        }
        Integer::MadWide(signed, dst, [a, b], c) => {
            let (a, b, c) = (l.regs.word(a), l.regs.word(b), l.regs.double(c));
            let values = std::array::from_fn(|i| wide(signed, a[i], b[i]).wrapping_add(c[i]));
            l.regs.set_double(dst, l.mask, &values);
        }
        Integer::NegWord(dst, a) => l.word1(dst, a, u32::wrapping_neg),
        Integer::NegDouble(dst, a) => l.double1(dst, a, u64::wrapping_neg),
        Integer::AbsWord(dst, a) => l.word1(dst, a, |a| (a as i32).wrapping_abs() as u32),
        Integer::AbsDouble(dst, a) => l.double1(dst, a, |a| (a as i64).wrapping_abs() as u64),
    }
}

fn wide(signed: bool, a: u32, b: u32) -> u64 {
    if signed { i64::from(a as i32).wrapping_mul(i64::from(b as i32)) as u64 } else { u64::from(a) * u64::from(b) }
}

fn mul_hi32(signed: bool, a: u32, b: u32) -> u32 {
    (wide(signed, a, b) >> 32) as u32
}

fn mul_hi64(signed: bool, a: u64, b: u64) -> u64 {
    let product = if signed { (i128::from(a as i64) * i128::from(b as i64)) as u128 } else { u128::from(a) * u128::from(b) };
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{double, run, run_masked, word};
    use proptest::prelude::*;

    proptest! {
        /// Expected values are computed in 128 bits without overflow, then cut.
        #[test]
        fn thirty_two_bits(a: u32, b: u32, c: u32) {
            let (ua, ub, uc) = (i128::from(a), i128::from(b), i128::from(c));
            let (sa, sb) = (i128::from(a as i32), i128::from(b as i32));
            for (op, expected) in [
                ("add.s32", ua + ub), ("sub.u32", ua - ub), ("mul.lo.s32", ua * ub), ("mul.hi.u32", (ua * ub) >> 32),
                ("mul.hi.s32", (sa * sb) >> 32), ("min.s32", sa.min(sb)), ("min.u32", ua.min(ub)), ("max.s32", sa.max(sb)),
                ("max.u32", ua.max(ub)), ("div.u32", if ub == 0 { -1 } else { ua / ub }), ("rem.u32", if ub == 0 { ua } else { ua % ub }),
                ("div.s32", if sb == 0 { -1 } else { sa / sb }), ("rem.s32", if sb == 0 { sa } else { sa % sb }),
            ] {
                prop_assert_eq!(word(&format!("{op} %r7, %r0, %r1;"), &[a, b]), expected as u32, "{}", op);
            }
            prop_assert_eq!(word("mad.lo.s32 %r7, %r0, %r1, %r2;", &[a, b, c]), (ua * ub + uc) as u32);
            prop_assert_eq!(word("mad.hi.s32 %r7, %r0, %r1, %r2;", &[a, b, c]), (((sa * sb) >> 32) + uc) as u32);
            prop_assert_eq!(word("neg.s32 %r7, %r0;", &[a]), (-sa) as u32);
            prop_assert_eq!(word("abs.s32 %r7, %r0;", &[a]), sa.unsigned_abs() as u32);
            prop_assert_eq!(run("mul.wide.s32 %rd7, %r0, %r1;", &[a, b], &[]).rd(7)[31], (sa * sb) as u64);
            prop_assert_eq!(run("mul.wide.u32 %rd7, %r0, %r1;", &[a, b], &[]).rd(7)[0], (ua * ub) as u64);
        }

        #[test]
        fn sixty_four_bits(a: u64, b: u64, c: u64) {
            let (ua, ub, uc) = (i128::from(a), i128::from(b), i128::from(c));
            let (sa, sb) = (i128::from(a as i64), i128::from(b as i64));
            for (op, expected) in [
                ("add.s64", ua + ub), ("sub.s64", ua - ub), ("mul.lo.s64", sa.wrapping_mul(sb)), ("mul.hi.s64", (sa * sb) >> 64),
                ("min.s64", sa.min(sb)), ("max.u64", ua.max(ub)), ("div.s64", if sb == 0 { -1 } else { sa / sb }),
                ("rem.u64", if ub == 0 { ua } else { ua % ub }),
            ] {
                prop_assert_eq!(double(&format!("{op} %rd7, %rd0, %rd1;"), &[a, b]), expected as u64, "{}", op);
            }
            prop_assert_eq!(double("mad.lo.u64 %rd7, %rd0, %rd1, %rd2;", &[a, b, c]), (sa.wrapping_mul(sb) + uc) as u64);
            let mixed = run("mad.wide.s32 %rd7, %r0, %r1, %rd2;", &[a as u32, b as u32], &[0, 0, c]).rd(7)[5];
            prop_assert_eq!(mixed, (i128::from(a as i32) * i128::from(b as i32) + uc) as u64);
        }

        #[test]
        fn only_active_lanes_are_written(mask: u32, a: u32) {
            let after = run_masked("add.s32 %r0, %r0, 1;", mask, &[a], &[], &[]).r(0);
            for (lane, value) in after.into_iter().enumerate() {
                prop_assert_eq!(value, a.wrapping_add(mask >> lane & 1));
            }
        }
    }
}
