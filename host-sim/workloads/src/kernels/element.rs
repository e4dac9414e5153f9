//! Number types of arguments and buffers, and their bits in memory.

use crate::random::Random;
use mias_ptx::ieee::{F16, F32, Mode, Value};

/// Type of a scalar or of an element of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// IEEE float of a width in bytes (2, 4, 8).
    Float(u8),
    /// Signed integer of a width in bytes (1, 2, 4, 8).
    Signed(u8),
    /// Unsigned integer of a width in bytes (1, 2, 4, 8).
    Unsigned(u8),
}

/// Names of all elements, for messages.
pub const NAMES: &str = "f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64";

impl Element {
    /// Parses a type such as `f32` or `u8`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, bits) = text.split_at_checked(1)?;
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        match kind {
            "f" if bytes > 1 => Some(Element::Float(bytes)),
            "i" => Some(Element::Signed(bytes)),
            "u" => Some(Element::Unsigned(bytes)),
            _ => None,
        }
    }

    /// Returns the width in bytes.
    pub fn bytes(self) -> u8 {
        match self {
            Element::Float(bytes) | Element::Signed(bytes) | Element::Unsigned(bytes) => bytes,
        }
    }

    /// Parses a number and returns its bits, in the low bytes; `None` if the text is invalid or the
    /// value does not fit.
    pub fn number(self, text: &str) -> Option<u64> {
        match self {
            Element::Float(_) => text.parse::<f64>().ok().map(|value| self.float(value)),
            _ => integer(text).filter(|&value| self.has(value)).map(|value| self.whole(value)),
        }
    }

    /// Draws a random number: floats in [-1, 1), integers over their whole range.
    pub fn random(self, random: &mut Random) -> u64 {
        match self {
            Element::Float(_) => self.float(random.float().into()),
            _ => self.cut(random.bits()),
        }
    }

    /// Draws a random number from `low` (inclusive) to `high` (exclusive), except for rounding.
    pub fn random_within(self, low: f64, high: f64, random: &mut Random) -> u64 {
        self.float(low + (f64::from(random.float()) + 1.0) / 2.0 * (high - low))
    }

    /// Draws a random integer from `low` to `high`, with `high - low` from 0 to 2^64 - 1.
    pub fn random_whole(self, low: i128, high: i128, random: &mut Random) -> u64 {
        let (bits, span) = (random.bits(), (high - low + 1) as u64);
        // For all 2^64 values, the span is 0 and needs no remainder.
        self.whole(low + i128::from(bits.checked_rem(span).unwrap_or(bits)))
    }

    /// Returns the bits of an integer, which wraps if it does not fit.
    pub fn whole(self, value: i128) -> u64 {
        match self {
            Element::Float(_) => self.float(value as f64),
            _ => self.cut(value as u64),
        }
    }

    /// Returns whether an integer fits the type; always true for floats.
    pub fn has(self, value: i128) -> bool {
        match self {
            Element::Float(_) => true,
            Element::Signed(bytes) => (-(1i128 << (8 * bytes - 1))..1i128 << (8 * bytes - 1)).contains(&value),
            Element::Unsigned(bytes) => (0..1i128 << (8 * bytes)).contains(&value),
        }
    }

    /// Returns the bits of a number divided by `divisor` and rounded again; `None` for types other
    /// than f32 and f64.
    pub fn divided(self, bits: u64, divisor: f64) -> Option<u64> {
        match self {
            Element::Float(4) => Some(self.float(f64::from(f32::from_bits(bits as u32)) / divisor)),
            Element::Float(8) => Some(self.float(f64::from_bits(bits) / divisor)),
            _ => None,
        }
    }

    fn float(self, value: f64) -> u64 {
        match self.bytes() {
            8 => value.to_bits(),
            4 => (value as f32).to_bits().into(),
            _ => match F32.value((value as f32).to_bits().into()) {
                Value::Finite(exact) => F16.round(exact, Mode::Nearest),
                Value::Infinite(negative) => F16.infinity(negative),
                Value::Nan => F16.nan,
            },
        }
    }

    fn cut(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - 8 * u32::from(self.bytes())))
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Element::Float(_) => 'f',
            Element::Signed(_) => 'i',
            Element::Unsigned(_) => 'u',
        };
        write!(f, "{kind}{}", 8 * self.bytes())
    }
}

/// Parses an integer, decimal or with `0x`, with optional `_` between digits.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = digits.replace('_', "");
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with('+') => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -i128::from(value) } else { value.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn element(text: &str) -> Element {
        Element::parse(text).unwrap()
    }

    #[test]
    fn names_are_read_and_written_alike() {
        for name in NAMES.split(", ") {
            assert_eq!(element(name).to_string(), name);
        }
        for wrong in ["", "f", "f8", "b32", "f33", "u128", "ü8"] {
            assert_eq!(Element::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_have_the_bits_of_their_type() {
        for (name, text, bits) in [
            ("i8", "-1", Some(0xff)),
            ("i8", "128", None),
            ("u8", "255", Some(255)),
            ("u8", "-1", None),
            ("u64", "0xffffffffffffffff", Some(u64::MAX)),
            ("i64", "-9223372036854775808", Some(1 << 63)),
            ("i64", "9223372036854775808", None),
            ("u32", "1_048_576", Some(1 << 20)),
            ("f32", "2.0", Some(0x4000_0000)),
            ("f64", "-1", Some(0xbff0_0000_0000_0000)),
            ("f16", "1.5", Some(0x3e00)),
            ("f16", "1e9", Some(0x7c00)),
            ("f16", "nan", Some(0x7fff)),
            ("f32", "two", None),
            ("u32", "2.0", None),
        ] {
            assert_eq!(element(name).number(text), bits, "{name}:{text}");
        }
    }

    proptest! {
        #[test]
        fn integers_are_the_languages(value in any::<i32>()) {
            prop_assert_eq!(element("i32").number(&value.to_string()), Some(u64::from(value as u32)));
            prop_assert_eq!(element("i64").number(&value.to_string()), Some(i64::from(value) as u64));
            prop_assert_eq!(element("u32").number(&value.to_string()), u32::try_from(value).ok().map(u64::from));
        }

        #[test]
        fn random_numbers_stay_in_range(low in -1000i32..1000, span in 0i32..1000, seed in any::<u64>()) {
            let mut random = Random::new(seed);
            let high = low + span;
            let value = element("i32").random_whole(low.into(), high.into(), &mut random) as u32 as i32;
            prop_assert!((low..=high).contains(&value));
            if span > 0 {
                let value = f64::from_bits(element("f64").random_within(low.into(), high.into(), &mut random));
                prop_assert!((f64::from(low)..f64::from(high)).contains(&value));
            }
        }

        /// For integers and divisors that a float represents exactly, the result is the float
        /// nearest to the quotient, as in a float division.
        #[test]
        fn quotients_are_rounded_once(value in -100_000i32..100_000, divisor in 1i32..100_000) {
            let bits = element("f32").whole(value.into());
            let found = element("f32").divided(bits, divisor.into()).unwrap();
            prop_assert_eq!(found, u64::from((value as f32 / divisor as f32).to_bits()));
            prop_assert_eq!(element("i32").divided(1, 2.0), None);
        }
    }
}
