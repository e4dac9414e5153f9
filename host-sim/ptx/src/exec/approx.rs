//! Approximate functions: computed in double precision and rounded. This meets every error bound in
//! PTX ISA 7.8 section 9.7.3. The tables of special values there hold because they are those of the
//! functions themselves.
//!
//! The last digits of a GPU differ within those bounds.

use super::float::{NAN, flush};
use crate::ieee::{F32, F64, Format, Mode, Value};

/// An approximate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// a / b: 2 ulp for b from 2^-126 to 2^126. Beyond, `div.approx` gives 0, which is not modeled
    /// (assumption: the wider range of `div.full` for both).
    Div,
    /// 1 / a: 1 ulp.
    Rcp,
    /// Square root: 2^-23 relative.
    Sqrt,
    /// 1 / square root: 2^-22.4 relative.
    Rsqrt,
    /// Sine: 2^-20.9 absolute from -pi to pi.
    Sin,
    /// Cosine: 2^-20.9 absolute from -pi to pi.
    Cos,
    /// Logarithm to base 2: 2^-22.6 absolute.
    Lg2,
    /// Power of 2: 2 ulp + 2^-22 relative.
    Ex2,
    /// Hyperbolic tangent: 2^-11 relative.
    Tanh,
}

impl Function {
    pub(super) fn parse(mnemonic: &str, format: Format) -> Option<Function> {
        match mnemonic {
            "rcp" if format.bits >= 32 => Some(Function::Rcp),
            "rsqrt" if format.bits >= 32 => Some(Function::Rsqrt),
            "sqrt" if format == F32 => Some(Function::Sqrt),
            "sin" if format == F32 => Some(Function::Sin),
            "cos" if format == F32 => Some(Function::Cos),
            "lg2" if format == F32 => Some(Function::Lg2),
            "ex2" if format != F64 => Some(Function::Ex2),
            "tanh" if format != F64 => Some(Function::Tanh),
            _ => None,
        }
    }

    fn value(self, a: f64, b: f64) -> f64 {
        match self {
            Function::Div => a / b,
            Function::Rcp => 1.0 / a,
            Function::Sqrt => a.sqrt(),
            Function::Rsqrt => 1.0 / a.sqrt(),
            Function::Sin => a.sin(),
            Function::Cos => a.cos(),
            Function::Lg2 => a.log2(),
            Function::Ex2 => a.exp2(),
            Function::Tanh => a.tanh(),
        }
    }

    /// Returns the result for f32.
    pub(super) fn single(self, a: u64, b: u64) -> u64 {
        let [x, y] = [a, b].map(|bits| f64::from(f32::from_bits(bits as u32)));
        let result = self.value(x, y) as f32;
        if result.is_nan() { NAN.into() } else { result.to_bits().into() }
    }

    /// Returns the result for f64, where PTX keeps only the upper 32 bits of operand and result:
    /// `rcp.approx.ftz.f64`, `rsqrt.approx.f64`.
    pub(super) fn double(self, a: u64) -> u64 {
        let flushed = |bits: u64| if bits & 0x7ff0_0000_0000_0000 == 0 { bits & F64.sign(true) } else { bits & !0xffff_ffff };
        let result = self.value(f64::from_bits(flushed(a)), 0.0);
        if result.is_nan() { F64.nan } else { flushed(result.to_bits()) }
    }

    /// Returns the result for f16 or bf16, computed in f32.
    pub(super) fn half(self, format: Format, a: u64) -> u64 {
        let wide = match format.value(a) {
            Value::Nan => F32.nan,
            Value::Infinite(negative) => F32.infinity(negative),
            Value::Finite(x) => F32.round(x, Mode::Nearest),
        };
        match F32.value(u64::from(flush(self.single(wide, 0) as u32))) {
            Value::Nan => format.nan,
            Value::Infinite(negative) => format.infinity(negative),
            Value::Finite(x) => format.round(x, Mode::Nearest),
        }
    }
}
