//! IEEE 754 arithmetic on bit patterns in integers, for operations that the host lacks: directed
//! rounding and half precision. Definition: IEEE 754-2019 sections 4.3 (rounding), 5.4 (operations)
//! and 7 (overflow, underflow).
//!
//! A result is first computed exactly, or with enough digits that a sticky bit represents the rest,
//! and then rounded once.

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Width in bits.
    pub bits: u32,
    /// Significant digits, including the hidden one.
    pub digits: u32,
    /// Largest exponent.
    pub emax: i32,
    /// NaN result of arithmetic. For f32 and f16 it is that of PTX; for f64 PTX leaves it open
    /// (assumption: quiet, no payload).
    pub nan: u64,
}

/// Half precision.
pub const F16: Format = Format { bits: 16, digits: 11, emax: 15, nan: 0x7fff };
/// Upper half of single precision (PTX ISA 7.8 section 5.2.3).
pub const BF16: Format = Format { bits: 16, digits: 8, emax: 127, nan: 0x7fff };
/// Single precision without its 13 lowest digits, as in matrix instructions (PTX ISA 7.8 section
/// 5.2.3).
pub const TF32: Format = Format { bits: 19, digits: 11, emax: 127, nan: 0x3ffff };
/// Single precision.
pub const F32: Format = Format { bits: 32, digits: 24, emax: 127, nan: 0x7fff_ffff };
/// Double precision.
pub const F64: Format = Format { bits: 64, digits: 53, emax: 1023, nan: 0x7ff8_0000_0000_0000 };

/// Direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

impl Mode {
    /// Parses `rn`, `rz`, `rm`, `rp`.
    pub fn parse(text: &str) -> Option<Mode> {
        match text {
            "rn" => Some(Mode::Nearest),
            "rz" => Some(Mode::Zero),
            "rm" => Some(Mode::Down),
            "rp" => Some(Mode::Up),
            _ => None,
        }
    }
}

/// A finite number: `mantissa * 2^exponent`, slightly larger in magnitude if `sticky`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// True if negative, also for zero.
    pub negative: bool,
    /// Magnitude.
    pub mantissa: u128,
    /// Power of two of the mantissa's lowest digit.
    pub exponent: i32,
    /// True if the magnitude is larger by less than one unit of the mantissa.
    pub sticky: bool,
}

/// Value of a bit pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Not a number.
    Nan,
    /// Infinity; true if negative.
    Infinite(bool),
    /// A finite number.
    Finite(Exact),
}

impl Format {
    fn fraction(self) -> u32 {
        self.digits - 1
    }

    /// Returns the infinity of a sign.
    pub fn infinity(self, negative: bool) -> u64 {
        self.sign(negative) | (2 * self.emax as u64 + 1) << self.fraction()
    }

    /// Returns the bit pattern of the sign: the sign bit if negative, and 0 otherwise.
    pub fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.bits - 1)
    }

    /// Decodes a bit pattern.
    pub fn value(self, bits: u64) -> Value {
        let negative = bits >> (self.bits - 1) & 1 == 1;
        let fraction = bits & ((1 << self.fraction()) - 1);
        let biased = (bits >> self.fraction() & (2 * self.emax as u64 + 1)) as i32;
        if biased == 2 * self.emax + 1 {
            return if fraction == 0 { Value::Infinite(negative) } else { Value::Nan };
        }
        let hidden = u64::from(biased > 0) << self.fraction();
        let exponent = biased.max(1) - self.emax - self.fraction() as i32;
        Value::Finite(Exact { negative, mantissa: (hidden | fraction).into(), exponent, sticky: false })
    }

    /// Rounds a number and encodes it.
    pub fn round(self, x: Exact, mode: Mode) -> u64 {
        if x.mantissa == 0 {
            return self.sign(x.negative);
        }
        let length = 128 - x.mantissa.leading_zeros() as i32;
        let fraction = self.fraction() as i32;
        // Power of two of the result's last digit.
        let mut last = (x.exponent + length - 1 - fraction).max(1 - self.emax - fraction);
        let (mut kept, above, tie) = cut(x, last - x.exponent);
        let up = match mode {
            Mode::Nearest => above && !tie || tie && kept & 1 == 1,
            Mode::Zero => false,
            Mode::Down => x.negative && inexact(x, last - x.exponent),
            Mode::Up => !x.negative && inexact(x, last - x.exponent),
        };
        kept += u128::from(up);
        if kept == 1 << self.digits {
            kept >>= 1;
            last += 1;
        }
        let kept = kept as u64;
        if kept >> fraction == 0 {
            return self.sign(x.negative) | kept;
        }
        let biased = last + fraction + self.emax;
        if biased > 2 * self.emax {
            let away = match mode {
                Mode::Nearest => true,
                Mode::Zero => false,
                Mode::Down => x.negative,
                Mode::Up => !x.negative,
            };
            return self.infinity(x.negative) - u64::from(!away);
        }
        self.sign(x.negative) | (biased as u64) << fraction | kept & ((1 << fraction) - 1)
    }

    /// Returns the sum a + b.
    pub fn add(self, a: u64, b: u64, mode: Mode) -> u64 {
        self.sum(self.value(a), self.value(b), mode)
    }

    /// Returns the product a * b.
    pub fn mul(self, a: u64, b: u64, mode: Mode) -> u64 {
        match product(self.value(a), self.value(b)) {
            Value::Nan => self.nan,
            Value::Infinite(negative) => self.infinity(negative),
            Value::Finite(x) => self.round(x, mode),
        }
    }

    /// Returns the fused multiply-add a * b + c, rounded once.
    pub fn fma(self, a: u64, b: u64, c: u64, mode: Mode) -> u64 {
        self.sum(product(self.value(a), self.value(b)), self.value(c), mode)
    }

    /// Returns the quotient a / b.
    pub fn div(self, a: u64, b: u64, mode: Mode) -> u64 {
        let negative = (a ^ b) >> (self.bits - 1) & 1 == 1;
        match (self.value(a), self.value(b)) {
            (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite(_), Value::Infinite(_)) => self.nan,
            (Value::Infinite(_), _) => self.infinity(negative),
            (_, Value::Infinite(_)) => self.sign(negative),
            (Value::Finite(a), Value::Finite(b)) if b.mantissa == 0 => {
                if a.mantissa == 0 {
                    self.nan
                } else {
                    self.infinity(negative)
                }
            }
            (Value::Finite(a), Value::Finite(_)) if a.mantissa == 0 => self.sign(negative),
            (Value::Finite(a), Value::Finite(b)) => {
                let shift = a.mantissa.leading_zeros();
                let high = a.mantissa << shift;
                let exponent = a.exponent - shift as i32 - b.exponent;
                let sticky = high % b.mantissa != 0;
                self.round(Exact { negative, mantissa: high / b.mantissa, exponent, sticky }, mode)
            }
        }
    }

    /// Returns the square root of a.
    pub fn sqrt(self, a: u64, mode: Mode) -> u64 {
        match self.value(a) {
            Value::Finite(x) if x.mantissa == 0 => a,
            Value::Infinite(false) => a,
            Value::Finite(x) if !x.negative => {
                let shift = (x.mantissa.leading_zeros() & !1) as i32;
                let shift = shift - ((x.exponent - shift) & 1);
                let scaled = x.mantissa << shift;
                let root = scaled.isqrt();
                let exponent = (x.exponent - shift) / 2;
                self.round(Exact { negative: false, mantissa: root, exponent, sticky: root * root != scaled }, mode)
            }
            _ => self.nan,
        }
    }

    fn sum(self, a: Value, b: Value, mode: Mode) -> u64 {
        match (a, b) {
            (Value::Nan, _) | (_, Value::Nan) => self.nan,
            (Value::Infinite(x), Value::Infinite(y)) if x != y => self.nan,
            (Value::Infinite(x), _) | (_, Value::Infinite(x)) => self.infinity(x),
            (Value::Finite(a), Value::Finite(b)) => self.round(sum(a, b, mode), mode),
        }
    }
}

/// Returns the digits from position `shift` on, whether the rest is at least half a unit, and
/// whether it is exactly half.
fn cut(x: Exact, shift: i32) -> (u128, bool, bool) {
    match shift {
        ..=0 => (x.mantissa << -shift, false, false),
        1..=127 => {
            let rest = x.mantissa & ((1 << shift) - 1);
            let half = 1 << (shift - 1);
            (x.mantissa >> shift, rest >= half, rest == half && !x.sticky)
        }
        128 => (0, x.mantissa >> 127 == 1, x.mantissa == 1 << 127 && !x.sticky),
        _ => (0, false, false),
    }
}

fn inexact(x: Exact, shift: i32) -> bool {
    x.sticky || shift >= 128 || shift > 0 && x.mantissa & ((1 << shift) - 1) != 0
}

fn product(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite(x), Value::Infinite(y)) => Value::Infinite(x != y),
        (Value::Infinite(x), Value::Finite(y)) | (Value::Finite(y), Value::Infinite(x)) => {
            if y.mantissa == 0 {
                Value::Nan
            } else {
                Value::Infinite(x != y.negative)
            }
        }
        (Value::Finite(a), Value::Finite(b)) => Value::Finite(Exact {
            negative: a.negative != b.negative,
            mantissa: a.mantissa * b.mantissa,
            exponent: a.exponent + b.exponent,
            sticky: false,
        }),
    }
}

/// Returns the sum of two numbers without sticky bits; the larger is shifted up to leave one bit
/// for the carry.
fn sum(a: Exact, b: Exact, mode: Mode) -> Exact {
    let zero = |negative| Exact { negative, mantissa: 0, exponent: 0, sticky: false };
    let canceled = zero(mode == Mode::Down);
    match (a.mantissa, b.mantissa) {
        (0, 0) if a.negative == b.negative => return zero(a.negative),
        (0, 0) => return canceled,
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    let lift = |x: Exact| {
        let shift = x.mantissa.leading_zeros() - 1;
        Exact { mantissa: x.mantissa << shift, exponent: x.exponent - shift as i32, ..x }
    };
    let (a, b) = (lift(a), lift(b));
    let (big, small) = if (a.exponent, a.mantissa) >= (b.exponent, b.mantissa) { (a, b) } else { (b, a) };
    let distance = (big.exponent - small.exponent) as u32;
    let moved = small.mantissa.checked_shr(distance).unwrap_or(0);
    let sticky = distance >= 128 || moved << distance != small.mantissa;
    if big.negative == small.negative {
        return Exact { mantissa: big.mantissa + moved, sticky, ..big };
    }
    match big.mantissa - moved - u128::from(sticky) {
        0 => canceled,
        mantissa => Exact { mantissa, sticky, ..big },
    }
}

#[cfg(test)]
#[path = "ieee_tests.rs"]
mod tests;
