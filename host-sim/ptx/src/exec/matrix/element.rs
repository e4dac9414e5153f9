//! Types of matrix elements (PTX ISA 7.8 section 9.7.13.1 "Matrix Data-types", section 5.2.3
//! "Alternate Floating-Point Data Formats").
//!
//! Double precision represents every value of every type exactly, so one multiplication serves all
//! types.

use super::fragment::{Role, Shape};
use crate::ieee::{BF16, F16, F32, F64, Mode, Value};

/// A type of matrix element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Half precision.
    F16,
    /// Upper half of an f32 (bf16).
    Bf16,
    /// An f32 whose 13 lowest digits are ignored (tf32).
    Tf32,
    /// Single precision, for sums only.
    F32,
    /// Double precision.
    F64,
    /// An integer of this many bits (8, 4, 1; 32 for sums), signed if true.
    Integer(u32, bool),
}

impl Kind {
    /// Parses the type in an opcode.
    pub(super) fn parse(text: &str) -> Option<Kind> {
        Some(match text {
            "f16" => Kind::F16,
            "bf16" => Kind::Bf16,
            "tf32" => Kind::Tf32,
            "f32" => Kind::F32,
            "f64" => Kind::F64,
            "s8" => Kind::Integer(8, true),
            "u8" => Kind::Integer(8, false),
            "s4" => Kind::Integer(4, true),
            "u4" => Kind::Integer(4, false),
            "b1" => Kind::Integer(1, false),
            "s32" => Kind::Integer(32, true),
            _ => return None,
        })
    }

    /// Returns the width in bits.
    pub fn bits(self) -> usize {
        match self {
            Kind::F16 | Kind::Bf16 => 16,
            Kind::Tf32 | Kind::F32 => 32,
            Kind::F64 => 64,
            Kind::Integer(bits, _) => bits as usize,
        }
    }

    /// Returns the width of the registers that hold the element, in bits.
    pub(super) fn register_bits(self) -> usize {
        if self == Kind::F64 { 64 } else { 32 }
    }

    /// Returns the number of adjacent elements that a lane holds in a tile: as many as fit a
    /// register in a factor, two in a sum.
    pub(super) fn run(self, role: Role) -> usize {
        if role == Role::C { 2 } else { self.register_bits() / self.bits() }
    }

    /// Returns the number represented by the low bits, including NaN and infinities.
    pub(super) fn value(self, bits: u64) -> f64 {
        let bits = if self.bits() < 64 { bits & ((1 << self.bits()) - 1) } else { bits };
        match self {
            Kind::F16 => half(bits as u32),
            Kind::Bf16 => f32::from_bits((bits as u32) << 16).into(),
            Kind::Tf32 => f32::from_bits(bits as u32 & !0x1fff).into(),
            Kind::F32 => f32::from_bits(bits as u32).into(),
            Kind::F64 => f64::from_bits(bits),
            Kind::Integer(width, true) => (((bits << (64 - width)) as i64) >> (64 - width)) as f64,
            Kind::Integer(_, false) => bits as f64,
        }
    }

    /// Returns the bits of a sum of this type.
    pub(super) fn bits_of(self, value: f64, saturate: bool) -> u64 {
        match self {
            Kind::F32 | Kind::Tf32 if value.is_nan() => F32.nan,
            Kind::F32 | Kind::Tf32 => (value as f32).to_bits().into(),
            Kind::F64 if value.is_nan() => F64.nan,
            Kind::F64 => value.to_bits(),
            Kind::F16 | Kind::Bf16 => {
                let format = if self == Kind::F16 { F16 } else { BF16 };
                match F64.value(value.to_bits()) {
                    Value::Nan => format.nan,
                    Value::Infinite(negative) => format.infinity(negative),
                    Value::Finite(x) => format.round(x, Mode::Nearest),
                }
            }
            // A sum of products is far below 2^63; a conversion of floats saturates.
            Kind::Integer(..) if saturate => u64::from(value as i32 as u32),
            Kind::Integer(..) => u64::from(value as i64 as u32),
        }
    }

    /// Returns whether sums of products of this type may have the type `sum`.
    pub(super) fn adds_to(self, sum: Kind) -> bool {
        match self {
            Kind::F16 => matches!(sum, Kind::F16 | Kind::F32),
            Kind::Bf16 | Kind::Tf32 => sum == Kind::F32,
            Kind::F64 => sum == Kind::F64,
            Kind::Integer(8 | 4 | 1, _) => sum == Kind::Integer(32, true),
            _ => false,
        }
    }

    /// Returns whether `mma` supports factors of this type in a shape.
    pub(super) fn multiplies(self, shape: Shape) -> bool {
        let shape = (shape.m, shape.n, shape.k);
        match self {
            Kind::F16 => matches!(shape, (8, 8, 4) | (16, 8, 8 | 16)),
            Kind::Bf16 => matches!(shape, (16, 8, 8 | 16)),
            Kind::Tf32 => matches!(shape, (16, 8, 4 | 8)),
            Kind::F64 => matches!(shape, (8, 8, 4) | (16, 8, 4 | 8 | 16)),
            Kind::Integer(8, _) => matches!(shape, (8, 8, 16) | (16, 8, 16 | 32)),
            Kind::Integer(4, _) => matches!(shape, (8, 8, 32) | (16, 8, 32 | 64)),
            Kind::Integer(1, _) => matches!(shape, (8, 8, 128) | (16, 8, 128 | 256)),
            _ => false,
        }
    }

    /// Returns whether `wmma` supports factors of this type in a shape.
    pub(super) fn multiplies_by_warp(self, shape: Shape) -> bool {
        let shape = (shape.m, shape.n, shape.k);
        match self {
            Kind::F16 | Kind::Bf16 | Kind::Integer(8, _) => matches!(shape, (16, 16, 16) | (32, 8, 16) | (8, 32, 16)),
            Kind::Tf32 => shape == (16, 16, 8),
            Kind::F64 => shape == (8, 8, 4),
            Kind::Integer(4, _) => shape == (8, 8, 32),
            Kind::Integer(1, _) => shape == (8, 8, 128),
            _ => false,
        }
    }
}

/// All types of factors.
pub(super) const FACTORS: [Kind; 7] =
    [Kind::F16, Kind::Bf16, Kind::Tf32, Kind::F64, Kind::Integer(8, true), Kind::Integer(4, true), Kind::Integer(1, false)];

/// Converts a half to a double. A multiplication shifts the exponent, which is exact for subnormals
/// too.
fn half(bits: u32) -> f64 {
    let magnitude = match bits & 0x7c00 {
        0x7c00 => f32::from_bits(0x7f80_0000 | (bits & 0x3ff) << 13),
        // The factor 2^112 is the difference of the exponents' biases.
        _ => f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((112 + 127) << 23),
    };
    f64::from(if bits & 0x8000 == 0 { magnitude } else { -magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit pattern of the narrow floats is compared with the definition of their formats, in
    /// both directions.
    #[test]
    fn narrow_floats_are_what_their_formats_say() {
        for (kind, format) in [(Kind::F16, F16), (Kind::Bf16, BF16)] {
            for bits in 0..=0xffff {
                let expected = match format.value(bits) {
                    Value::Nan => f64::NAN,
                    Value::Infinite(negative) => f64::from_bits(F64.infinity(negative)),
                    Value::Finite(x) => f64::from_bits(F64.round(x, Mode::Nearest)),
                };
                let found = kind.value(bits);
                assert!(found == expected || found.is_nan() && expected.is_nan(), "{kind:?} {bits:#x}: {found} is not {expected}");
                assert!(found.is_nan() || kind.bits_of(found, false) == bits, "{kind:?} {bits:#x}");
            }
        }
    }

    #[test]
    fn integers_by_their_sign() {
        assert_eq!(Kind::Integer(4, true).value(0xf8), -8.0);
        assert_eq!(Kind::Integer(4, false).value(0xf8), 8.0);
        assert_eq!(Kind::Integer(8, true).value(0x1ff), -1.0);
        assert_eq!(Kind::Integer(1, false).value(3), 1.0);
        let sum = Kind::Integer(32, true);
        assert_eq!([sum.bits_of(2147483648.0, false), sum.bits_of(2147483648.0, true)], [0x8000_0000, 0x7fff_ffff]);
        assert_eq!([sum.bits_of(-2147483649.0, false), sum.bits_of(-2147483649.0, true)], [0x7fff_ffff, 0x8000_0000]);
    }
}
