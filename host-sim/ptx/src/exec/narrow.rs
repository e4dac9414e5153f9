//! Conversions by `cvt` to and from the narrow floats of matrix instructions: bf16, tf32, and two
//! halves in a word (PTX ISA 7.8 section 9.7.9.21 "cvt").

use super::scalar::{ABSENT, Function, Scalar};
use crate::error::PtxError;
use crate::ieee::{BF16, F16, F32, Format, Mode, TF32, Value};
use crate::operands::Decoder;

/// Function of a decoded conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow {
    to: Format,
    from: Format,
    /// Rounding mode; `None` rounds to nearest, with ties away from zero.
    mode: Option<Mode>,
    /// True if negative results become zero.
    relu: bool,
    /// True for two results in a word, with that of the first operand in the upper half.
    pair: bool,
}

/// Ignored digits of tf32, which is an f32.
const SPARE: u32 = 13;

impl Narrow {
    pub(super) fn apply(&self, [a, b, ..]: [u64; 4]) -> u64 {
        if self.pair { self.one(a) << 16 | self.one(b) } else { self.one(a) }
    }

    fn one(&self, bits: u64) -> u64 {
        let to = self.to;
        let narrow = match (self.from.value(bits), self.mode) {
            (Value::Nan, _) => to.nan,
            (value, _) if self.relu && negative(value) => 0,
            (Value::Infinite(negative), _) => to.infinity(negative),
            (Value::Finite(x), Some(mode)) => to.round(x, mode),
            // Half a unit in the last place, added to the magnitude, carries if the value is not
            // below half.
            (Value::Finite(_), None) => (bits + (1 << (SPARE - 1))) >> SPARE,
        };
        match to {
            // The NaN is that of f32.
            TF32 if narrow == TF32.nan => F32.nan,
            TF32 => narrow << SPARE,
            _ => narrow,
        }
    }
}

fn negative(value: Value) -> bool {
    match value {
        Value::Nan => false,
        Value::Infinite(negative) => negative,
        Value::Finite(x) => x.negative,
    }
}

/// Returns true for the conversions of this file.
pub(super) fn is_one(d: &Decoder<'_, '_>) -> bool {
    d.parts.iter().any(|part| matches!(*part, "bf16" | "bf16x2" | "f16x2" | "tf32"))
}

/// Decodes a narrow conversion.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let parts = d.parts.clone();
    let ["cvt", modifiers @ .., to, from] = &parts[..] else { return d.unsupported() };
    let (mut mode, mut away, mut relu) = (None, false, false);
    for &modifier in modifiers {
        match modifier {
            "rn" | "rz" if mode.is_none() && !away => mode = Mode::parse(modifier),
            "rna" if mode.is_none() && *to == "tf32" => away = true,
            "relu" if !away => relu = true,
            _ => return d.unsupported(),
        }
    }
    let (to, from, pair) = match (*to, *from) {
        ("bf16", "f32") => (BF16, F32, false),
        ("bf16x2", "f32") => (BF16, F32, true),
        ("f16x2", "f32") => (F16, F32, true),
        ("tf32", "f32") => (TF32, F32, false),
        ("f32", "bf16") => (F32, BF16, false),
        _ => return d.unsupported(),
    };
    let widens = to == F32;
    if widens != (mode.is_none() && !away) || widens && relu {
        return d.unsupported();
    }
    d.arity(if pair { 3 } else { 2 })?;
    let a = d.source(1, 4)?;
    let b = if pair { d.source(2, 4)? } else { ABSENT };
    let mode = if widens { Some(Mode::Nearest) } else { mode };
    let function = Function::Narrow(Narrow { to, from, mode, relu, pair });
    Ok(Scalar { function, to: Some(d.target(0, 4)?), flag: None, from: [a, b, ABSENT, ABSENT] })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{decode, word};
    use proptest::prelude::*;

    /// Rounds to the nearest multiple of a power of two of the pattern, ties to even. Patterns of
    /// one sign have the order of their values.
    fn nearest(bits: u32, spare: u32) -> u32 {
        let (kept, rest, half) = (bits >> spare, bits & ((1 << spare) - 1), 1 << (spare - 1));
        kept + u32::from(rest > half || rest == half && kept & 1 == 1)
    }

    proptest! {
        #[test]
        fn by_their_patterns(a: u32, b: u32) {
            prop_assume!(!f32::from_bits(a).is_nan() && !f32::from_bits(b).is_nan());
            prop_assert_eq!(word("cvt.rn.bf16.f32 %r7, %r0;", &[a]), nearest(a, 16));
            prop_assert_eq!(word("cvt.rz.bf16.f32 %r7, %r0;", &[a]), a >> 16);
            prop_assert_eq!(word("cvt.rn.bf16x2.f32 %r7, %r0, %r1;", &[a, b]), nearest(a, 16) << 16 | nearest(b, 16));
            prop_assert_eq!(word("cvt.rn.tf32.f32 %r7, %r0;", &[a]), nearest(a, 13) << 13);
            prop_assert_eq!(word("cvt.rna.tf32.f32 %r7, %r0;", &[a]), (a + 0x1000) & !0x1fff);
            prop_assert_eq!(word("cvt.f32.bf16 %r7, %r0;", &[a >> 16]), a & 0xffff_0000);
            let relu = if a >> 31 == 1 { 0 } else { nearest(a, 16) };
            prop_assert_eq!(word("cvt.rn.relu.bf16.f32 %r7, %r0;", &[a]), relu);
            let half = |x: u32| word("cvt.rn.f16.f32 %r7, %r0;", &[x]);
            prop_assert_eq!(word("cvt.rn.f16x2.f32 %r7, %r0, %r1;", &[a, b]), half(a) << 16 | half(b));
        }
    }

    #[test]
    fn not_a_number_stays_one() {
        let nan = f32::NAN.to_bits();
        assert_eq!(word("cvt.rn.bf16.f32 %r7, %r0;", &[nan]), 0x7fff);
        assert_eq!(word("cvt.rna.tf32.f32 %r7, %r0;", &[nan]), 0x7fff_ffff);
        assert_eq!(word("cvt.rn.relu.bf16x2.f32 %r7, %r0, %r0;", &[nan]), 0x7fff_7fff);
        assert!(f32::from_bits(word("cvt.f32.bf16 %r7, %r0;", &[0x7fc0])).is_nan());
    }

    #[test]
    fn what_is_not_there() {
        for inst in ["cvt.bf16.f32 %r1, %r2;", "cvt.rn.f32.bf16 %r1, %r2;", "cvt.rna.bf16.f32 %r1, %r2;", "cvt.rn.bf16.f64 %r1, %rd1;"] {
            assert!(decode(inst).unwrap_err().to_string().contains("unsupported instruction: `cvt."), "{inst}");
        }
    }
}
