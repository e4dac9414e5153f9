//! Less common integer arithmetic: 16 bits, saturation, 24-bit products, carry chains, `sad` (PTX
//! ISA 7.8 sections 9.7.1 and 9.7.2).
//!
//! All results are computed in 128 bits without overflow, and cut at the end.

use super::scalar::{ABSENT, Function, Scalar, Source};
use crate::ast::Type;
use crate::error::PtxError;
use crate::operands::Decoder;

/// An integer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sum a + b + d, with d as the carry.
    Add,
    /// Difference a - b - d, with d as the borrow.
    Sub,
    /// a * b.
    Mul,
    /// a * b + c + d.
    Mad,
    /// Quotient towards zero; all ones for a division by zero.
    Div,
    /// Remainder with the dividend's sign; the dividend for a division by zero.
    Rem,
    /// The smaller operand.
    Min,
    /// The larger operand.
    Max,
    /// -a.
    Neg,
    /// |a|.
    Abs,
    /// |a - b| + c.
    Sad,
}

/// Part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Low half, also for other operations.
    Low,
    /// High half.
    High,
    /// Full width; the addend is equally wide.
    Wide,
    /// Low 32 bits of the product of 24-bit factors.
    Low24,
    /// Bits 16 to 47 of the product of 24-bit factors.
    High24,
}

/// Function of a decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    operation: Operation,
    part: Part,
    bits: u32,
    signed: bool,
    saturate: bool,
}

impl Integer {
    fn number(&self, value: u64, bits: u32) -> i128 {
        let spare = 64 - bits;
        if self.signed { i128::from((value << spare) as i64 >> spare) } else { i128::from(value << spare >> spare) }
    }

    fn product(&self, a: i128, b: i128) -> i128 {
        match self.part {
            Part::High => self.high(a, b),
            Part::High24 => a.wrapping_mul(b) >> 16,
            _ => a.wrapping_mul(b),
        }
    }

    /// Returns the high half of a product. The product of two unsigned 64-bit numbers needs 128
    /// unsigned bits, so the shift must be logical.
    fn high(&self, a: i128, b: i128) -> i128 {
        if self.signed { a.wrapping_mul(b) >> self.bits } else { ((a as u128).wrapping_mul(b as u128) >> self.bits) as i128 }
    }

    /// Computes the value, and the carry or borrow out.
    pub(super) fn apply(&self, [a, b, c, d]: [u64; 4]) -> (u64, bool) {
        let factor_bits = if matches!(self.part, Part::Low24 | Part::High24) { 24 } else { self.bits };
        let wide = if self.part == Part::Wide { 2 * self.bits } else { self.bits };
        let (a, b, d) = (self.number(a, factor_bits), self.number(b, factor_bits), i128::from(d));
        let c = self.number(c, wide);
        let result = match self.operation {
            Operation::Add => a + b + d,
            Operation::Sub => a - b - d,
            Operation::Mul => self.product(a, b),
            // For the carry, the low part of a product is a separate number.
            Operation::Mad if self.part == Part::Low => (a.wrapping_mul(b) & ((1 << self.bits) - 1)) + c + d,
            Operation::Mad => self.product(a, b).wrapping_add(c) + d,
            Operation::Div => a.checked_div(b).unwrap_or(-1),
            Operation::Rem => a.checked_rem(b).unwrap_or(a),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Neg => -a,
            Operation::Abs => a.abs(),
            Operation::Sad => (a - b).abs() + c,
        };
        let result = if self.saturate { result.clamp(-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) } else { result };
        // The carry is that of the unsigned operation for any type.
        let carry = match self.operation {
            Operation::Add => (unsigned(a, self.bits) + unsigned(b, self.bits) + d) >> self.bits != 0,
            Operation::Sub => unsigned(a, self.bits) - unsigned(b, self.bits) - d < 0,
            Operation::Mad => {
                let mask = (1i128 << self.bits) - 1;
                let half = if self.part == Part::Low { a.wrapping_mul(b) & mask } else { self.high(a, b) & mask };
                (half + unsigned(c, self.bits) + d) >> self.bits != 0
            }
            _ => false,
        };
        // Narrow results are kept extended by their own sign, as by loads and conversions.
        (if wide < 64 { self.number(result as u64, wide) as u64 } else { result as u64 }, carry)
    }
}

fn unsigned(value: i128, bits: u32) -> i128 {
    value & ((1 << bits) - 1)
}

/// Decodes the instruction; its opcode ends with an integer type.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let ty = d.ty()?;
    let (bits, signed) = (8 * u32::from(ty.bytes()), ty.is_signed());
    let (mut part, mut saturate, mut carry_out) = (Part::Low, false, false);
    let mnemonic = d.parts[0];
    let product = matches!(mnemonic, "mul" | "mad" | "madc");
    let narrow = matches!(mnemonic, "mul24" | "mad24");
    let mut parts = 0;
    for &modifier in d.modifiers() {
        match modifier {
            "lo" if product => part = Part::Low,
            "hi" if product => part = Part::High,
            "wide" if product && bits < 64 => part = Part::Wide,
            "lo" if narrow => part = Part::Low24,
            "hi" if narrow => part = Part::High24,
            "sat" if ty == Type::Signed(4) => saturate = true,
            "cc" if bits >= 32 => carry_out = true,
            _ => return d.unsupported(),
        }
        parts += u32::from(!matches!(modifier, "sat" | "cc"));
    }
    let (operation, sources) = match mnemonic {
        "add" | "addc" => (Operation::Add, 2),
        "sub" | "subc" => (Operation::Sub, 2),
        "mul" | "mul24" => (Operation::Mul, 2),
        "mad" | "madc" | "mad24" => (Operation::Mad, 3),
        "div" => (Operation::Div, 2),
        "rem" => (Operation::Rem, 2),
        "min" => (Operation::Min, 2),
        "max" => (Operation::Max, 2),
        "neg" if signed => (Operation::Neg, 1),
        "abs" if signed => (Operation::Abs, 1),
        "sad" => (Operation::Sad, 3),
        _ => return d.unsupported(),
    };
    let chain = matches!(mnemonic, "addc" | "subc" | "madc");
    let fits = matches!(ty, Type::Signed(2 | 4 | 8) | Type::Unsigned(2 | 4 | 8));
    let saturates = match operation {
        Operation::Add | Operation::Sub => !chain && !carry_out,
        Operation::Mad => matches!(part, Part::High | Part::High24),
        _ => false,
    };
    let carries = matches!(operation, Operation::Add | Operation::Sub | Operation::Mad) && part != Part::Wide && !narrow;
    if !fits
        || parts != u32::from(product || narrow)
        || saturate && !saturates
        || carry_out && !carries
        || chain && bits < 32
        || narrow && bits != 32
    {
        return d.unsupported();
    }
    d.arity(1 + sources)?;
    let mut from = [ABSENT; 4];
    for (index, slot) in from.iter_mut().take(sources).enumerate() {
        let wide = part == Part::Wide && index == 2 && bits == 32;
        *slot = d.source(1 + index, if wide { 8 } else { ty.bytes() })?;
    }
    if chain {
        from[3] = Source::Pred(d.use_carry()?, false);
    }
    let to = Some(d.target(0, if part == Part::Wide && bits == 32 { 8 } else { ty.bytes() })?);
    let flag = if carry_out { Some(d.def_carry()?) } else { None };
    Ok(Scalar { function: Function::Integer(Integer { operation, part, bits, signed, saturate }), to, flag, from })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{run, run_program, word};
    use proptest::prelude::*;

    proptest! {
        /// Compares with the host's 16-bit, saturating and wide operations.
        #[test]
        fn narrow_and_saturating(a: u32, b: u32, c: u32) {
            let (sa, sb) = (a as i16, b as i16);
            let (ua, ub) = (a as u16, b as u16);
            for (op, expected) in [
                ("add.s16", sa.wrapping_add(sb) as u16), ("sub.u16", ua.wrapping_sub(ub)), ("mul.lo.s16", sa.wrapping_mul(sb) as u16),
                ("mul.hi.s16", ((i32::from(sa) * i32::from(sb)) >> 16) as u16), ("mul.hi.u16", ((u32::from(ua) * u32::from(ub)) >> 16) as u16),
                ("min.s16", sa.min(sb) as u16), ("max.u16", ua.max(ub)), ("div.u16", ua.checked_div(ub).unwrap_or(u16::MAX)),
                ("rem.s16", sa.checked_rem(sb).unwrap_or(if sb == 0 { sa } else { 0 }) as u16),
            ] {
                prop_assert_eq!(word(&format!("{op} %r7, %r0, %r1;"), &[a, b]) as u16, expected, "{}", op);
            }
            prop_assert_eq!(word("mul.wide.s16 %r7, %r0, %r1;", &[a, b]), (i32::from(sa) * i32::from(sb)) as u32);
            prop_assert_eq!(word("mad.wide.u16 %r7, %r0, %r1, %r2;", &[a, b, c]), (u32::from(ua) * u32::from(ub)).wrapping_add(c));
            prop_assert_eq!(word("add.sat.s32 %r7, %r0, %r1;", &[a, b]), (a as i32).saturating_add(b as i32) as u32);
            prop_assert_eq!(word("sub.sat.s32 %r7, %r0, %r1;", &[a, b]), (a as i32).saturating_sub(b as i32) as u32);
            prop_assert_eq!(word("sad.u32 %r7, %r0, %r1, %r2;", &[a, b, c]), a.abs_diff(b).wrapping_add(c));
            prop_assert_eq!(word("sad.s32 %r7, %r0, %r1, %r2;", &[a, b, c]), (a as i32).abs_diff(b as i32).wrapping_add(c));
            prop_assert_eq!(word("mul24.lo.u32 %r7, %r0, %r1;", &[a, b]), (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff));
            let wide = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
            prop_assert_eq!(word("mul24.hi.u32 %r7, %r0, %r1;", &[a, b]), (wide >> 16) as u32);
        }

        /// A chain over four words equals 128-bit arithmetic.
        #[test]
        fn chains(a: u64, b: u64, c: u64, d: u64) {
            let halves = |x: u64| [x as u32, (x >> 32) as u32];
            let words: Vec<u32> = [a, b].into_iter().flat_map(halves).chain([0; 4]).collect();
            let after = run_program("add.cc.u32 %r4, %r0, %r2;\naddc.u32 %r5, %r1, %r3;", &words);
            let sum = a.wrapping_add(b);
            prop_assert_eq!([after.r(4)[0], after.r(5)[9]], halves(sum));
            let after = run_program("sub.cc.u32 %r4, %r0, %r2;\nsubc.cc.u32 %r5, %r1, %r3;\nsubc.u32 %r6, 0, 0;", &words);
            prop_assert_eq!([after.r(4)[0], after.r(5)[9]], halves(a.wrapping_sub(b)));
            prop_assert_eq!(after.r(6)[3], if a < b { u32::MAX } else { 0 });
            // Chains of mad: a * b in 64 by 32 bits, plus d.
            let words = [a as u32, (a >> 32) as u32, b as u32, d as u32, (d >> 32) as u32, 0, 0];
            let after = run_program("mad.lo.cc.u32 %r5, %r0, %r2, %r3;\nmadc.hi.u32 %r6, %r0, %r2, %r4;", &words);
            let expected = u64::from(a as u32).wrapping_mul(u64::from(b as u32)).wrapping_add(d);
            prop_assert_eq!([after.r(5)[0], after.r(6)[0]], halves(expected));
            let wide = run("add.cc.u64 %rd7, %rd0, %rd1;", &[], &[c, d]).rd(7)[0];
            prop_assert_eq!(wide, c.wrapping_add(d));
        }
    }
}
