//! General `cvt` between all integer and float types, with every rounding, `.ftz` and `.sat` (PTX
//! ISA 7.8 section 9.7.9 "cvt").
//!
//! Every source is a number, infinite or NaN, which is rounded to the target's format.

use super::float::flush;
use super::scalar::{ABSENT, Function, Scalar};
use crate::ast::Type;
use crate::error::PtxError;
use crate::ieee::{Exact, F16, F32, F64, Format, Mode, Value};
use crate::operands::Decoder;
use mias_warp_trace::isa::Class;

/// Function of a decoded conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cvt {
    to: Type,
    from: Type,
    mode: Mode,
    /// True if a float is rounded to an integer value.
    whole: bool,
    ftz: bool,
    saturate: bool,
}

fn format(ty: Type) -> Option<Format> {
    match ty {
        Type::Float(2) => Some(F16),
        Type::Float(4) => Some(F32),
        Type::Float(_) => Some(F64),
        _ => None,
    }
}

impl Cvt {
    /// Returns the execution class: conversions with a float execute on the multi-function unit, as
    /// the common ones do.
    pub(super) fn class(&self) -> Class {
        if format(self.to).is_some() || format(self.from).is_some() { Class::Sfu } else { Class::Int }
    }

    pub(super) fn apply(&self, [bits, ..]: [u64; 4]) -> u64 {
        let single = |ty: Type, bits: u64| if self.ftz && ty == Type::Float(4) { flush(bits as u32).into() } else { bits };
        let value = match format(self.from) {
            Some(format) => format.value(single(self.from, bits)),
            None => Value::Finite(number(self.from, bits)),
        };
        let value = match value {
            Value::Finite(x) if self.whole => Value::Finite(round(x, self.mode)),
            other => other,
        };
        match format(self.to) {
            Some(format) => single(self.to, self.float(format, value)),
            None => self.integer(value),
        }
    }

    fn float(&self, format: Format, value: Value) -> u64 {
        let bits = match value {
            Value::Nan => format.nan,
            Value::Infinite(negative) => format.infinity(negative),
            Value::Finite(x) => format.round(x, self.mode),
        };
        match (self.saturate, value) {
            (false, _) => bits,
            (true, Value::Nan) => 0,
            (true, _) if bits & format.sign(true) != 0 => 0,
            (true, _) => bits.min((format.emax as u64) << (format.digits - 1)),
        }
    }

    fn integer(&self, value: Value) -> u64 {
        let bits = 8 * u32::from(self.to.bytes());
        let signed = self.to.is_signed();
        let (low, high) = if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
        let clamped = match value {
            Value::Nan => 0,
            Value::Infinite(true) => low,
            Value::Infinite(false) => high,
            Value::Finite(x) => {
                // The value is integral here; beyond 100 digits it is out of every range.
                let far = x.mantissa != 0 && x.exponent + 128 - x.mantissa.leading_zeros() as i32 > 100;
                let magnitude = if far { 1 << 100 } else { x.mantissa << x.exponent.max(0) };
                let number = if x.negative { -(magnitude as i128) } else { magnitude as i128 };
                // Floats always saturate; integers only on request.
                if self.saturate || format(self.from).is_some() { number.clamp(low, high) } else { number }
            }
        };
        // Extended to the register by the target's own sign.
        let spare = 64 - bits;
        let cut = (clamped as u64) << spare;
        if signed { (cut as i64 >> spare) as u64 } else { cut >> spare }
    }
}

fn number(ty: Type, bits: u64) -> Exact {
    let spare = 64 - 8 * u32::from(ty.bytes());
    let value = if ty.is_signed() { i128::from((bits << spare) as i64 >> spare) } else { i128::from(bits << spare >> spare) };
    Exact { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0, sticky: false }
}

/// Rounds to an integer value.
fn round(x: Exact, mode: Mode) -> Exact {
    if x.exponent >= 0 {
        return x;
    }
    let places = x.exponent.unsigned_abs().min(127);
    let (kept, rest, half) = (x.mantissa >> places, x.mantissa & ((1 << places) - 1), 1u128 << (places - 1));
    let up = match mode {
        Mode::Nearest => rest > half || rest == half && kept & 1 == 1,
        Mode::Zero => false,
        Mode::Down => x.negative && rest != 0,
        Mode::Up => !x.negative && rest != 0,
    };
    Exact { mantissa: kept + u128::from(up), exponent: 0, ..x }
}

/// Decodes a general `cvt`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let from = d.ty()?;
    let modifiers = d.modifiers().to_vec();
    let Some((to, rest)) = modifiers.split_last() else { return d.unsupported() };
    let Some(to) = Type::parse(to) else { return d.unsupported() };
    let (mut mode, mut whole, mut ftz, mut saturate) = (None, false, false, false);
    for &modifier in rest {
        match modifier {
            "rni" | "rzi" | "rmi" | "rpi" if mode.is_none() => (mode, whole) = (Mode::parse(&modifier[..2]), true),
            "rn" | "rz" | "rm" | "rp" if mode.is_none() => mode = Mode::parse(modifier),
            "ftz" => ftz = true,
            "sat" => saturate = true,
            _ => return d.unsupported(),
        }
    }
    let typed = |ty: Type| !matches!(ty, Type::Pred | Type::Bits(_));
    let (to_float, from_float) = (format(to).is_some(), format(from).is_some());
    // If digits may be lost, a rounding of the right kind must be stated.
    let narrows = to_float && from_float && to.bytes() < from.bytes();
    let fits = match (to_float, from_float) {
        (true, true) if to.bytes() > from.bytes() => mode.is_none(),
        (true, true) => mode.is_some() == narrows || whole && to == from,
        (true, false) => mode.is_some() && !whole,
        (false, true) => whole,
        (false, false) => mode.is_none() && !ftz,
    };
    if !typed(to) || !typed(from) || !fits || narrows && whole {
        return d.unsupported();
    }
    d.arity(2)?;
    // The register of an integer may be wider than its type.
    let held = |d: &Decoder<'_, '_>, index: usize, ty: Type| match d.operand(index) {
        Ok(operand) if ty.is_integer() && d.is_double(operand) => 8,
        _ => ty.bytes(),
    };
    let source = d.source(1, held(d, 1, from))?;
    let target = d.target(0, held(d, 0, to))?;
    let function = Function::Cvt(Cvt { to, from, mode: mode.unwrap_or(Mode::Nearest), whole, ftz, saturate });
    Ok(Scalar { function, to: Some(target), flag: None, from: [source, ABSENT, ABSENT, ABSENT] })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{decode, double, run, word};
    use proptest::prelude::*;

    fn to_word(inst: &str, double: u64) -> u32 {
        run(&format!("{inst} %r7, %rd0;"), &[], &[double]).r(7)[3]
    }

    proptest! {
        #[test]
        fn as_the_host_casts(a: u64, bits: u64) {
            let (w, f) = (a as u32, f64::from_bits(bits));
            prop_assert_eq!(to_word("cvt.rzi.s32.f64", bits), f as i32 as u32);
            prop_assert_eq!(double("cvt.rzi.u64.f64 %rd7, %rd0;", &[bits]), f as u64);
            prop_assert_eq!(double("cvt.rmi.s64.f64 %rd7, %rd0;", &[bits]), f.floor() as i64 as u64);
            prop_assert_eq!(double("cvt.rn.f64.s64 %rd7, %rd0;", &[a]), (a as i64 as f64).to_bits());
            prop_assert_eq!(run("cvt.rn.f64.u32 %rd7, %r0;", &[w], &[]).rd(7)[0], f64::from(w).to_bits());
            prop_assert_eq!(word("cvt.sat.s8.s32 %r7, %r0;", &[w]), i32::from((w as i32).clamp(-128, 127) as i8) as u32);
            prop_assert_eq!(word("cvt.sat.u8.s32 %r7, %r0;", &[w]), (w as i32).clamp(0, 255) as u32);
            prop_assert_eq!(to_word("cvt.sat.u32.u64", a), a.min(u32::MAX.into()) as u32);
            prop_assume!(!f.is_nan());
            prop_assert_eq!(to_word("cvt.rn.f32.f64", bits), (f as f32).to_bits());
            let [down, up] = ["cvt.rm.f32.f64", "cvt.rp.f32.f64"].map(|i| f64::from(f32::from_bits(to_word(i, bits))));
            prop_assert!(down <= f && f <= up);
            let g = f32::from_bits(w);
            prop_assume!(!g.is_nan());
            prop_assert_eq!(run("cvt.f64.f32 %rd7, %r0;", &[w], &[]).rd(7)[0], f64::from(g).to_bits());
            prop_assert_eq!(word("cvt.rni.f32.f32 %r7, %r0;", &[w]), g.round_ties_even().to_bits());
            prop_assert_eq!(word("cvt.rmi.f32.f32 %r7, %r0;", &[w]), g.floor().to_bits());
            prop_assert_eq!(word("cvt.sat.f32.f32 %r7, %r0;", &[w]), (g.clamp(0.0, 1.0) + 0.0).to_bits());
            // From an integer downwards and upwards: the results enclose the value.
            let [down, up] = ["rm", "rp"].map(|m| f64::from(f32::from_bits(word(&format!("cvt.{m}.f32.s32 %r7, %r0;"), &[w]))));
            prop_assert!(down <= f64::from(w as i32) && f64::from(w as i32) <= up);
        }

        /// A half with a small integer value is restored, and halves survive the conversion through
        /// f32.
        #[test]
        fn halves(n in -2048i32..=2048, h in 0u32..0x7c00) {
            let half = word("cvt.rn.f16.s32 %r7, %r0;", &[n as u32]);
            prop_assert_eq!(word("cvt.rzi.s32.f16 %r7, %r0;", &[half]), n as u32);
            prop_assert_eq!(f32::from_bits(word("cvt.f32.f16 %r7, %r0;", &[half])), n as f32);
            let wide = word("cvt.f32.f16 %r7, %r0;", &[h]);
            prop_assert_eq!(word("cvt.rn.f16.f32 %r7, %r0;", &[wide]), h);
        }
    }

    proptest! {
        /// A register may be wider than its type on either side: the lower bits are read, and the
        /// others follow from the sign.
        #[test]
        fn registers_wider_than_their_type(a: u64) {
            prop_assert_eq!(run("cvt.s32.s16 %r7, %rd0;", &[], &[a]).r(7)[3], i32::from(a as i16) as u32);
            prop_assert_eq!(run("cvt.u32.u8 %r7, %rd0;", &[], &[a]).r(7)[3], u32::from(a as u8));
            prop_assert_eq!(run("cvt.rn.f32.s32 %r7, %rd0;", &[], &[a]).r(7)[3], (a as i32 as f32).to_bits());
            prop_assert_eq!(run("cvt.rn.f64.u16 %rd7, %rd0;", &[], &[a]).rd(7)[3], f64::from(a as u16).to_bits());
            prop_assert_eq!(run("cvt.sat.s8.s32 %r7, %rd0;", &[], &[a]).r(7)[3], i32::from((a as i32).clamp(-128, 127) as i8) as u32);
            prop_assert_eq!(double("cvt.s8.s32 %rd7, %rd0;", &[a]), i64::from(a as i8) as u64);
            prop_assert_eq!(run("cvt.u16.u32 %rd7, %r0;", &[a as u32], &[]).rd(7)[3], u64::from(a as u16));
            prop_assert_eq!(run("cvt.rzi.u16.f32 %rd7, %r0;", &[a as u32], &[]).rd(7)[3], u64::from(f32::from_bits(a as u32) as u16));
        }
    }

    #[test]
    fn a_rounding_where_it_belongs() {
        for inst in ["cvt.f32.f64 %r1, %rd1;", "cvt.s32.f32 %r1, %r2;", "cvt.rn.f64.f32 %rd1, %r1;", "cvt.rn.u32.u64 %r1, %rd1;"] {
            assert!(decode(inst).unwrap_err().to_string().contains("unsupported instruction: `cvt."), "{inst}");
        }
    }
}
