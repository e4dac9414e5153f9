//! Bitwise logic and shifts: `and or xor not shl shr` (PTX ISA 7.8 section 9.7.7).

use crate::ast::Type;
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{DoubleReg, PredReg, Src32, Src64, WordReg};
use crate::registers::Lanes;

/// A function of two operands of equal width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitwise {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// A shift; amounts beyond the width shift out all bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Towards the high bits.
    Left,
    /// Towards the low bits, with zeros.
    Right,
    /// Towards the low bits, with copies of the sign.
    Arithmetic,
}

/// A decoded logic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Function on 32 bits.
    Word(Bitwise, WordReg, [Src32; 2]),
    /// Function on 64 bits.
    Double(Bitwise, DoubleReg, [Src64; 2]),
    /// Function on predicates.
    Pred(Bitwise, PredReg, [PredReg; 2]),
    /// `not` on 32 bits.
    NotWord(WordReg, Src32),
    /// `not` on 64 bits.
    NotDouble(DoubleReg, Src64),
    /// `not` on predicates.
    NotPred(PredReg, PredReg),
    /// Shift of 32 bits by a 32-bit amount.
    ShiftWord(Shift, WordReg, [Src32; 2]),
    /// Shift of 64 bits by a 32-bit amount.
    ShiftDouble(Shift, DoubleReg, Src64, Src32),
}

/// Decodes logic or a shift.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Logic, PtxError> {
    let ty = d.ty()?;
    if !d.modifiers().is_empty() {
        return d.unsupported();
    }
    let mnemonic = d.parts[0];
    d.arity(if mnemonic == "not" { 2 } else { 3 })?;
    let (o0, o1) = (d.operand(0)?, d.operand(1)?);
    match (mnemonic, ty) {
        ("not", Type::Pred) => return Ok(Logic::NotPred(d.dst_pred(o0)?, d.src_pred(o1)?)),
        ("not", Type::Bits(4)) => return Ok(Logic::NotWord(d.dst32(o0)?, d.src32(o1)?)),
        ("not", Type::Bits(8)) => return Ok(Logic::NotDouble(d.dst64(o0)?, d.src64(o1)?)),
        _ => {}
    }
    let o2 = d.operand(2)?;
    let shift = match (mnemonic, ty) {
        ("shl", Type::Bits(_)) => Some(Shift::Left),
        ("shr", Type::Bits(_) | Type::Unsigned(_)) => Some(Shift::Right),
        ("shr", Type::Signed(_)) => Some(Shift::Arithmetic),
        _ => None,
    };
    let bitwise = match mnemonic {
        "and" => Some(Bitwise::And),
        "or" => Some(Bitwise::Or),
        "xor" => Some(Bitwise::Xor),
        _ => None,
    };
    match (shift, bitwise, ty) {
        (Some(f), _, ty) if ty.bytes() == 4 => Ok(Logic::ShiftWord(f, d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?])),
        (Some(f), _, ty) if ty.bytes() == 8 => Ok(Logic::ShiftDouble(f, d.dst64(o0)?, d.src64(o1)?, d.src32(o2)?)),
        (_, Some(f), Type::Pred) => Ok(Logic::Pred(f, d.dst_pred(o0)?, [d.src_pred(o1)?, d.src_pred(o2)?])),
        (_, Some(f), Type::Bits(4)) => Ok(Logic::Word(f, d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?])),
        (_, Some(f), Type::Bits(8)) => Ok(Logic::Double(f, d.dst64(o0)?, [d.src64(o1)?, d.src64(o2)?])),
        _ => d.unsupported(),
    }
}

/// Executes the function in the active lanes.
pub(super) fn execute(op: &Logic, l: &mut Lanes<'_>) {
    match *op {
        Logic::Word(Bitwise::And, dst, s) => l.word2(dst, s, |a, b| a & b),
        Logic::Word(Bitwise::Or, dst, s) => l.word2(dst, s, |a, b| a | b),
        Logic::Word(Bitwise::Xor, dst, s) => l.word2(dst, s, |a, b| a ^ b),
        Logic::Double(Bitwise::And, dst, s) => l.double2(dst, s, |a, b| a & b),
        Logic::Double(Bitwise::Or, dst, s) => l.double2(dst, s, |a, b| a | b),
        Logic::Double(Bitwise::Xor, dst, s) => l.double2(dst, s, |a, b| a ^ b),
        Logic::Pred(f, dst, [a, b]) => {
            let (a, b) = (l.regs.pred(a), l.regs.pred(b));
            let bits = match f {
                Bitwise::And => a & b,
                Bitwise::Or => a | b,
                Bitwise::Xor => a ^ b,
            };
            l.regs.set_pred(dst, l.mask, bits);
        }
        Logic::NotWord(dst, a) => l.word1(dst, a, |a| !a),
        Logic::NotDouble(dst, a) => l.double1(dst, a, |a| !a),
        Logic::NotPred(dst, a) => {
            let bits = !l.regs.pred(a);
            l.regs.set_pred(dst, l.mask, bits);
        }
        Logic::ShiftWord(Shift::Left, dst, s) => l.word2(dst, s, |a, n| a.checked_shl(n).unwrap_or(0)),
        Logic::ShiftWord(Shift::Right, dst, s) => l.word2(dst, s, |a, n| a.checked_shr(n).unwrap_or(0)),
        Logic::ShiftWord(Shift::Arithmetic, dst, s) => l.word2(dst, s, |a, n| ((a as i32) >> n.min(31)) as u32),
        Logic::ShiftDouble(f, dst, a, n) => {
            let (a, n) = (l.regs.double(a), l.regs.word(n));
            let values = std::array::from_fn(|i| match f {
                Shift::Left => a[i].checked_shl(n[i]).unwrap_or(0),
                Shift::Right => a[i].checked_shr(n[i]).unwrap_or(0),
                Shift::Arithmetic => ((a[i] as i64) >> n[i].min(63)) as u64,
            });
            l.regs.set_double(dst, l.mask, &values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{double, run, run_masked, word};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bit_by_bit(a: u64, b: u64, mask: u32) {
            let (wa, wb) = (a as u32, b as u32);
            type Table = fn(bool, bool) -> bool;
            let tables: [(&str, Table); 3] = [("and", |a, b| a && b), ("or", |a, b| a || b), ("xor", |a, b| a != b)];
            for (name, f) in tables {
                let expected = (0..64).fold(0, |bits, i| bits | u64::from(f(a >> i & 1 == 1, b >> i & 1 == 1)) << i);
                prop_assert_eq!(word(&format!("{name}.b32 %r7, %r0, %r1;"), &[wa, wb]), expected as u32);
                prop_assert_eq!(double(&format!("{name}.b64 %rd7, %rd0, %rd1;"), &[a, b]), expected);
                let preds = run_masked(&format!("{name}.pred %p2, %p0, %p1;"), mask, &[], &[], &[wa, wb]);
                prop_assert_eq!(preds.p(2), expected as u32 & mask);
            }
            prop_assert_eq!(word("not.b32 %r7, %r0;", &[wa]), u32::MAX - wa);
            prop_assert_eq!(double("not.b64 %rd7, %rd0;", &[a]), u64::MAX - a);
            prop_assert_eq!(run_masked("not.pred %p1, %p0;", mask, &[], &[], &[wa]).p(1), (u32::MAX - wa) & mask);
        }

        /// A shift by n is a multiplication or a floor division by 2^n, in 128 bits.
        #[test]
        fn shifts_scale(a: u64, n in 0u32..80) {
            let w = a as u32;
            prop_assert_eq!(word("shl.b32 %r7, %r0, %r1;", &[w, n]), (u128::from(w) * (1 << n)) as u32);
            prop_assert_eq!(word("shr.u32 %r7, %r0, %r1;", &[w, n]), (u128::from(w) / (1 << n)) as u32);
            prop_assert_eq!(word("shr.s32 %r7, %r0, %r1;", &[w, n]), i128::from(w as i32).div_euclid(1 << n) as u32);
            let shifted = |op: &str| run(&format!("{op} %rd7, %rd0, %r1;"), &[0, n], &[a]).rd(7)[2];
            prop_assert_eq!(shifted("shl.b64"), if n < 64 { (u128::from(a) * (1 << n)) as u64 } else { 0 });
            prop_assert_eq!(shifted("shr.u64"), (u128::from(a) / (1 << n)) as u64);
            prop_assert_eq!(shifted("shr.s64"), i128::from(a as i64).div_euclid(1 << n) as u64);
        }
    }
}
