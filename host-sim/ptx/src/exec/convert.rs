//! Conversions by `cvt` between integers of all widths and between integers and f32 (PTX ISA 7.8
//! section 9.7.9).

use super::float::flush;
use crate::LANES;
use crate::ast::Type;
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{DoubleReg, Src32, Src64, WordReg};
use crate::registers::Lanes;

/// A source of either width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Up to 32 bits.
    Word(Src32),
    /// 64 bits.
    Double(Src64),
}

/// A destination of either width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Up to 32 bits.
    Word(WordReg),
    /// 64 bits.
    Double(DoubleReg),
}

/// Rounding of a float to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Downwards.
    Down,
    /// Upwards.
    Up,
}

/// An integer format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Width in bits.
    pub bits: u32,
    /// Two's complement.
    pub signed: bool,
}

/// A decoded conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convert {
    /// Integer to integer: extended by the source's sign, cut to the target's width, then extended
    /// to the register. A register may be wider than its type (PTX ISA 7.8 section 9.7.9, tables
    /// "Relaxed Type-checking Rules").
    Integer(Target, Format, Source, Format),
    /// f32 to integer, saturating, with NaN to 0; true for `.ftz`.
    FromFloat(Target, Format, Src32, Rounding, bool),
    /// Integer to f32, rounded to nearest even.
    ToFloat(WordReg, Source, Format),
    /// `cvta` and `cvta.to` for global memory (`generic.rs`): a copy, as on the GPU.
    Address(DoubleReg, Src64),
}

/// Returns true for the conversions with a separate loop: between integers, from an integer to the
/// nearest f32, from f32 to an integer.
pub(super) fn is_common(d: &Decoder<'_, '_>) -> bool {
    let (Ok(from), Some((to, rest))) = (d.ty(), d.modifiers().split_last()) else { return false };
    let integer = |ty: Type| matches!(ty, Type::Unsigned(_) | Type::Signed(_));
    match (Type::parse(to), from, rest) {
        (Some(to), from, []) => integer(to) && integer(from),
        (Some(Type::Float(4)), from, ["rn"]) => integer(from),
        (Some(to), Type::Float(4), ["rni" | "rzi" | "rmi" | "rpi"] | [_, "ftz"]) => integer(to),
        _ => false,
    }
}

/// Decodes a conversion.
pub(super) fn decode<'a>(d: &mut Decoder<'_, 'a>) -> Result<Convert, PtxError> {
    d.arity(2)?;
    let (o0, o1) = (d.operand(0)?, d.operand(1)?);
    let from = d.ty()?;
    let modifiers = d.modifiers().to_vec();
    let Some((to, rounding)) = modifiers.split_last() else { return d.unsupported() };
    let Some(to) = Type::parse(to) else { return d.unsupported() };
    let format = |ty: Type| Format { bits: 8 * u32::from(ty.bytes()), signed: ty.is_signed() };
    let typed = |ty: Type| matches!(ty, Type::Unsigned(_) | Type::Signed(_));
    let target = |d: &mut Decoder<'_, 'a>| {
        if to.bytes() == 8 || d.is_double(o0) { d.dst64(o0).map(Target::Double) } else { d.dst32(o0).map(Target::Word) }
    };
    let source = |d: &mut Decoder<'_, 'a>| {
        if from.bytes() == 8 || d.is_double(o1) { d.src64(o1).map(Source::Double) } else { d.src32(o1).map(Source::Word) }
    };
    if typed(to) && typed(from) && rounding.is_empty() {
        return Ok(Convert::Integer(target(d)?, format(to), source(d)?, format(from)));
    }
    if to == Type::Float(4) && typed(from) && rounding == ["rn"] {
        return Ok(Convert::ToFloat(d.dst32(o0)?, source(d)?, format(from)));
    }
    if typed(to) && from == Type::Float(4) {
        let (mode, ftz) = match rounding {
            [mode] => (*mode, false),
            [mode, "ftz"] => (*mode, true),
            _ => return d.unsupported(),
        };
        let mode = match mode {
            "rni" => Rounding::Nearest,
            "rzi" => Rounding::Zero,
            "rmi" => Rounding::Down,
            "rpi" => Rounding::Up,
            _ => return d.unsupported(),
        };
        return Ok(Convert::FromFloat(target(d)?, format(to), d.src32(o1)?, mode, ftz));
    }
    d.unsupported()
}

/// Executes the conversion in the active lanes.
pub(super) fn execute(op: &Convert, l: &mut Lanes<'_>) {
    match *op {
        Convert::Integer(dst, to, src, from) => {
            let values = read(l, src).map(|bits| cut(extend(bits, from) as u64, to));
            write(l, dst, values);
        }
        Convert::FromFloat(dst, to, src, rounding, ftz) => {
            let values = l.regs.word(src).map(|bits| cut(integer(if ftz { flush(bits) } else { bits }, to, rounding), to));
            write(l, dst, values);
        }
        Convert::ToFloat(dst, src, from) => {
            // An i128 holds every source, and its conversion rounds to nearest even once.
            let values = read(l, src).map(|bits| (extend(bits, from) as f32).to_bits());
            l.regs.set_word(dst, l.mask, &values);
        }
        Convert::Address(dst, src) => {
            let values = l.regs.double(src);
            l.regs.set_double(dst, l.mask, &values);
        }
    }
}

fn read(l: &Lanes<'_>, src: Source) -> [u64; LANES] {
    match src {
        Source::Word(src) => l.regs.word(src).map(u64::from),
        Source::Double(src) => l.regs.double(src),
    }
}

fn write(l: &mut Lanes<'_>, dst: Target, values: [u64; LANES]) {
    match dst {
        Target::Word(dst) => l.regs.set_word(dst, l.mask, &values.map(|v| v as u32)),
        Target::Double(dst) => l.regs.set_double(dst, l.mask, &values),
    }
}

/// Returns the number represented by the low bits of a register.
#[inline]
fn extend(bits: u64, from: Format) -> i128 {
    let spare = 64 - from.bits;
    if from.signed { i128::from((bits << spare) as i64 >> spare) } else { i128::from(bits << spare >> spare) }
}

/// Returns the low bits, extended to 64 by the format's own sign.
#[inline]
fn cut(value: u64, to: Format) -> u64 {
    extend(value, to) as u64
}

fn integer(bits: u32, to: Format, rounding: Rounding) -> u64 {
    let value = f32::from_bits(bits);
    let whole = match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    };
    // `as` saturates and converts NaN to 0, as PTX does; 128 bits hold every target's range.
    let (low, high) = if to.signed { (-(1i128 << (to.bits - 1)), (1i128 << (to.bits - 1)) - 1) } else { (0, (1i128 << to.bits) - 1) };
    (whole as i128).clamp(low, high) as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{double, run, word};
    use proptest::prelude::*;

    proptest! {
        /// Compares with the casts of the host.
        #[test]
        fn integers(a: u64) {
            let w = a as u32;
            prop_assert_eq!(run("cvt.s64.s32 %rd7, %r0;", &[w], &[]).rd(7)[1], i64::from(w as i32) as u64);
            prop_assert_eq!(run("cvt.u64.u32 %rd7, %r0;", &[w], &[]).rd(7)[1], u64::from(w));
            prop_assert_eq!(run("cvt.u32.u64 %r7, %rd0;", &[], &[a]).r(7)[1], w);
            prop_assert_eq!(run("cvt.s64.s8 %rd7, %r0;", &[w], &[]).rd(7)[1], i64::from(w as i8) as u64);
            prop_assert_eq!(word("cvt.s32.s16 %r7, %r0;", &[w]), i32::from(w as i16) as u32);
            prop_assert_eq!(word("cvt.u32.u8 %r7, %r0;", &[w]), u32::from(w as u8));
            prop_assert_eq!(double("cvta.to.global.u64 %rd7, %rd0;", &[a]), a);
        }

        #[test]
        fn to_float_and_back(a: u64, bits: u32) {
            let w = a as u32;
            prop_assert_eq!(word("cvt.rn.f32.u32 %r7, %r0;", &[w]), (w as f32).to_bits());
            prop_assert_eq!(word("cvt.rn.f32.s32 %r7, %r0;", &[w]), (w as i32 as f32).to_bits());
            prop_assert_eq!(run("cvt.rn.f32.s64 %r7, %rd0;", &[], &[a]).r(7)[0], (a as i64 as f32).to_bits());
            let f = f32::from_bits(bits);
            prop_assert_eq!(word("cvt.rzi.s32.f32 %r7, %r0;", &[bits]), f as i32 as u32);
            prop_assert_eq!(word("cvt.rzi.u32.f32 %r7, %r0;", &[bits]), f as u32);
            prop_assert_eq!(word("cvt.rmi.s32.f32 %r7, %r0;", &[bits]), f.floor() as i32 as u32);
            prop_assert_eq!(word("cvt.rpi.s32.f32 %r7, %r0;", &[bits]), f.ceil() as i32 as u32);
            prop_assert_eq!(run("cvt.rzi.u64.f32 %rd7, %r0;", &[bits], &[]).rd(7)[0], f as u64);
        }
    }

    #[test]
    fn nearest_takes_ties_to_even() {
        for (value, expected) in [(0.5f32, 0), (1.5, 2), (2.5, 2), (-1.5, -2), (f32::NAN, 0), (1e20, i32::MAX)] {
            assert_eq!(word("cvt.rni.s32.f32 %r7, %r0;", &[value.to_bits()]), expected as u32, "{value}");
        }
    }
}
