//! Less common comparisons: `setp` with a second condition or two results, on 16 bits, f16 and f64;
//! `set`; `slct`; `testp` (PTX ISA 7.8 sections 9.7.3.1 and 9.7.5 to 9.7.7).

use super::compare::Relation;
use super::float::flush;
use super::scalar::{ABSENT, Function, Scalar, Target};
use crate::ast::{Operand, Type};
use crate::error::PtxError;
use crate::ieee::{F16, F32, F64, Value};
use crate::operands::Decoder;
use mias_warp_trace::isa::Class;
use std::cmp::Ordering;

/// Combination of a comparison with a third operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    None,
    And,
    Or,
    Xor,
}

/// Property tested by `testp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// Comparison, with the value for true.
    Compare(Relation, Join, u64),
    /// Selection: a if c >= 0, else b, with the type of c.
    Select,
    /// Property of a float.
    Property(Property),
}

/// Function of a decoded comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    operation: Operation,
    ty: Type,
    ftz: bool,
    /// True for two halves in a word: two results in one register, or in value and flag.
    pair: bool,
}

impl Test {
    pub(super) fn class(&self) -> Class {
        if self.ty == Type::Float(8) { Class::Dp } else { Class::Int }
    }

    pub(super) fn apply(&self, s: [u64; 4]) -> (u64, bool) {
        if !self.pair {
            return self.one(s);
        }
        let [a, b, c, d] = s;
        let (low, high) = (self.one([a & 0xffff, b & 0xffff, c, d]).0, self.one([a >> 16 & 0xffff, b >> 16 & 0xffff, c, d]).0);
        // One bit each for `setp`, 16 bits each for `set`.
        if low | high <= 1 { (low, high == 1) } else { (high << 16 | low, false) }
    }

    fn one(&self, [a, b, c, _]: [u64; 4]) -> (u64, bool) {
        match self.operation {
            Operation::Compare(relation, join, value) => {
                let holds = relation.holds(order(self.ty, self.ftz, a, b));
                let joined = |holds: bool| match join {
                    Join::None => holds,
                    Join::And => holds && c == 1,
                    Join::Or => holds || c == 1,
                    Join::Xor => holds != (c == 1),
                };
                (if joined(holds) { value } else { 0 }, joined(!holds))
            }
            // NaN selects b.
            Operation::Select => {
                let first = matches!(order(self.ty, self.ftz, c, 0), Some(Ordering::Equal | Ordering::Greater));
                (if first { a } else { b }, false)
            }
            Operation::Property(property) => (u64::from(has(self.ty, property, a)), false),
        }
    }
}

fn has(ty: Type, property: Property, bits: u64) -> bool {
    let format = if ty == Type::Float(8) { F64 } else { F32 };
    match (property, format.value(bits)) {
        (Property::NotANumber, value) => value == Value::Nan,
        (Property::Number, value) => value != Value::Nan,
        (Property::Infinite, value) => matches!(value, Value::Infinite(_)),
        (Property::Finite, value) => matches!(value, Value::Finite(_)),
        (Property::Normal, Value::Finite(x)) => x.mantissa >> (format.digits - 1) != 0,
        (Property::Subnormal, Value::Finite(x)) => x.mantissa != 0 && x.mantissa >> (format.digits - 1) == 0,
        _ => false,
    }
}

fn order(ty: Type, ftz: bool, a: u64, b: u64) -> Option<Ordering> {
    let spare = 64 - 8 * u32::from(ty.bytes());
    let half = |x: u64| half(if ftz && x & 0x7c00 == 0 { x & 0x8000 } else { x });
    let single = |x: u64| f32::from_bits(if ftz { flush(x as u32) } else { x as u32 });
    match ty {
        Type::Float(8) => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Type::Float(4) => single(a).partial_cmp(&single(b)),
        Type::Float(_) => half(a).partial_cmp(&half(b)),
        Type::Signed(_) => Some(((a << spare) as i64).cmp(&((b << spare) as i64))),
        _ => Some((a << spare).cmp(&(b << spare))),
    }
}

/// Converts a half to a double, exactly.
fn half(bits: u64) -> f64 {
    match F16.value(bits) {
        Value::Nan => f64::NAN,
        Value::Infinite(negative) => f64::from_bits(F64.infinity(negative)),
        Value::Finite(x) => f64::from_bits(F64.round(x, crate::ieee::Mode::Nearest)),
    }
}

/// Decodes a comparison.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let pair = d.parts.last() == Some(&"f16x2");
    let ty = if pair { Type::Float(2) } else { d.ty()? };
    let mut modifiers = d.modifiers().to_vec();
    let count = modifiers.len();
    modifiers.retain(|&m| m != "ftz");
    let ftz = modifiers.len() < count;
    if ty == Type::Pred || ty.bytes() == 1 || ftz && !matches!(ty, Type::Float(2 | 4)) || pair && !matches!(d.parts[0], "set" | "setp") {
        return d.unsupported();
    }
    let function = |operation| Function::Test(Test { operation, ty, ftz, pair });
    match d.parts[0] {
        "testp" => {
            let property = match modifiers[..] {
                ["finite"] => Property::Finite,
                ["infinite"] => Property::Infinite,
                ["number"] => Property::Number,
                ["notanumber"] => Property::NotANumber,
                ["normal"] => Property::Normal,
                ["subnormal"] => Property::Subnormal,
                _ => return d.unsupported(),
            };
            if !matches!(ty, Type::Float(4 | 8)) {
                return d.unsupported();
            }
            d.arity(2)?;
            let from = [d.source(1, ty.bytes())?, ABSENT, ABSENT, ABSENT];
            Ok(Scalar { function: function(Operation::Property(property)), to: Some(d.target(0, 0)?), flag: None, from })
        }
        "slct" => {
            let &[value] = &modifiers[..] else { return d.unsupported() };
            let (Some(value), Type::Signed(4) | Type::Float(4)) = (Type::parse(value), ty) else { return d.unsupported() };
            d.arity(4)?;
            let from = [d.source(1, value.bytes())?, d.source(2, value.bytes())?, d.source(3, 4)?, ABSENT];
            Ok(Scalar { function: function(Operation::Select), to: Some(d.target(0, value.bytes())?), flag: None, from })
        }
        mnemonic => {
            // `set` states the type of its result before that of its operands.
            let result = if mnemonic == "set" { modifiers.pop() } else { Some("pred") };
            let (value, width) = match result.and_then(Type::parse) {
                // Two halves of 1.0 or 0.0.
                None if pair && result == Some("f16x2") => (0x3c00, 4),
                Some(Type::Pred) => (1, 0),
                Some(Type::Float(2)) if !pair => (0x3c00, 2),
                _ if pair => return d.unsupported(),
                Some(Type::Unsigned(2) | Type::Signed(2)) => (0xffff, 2),
                Some(Type::Unsigned(4) | Type::Signed(4)) => (u32::MAX.into(), 4),
                Some(Type::Float(4)) => (1f32.to_bits().into(), 4),
                _ => return d.unsupported(),
            };
            let (relation, join) = match modifiers[..] {
                [relation] => (relation, Join::None),
                [relation, "and"] => (relation, Join::And),
                [relation, "or"] => (relation, Join::Or),
                [relation, "xor"] => (relation, Join::Xor),
                _ => return d.unsupported(),
            };
            let Some(relation) = Relation::parse(relation, ty) else { return d.unsupported() };
            d.arity(if join == Join::None { 3 } else { 4 })?;
            let third = if join == Join::None { ABSENT } else { d.source(3, 0)? };
            let bytes = if pair { 4 } else { ty.bytes() };
            let from = [d.source(1, bytes)?, d.source(2, bytes)?, third, ABSENT];
            let (to, flag) = match d.operand(0)? {
                Operand::Pair(first, second) if width == 0 => {
                    let mut side = |name: &str| if name == "_" { Ok(None) } else { d.def_pred(name).map(Some) };
                    (side(first)?.map(Target::Pred), side(second)?)
                }
                _ => (Some(d.target(0, width)?), None),
            };
            Ok(Scalar { function: function(Operation::Compare(relation, join, value)), to, flag, from })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{run, run_masked, word};
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![any::<f64>(), prop::sample::select(vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY])]
    }

    proptest! {
        #[test]
        fn doubles_and_halves_of_words(a in number(), b in number(), x: u32, y: u32) {
            let nan = a.is_nan() || b.is_nan();
            for (op, expected) in [("eq", a == b), ("ne", !nan && a != b), ("lt", a < b), ("geu", nan || a >= b), ("nan", nan), ("num", !nan)] {
                let got = run(&format!("setp.{op}.f64 %p1, %rd0, %rd1;"), &[], &[a.to_bits(), b.to_bits()]).p(1);
                prop_assert_eq!(got & 1 == 1, expected, "{}", op);
            }
            prop_assert_eq!(run("setp.lt.s16 %p1, %r0, %r1;", &[x, y], &[]).p(1) & 1 == 1, (x as i16) < (y as i16));
            prop_assert_eq!(run("setp.hi.u16 %p1, %r0, %r1;", &[x, y], &[]).p(1) & 1 == 1, (x as u16) > (y as u16));
        }

        #[test]
        fn joined_with_a_condition(a: u32, b in any::<u32>(), c: u32, mask: u32) {
            for b in [a, b] {
                for (join, f) in [("and", (|x, y| x & y) as fn(u32, u32) -> u32), ("or", |x, y| x | y), ("xor", |x, y| x ^ y)] {
                    let less = if a < b { u32::MAX } else { 0 };
                    let after = run_masked(&format!("setp.lt.{join}.u32 %p1|%p2, %r0, %r1, %p0;"), mask, &[a, b], &[], &[c]);
                    prop_assert_eq!((after.p(1), after.p(2)), (f(less, c) & mask, f(!less, c) & mask));
                    let after = run_masked(&format!("setp.lt.{join}.u32 %p1, %r0, %r1, !%p0;"), mask, &[a, b], &[], &[c]);
                    prop_assert_eq!(after.p(1), f(less, !c) & mask);
                }
                prop_assert_eq!(word("set.le.u32.s32 %r7, %r0, %r1;", &[a, b]), if a as i32 <= b as i32 { u32::MAX } else { 0 });
                prop_assert_eq!(f32::from_bits(word("set.eq.f32.u32 %r7, %r0, %r1;", &[a, b])), if a == b { 1.0 } else { 0.0 });
            }
            prop_assert_eq!(word("slct.u32.s32 %r7, %r0, %r1, %r2;", &[a, b, c]), if c as i32 >= 0 { a } else { b });
        }

        #[test]
        fn properties(bits: u32) {
            use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
            let category = f32::from_bits(bits).classify();
            for (name, categories) in [
                ("finite", &[Zero, Normal, Subnormal][..]), ("infinite", &[Infinite]), ("number", &[Zero, Normal, Subnormal, Infinite]),
                ("notanumber", &[Nan]), ("normal", &[Normal]), ("subnormal", &[Subnormal]),
            ] {
                let got = run(&format!("testp.{name}.f32 %p1, %r0;"), &[bits], &[]).p(1) & 1 == 1;
                prop_assert_eq!(got, categories.contains(&category), "{}", name);
            }
        }
    }

    proptest! {
        /// Pairs are two independent comparisons of halves.
        #[test]
        fn pairs_of_halves(a: u32, b: u32) {
            for op in ["eq", "ne", "lt", "gtu", "nan"] {
                let single = |a: u32, b: u32| run(&format!("setp.{op}.f16 %p1, %r0, %r1;"), &[a, b], &[]).p(1) & 1;
                let (low, high) = (single(a & 0xffff, b & 0xffff), single(a >> 16, b >> 16));
                prop_assert_eq!(word(&format!("set.{op}.f16x2.f16x2 %r7, %r0, %r1;"), &[a, b]), 0x3c00 * (low | high << 16));
                let both = run(&format!("setp.{op}.f16x2 %p1|%p2, %r0, %r1;"), &[a, b], &[]);
                prop_assert_eq!((both.p(1) & 1, both.p(2) & 1), (low, high));
                prop_assert_eq!(word(&format!("set.{op}.f16.f16 %r7, %r0, %r1;"), &[a & 0xffff, b & 0xffff]), 0x3c00 * low);
            }
        }
    }

    #[test]
    fn halves_compare_by_value() {
        // Values: 1.0, -2.0, the largest subnormal, NaN.
        for (a, b, less) in [(0x3c00, 0xc000, false), (0xc000, 0x3c00, true), (0x03ff, 0x0400, true), (0x7e00, 0x3c00, false)] {
            assert_eq!(run("setp.lt.f16 %p1, %r0, %r1;", &[a, b], &[]).p(1) & 1 == 1, less, "{a:x} {b:x}");
        }
    }
}
