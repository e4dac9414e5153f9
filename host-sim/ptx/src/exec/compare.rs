//! Comparison and selection: `setp` and `selp` on integers of 32 and 64 bits and on f32 (PTX ISA
//! 7.8 section 9.7.6).

use super::float::flush;
use crate::LANES;
use crate::ast::{Operand, Type};
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{DoubleReg, PredReg, Src32, Src64, WordReg};
use crate::registers::{Lanes, mask_of};
use std::cmp::Ordering;

/// Outcomes of a comparison that give true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    less: bool,
    equal: bool,
    greater: bool,
    /// True if a NaN operand gives true.
    unordered: bool,
}

impl Relation {
    pub(super) fn parse(text: &str, ty: Type) -> Option<Relation> {
        let float = matches!(ty, Type::Float(_));
        let unsigned = matches!(ty, Type::Unsigned(_));
        let (less, equal, greater, unordered) = match text {
            "eq" => (false, true, false, false),
            "ne" => (true, false, true, false),
            "lt" => (true, false, false, false),
            "le" => (true, true, false, false),
            "gt" => (false, false, true, false),
            "ge" => (false, true, true, false),
            "lo" if unsigned => (true, false, false, false),
            "ls" if unsigned => (true, true, false, false),
            "hi" if unsigned => (false, false, true, false),
            "hs" if unsigned => (false, true, true, false),
            "equ" if float => (false, true, false, true),
            "neu" if float => (true, false, true, true),
            "ltu" if float => (true, false, false, true),
            "leu" if float => (true, true, false, true),
            "gtu" if float => (false, false, true, true),
            "geu" if float => (false, true, true, true),
            "num" if float => (true, true, true, false),
            "nan" if float => (false, false, false, true),
            _ => return None,
        };
        // Untyped bits have no order.
        if matches!(ty, Type::Bits(_)) && !matches!(text, "eq" | "ne") {
            return None;
        }
        Some(Relation { less, equal, greater, unordered })
    }

    #[inline]
    pub(super) fn holds(self, order: Option<Ordering>) -> bool {
        match order {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }
}

/// Interpretation of 32-bit operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// Unsigned or untyped.
    Unsigned,
    /// Two's complement.
    Signed,
    /// IEEE single precision.
    Float,
    /// IEEE single precision with subnormals as zero.
    FloatFlushed,
}

/// A decoded comparison or selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `setp` on 32 bits.
    SetWord(Relation, WordKind, PredReg, [Src32; 2]),
    /// `setp` on 64 bits; signed if true.
    SetDouble(Relation, bool, PredReg, [Src64; 2]),
    /// `selp`: a if the predicate holds, else b.
    SelectWord(WordReg, [Src32; 2], PredReg),
    /// `selp` on 64 bits.
    SelectDouble(DoubleReg, [Src64; 2], PredReg),
}

/// Returns true for a `setp` of 32- or 64-bit integers or f32 with one result and no second
/// condition.
pub(super) fn is_common(d: &Decoder<'_, '_>) -> bool {
    let simple = !matches!(d.operand(0), Ok(Operand::Pair(..))) && d.operand(3).is_err();
    simple && d.ty().is_ok_and(|ty| ty.bytes() >= 4 && ty != Type::Float(8))
}

/// Decodes a comparison or selection.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Compare, PtxError> {
    let ty = d.ty()?;
    let modifiers = d.modifiers().to_vec();
    if d.parts[0] == "selp" {
        if !modifiers.is_empty() {
            return d.unsupported();
        }
        d.arity(4)?;
        let (o0, o1, o2, o3) = (d.operand(0)?, d.operand(1)?, d.operand(2)?, d.operand(3)?);
        return match ty.bytes() {
            _ if ty == Type::Pred => d.unsupported(),
            2 | 4 => Ok(Compare::SelectWord(d.dst32(o0)?, [d.src32(o1)?, d.src32(o2)?], d.src_pred(o3)?)),
            8 => Ok(Compare::SelectDouble(d.dst64(o0)?, [d.src64(o1)?, d.src64(o2)?], d.src_pred(o3)?)),
            _ => d.unsupported(),
        };
    }
    let (relation, ftz) = match modifiers.as_slice() {
        [relation] => (Relation::parse(relation, ty), false),
        [relation, "ftz"] if ty == Type::Float(4) => (Relation::parse(relation, ty), true),
        _ => return d.unsupported(),
    };
    let Some(relation) = relation else { return d.unsupported() };
    d.arity(3)?;
    let (o0, o1, o2) = (d.operand(0)?, d.operand(1)?, d.operand(2)?);
    let kind = match ty {
        Type::Unsigned(4) | Type::Bits(4) => WordKind::Unsigned,
        Type::Signed(4) => WordKind::Signed,
        Type::Float(4) if ftz => WordKind::FloatFlushed,
        Type::Float(4) => WordKind::Float,
        Type::Unsigned(8) | Type::Signed(8) | Type::Bits(8) => {
            return Ok(Compare::SetDouble(relation, ty.is_signed(), d.dst_pred(o0)?, [d.src64(o1)?, d.src64(o2)?]));
        }
        _ => return d.unsupported(),
    };
    Ok(Compare::SetWord(relation, kind, d.dst_pred(o0)?, [d.src32(o1)?, d.src32(o2)?]))
}

/// Executes the operation in the active lanes.
pub(super) fn execute(op: &Compare, l: &mut Lanes<'_>) {
    match *op {
        Compare::SetWord(relation, kind, dst, [a, b]) => {
            let (a, b) = (l.regs.word(a), l.regs.word(b));
            let float = |x: u32| f32::from_bits(x);
            let bits = match kind {
                WordKind::Unsigned => mask_of(|i| relation.holds(Some(a[i].cmp(&b[i])))),
                WordKind::Signed => mask_of(|i| relation.holds(Some((a[i] as i32).cmp(&(b[i] as i32))))),
                WordKind::Float => mask_of(|i| relation.holds(float(a[i]).partial_cmp(&float(b[i])))),
                WordKind::FloatFlushed => mask_of(|i| relation.holds(float(flush(a[i])).partial_cmp(&float(flush(b[i]))))),
            };
            l.regs.set_pred(dst, l.mask, bits);
        }
        Compare::SetDouble(relation, signed, dst, [a, b]) => {
            let (a, b) = (l.regs.double(a), l.regs.double(b));
            let order = |i: usize| if signed { (a[i] as i64).cmp(&(b[i] as i64)) } else { a[i].cmp(&b[i]) };
            let bits = mask_of(|i| relation.holds(Some(order(i))));
            l.regs.set_pred(dst, l.mask, bits);
        }
        Compare::SelectWord(dst, [a, b], pred) => {
            let (a, b, pred) = (l.regs.word(a), l.regs.word(b), l.regs.pred(pred));
            let values: [u32; LANES] = std::array::from_fn(|i| if pred >> i & 1 == 1 { a[i] } else { b[i] });
            l.regs.set_word(dst, l.mask, &values);
        }
        Compare::SelectDouble(dst, [a, b], pred) => {
            let (a, b, pred) = (l.regs.double(a), l.regs.double(b), l.regs.pred(pred));
            let values: [u64; LANES] = std::array::from_fn(|i| if pred >> i & 1 == 1 { a[i] } else { b[i] });
            l.regs.set_double(dst, l.mask, &values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{decode, run, run_masked};
    use proptest::prelude::*;

    fn small() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            (0u32..3).prop_map(|x| x.wrapping_sub(1)),
            prop::sample::select(vec![0x7fc0_0000u32, 0x8000_0000, 0x3f80_0000])
        ]
    }

    proptest! {
        /// Checks each relation against the host's operators.
        #[test]
        fn relations(a in small(), b in small()) {
            let (sa, sb) = (a as i32, b as i32);
            let (fa, fb) = (f32::from_bits(a), f32::from_bits(b));
            let nan = fa.is_nan() || fb.is_nan();
            for (op, expected) in [
                ("eq.b32", a == b), ("ne.s32", a != b), ("lt.s32", sa < sb), ("le.s32", sa <= sb), ("gt.s32", sa > sb), ("ge.s32", sa >= sb),
                ("lt.u32", a < b), ("le.u32", a <= b), ("gt.u32", a > b), ("ge.u32", a >= b),
                ("lo.u32", a < b), ("ls.u32", a <= b), ("hi.u32", a > b), ("hs.u32", a >= b),
                ("eq.f32", fa == fb), ("ne.f32", !nan && fa != fb), ("lt.f32", fa < fb), ("ge.f32", fa >= fb),
                ("equ.f32", nan || fa == fb), ("neu.f32", fa != fb), ("ltu.f32", nan || fa < fb), ("leu.f32", nan || fa <= fb),
                ("gtu.f32", nan || fa > fb), ("geu.f32", nan || fa >= fb), ("num.f32", !nan), ("nan.f32", nan),
            ] {
                let got = run(&format!("setp.{op} %p1, %r0, %r1;"), &[a, b], &[]).p(1);
                prop_assert_eq!(got, if expected { u32::MAX } else { 0 }, "{}", op);
            }
            let (da, db) = (i64::from(sa) << 20, i64::from(sb) << 20);
            prop_assert_eq!(run("setp.lt.s64 %p1, %rd0, %rd1;", &[], &[da as u64, db as u64]).p(1) & 1 == 1, da < db);
            prop_assert_eq!(run("setp.gt.u64 %p1, %rd0, %rd1;", &[], &[da as u64, db as u64]).p(1) & 1 == 1, da as u64 > db as u64);
        }

        #[test]
        fn select_takes_by_lane(a: u32, b: u32, pred: u32, mask: u32) {
            let after = run_masked("selp.b32 %r2, %r0, %r1, %p0;", mask, &[a, b, 7], &[], &[pred]).r(2);
            for (lane, value) in after.into_iter().enumerate() {
                let expected = if mask >> lane & 1 == 0 { 7 } else if pred >> lane & 1 == 1 { a } else { b };
                prop_assert_eq!(value, expected);
            }
        }
    }

    #[test]
    fn relations_that_a_type_lacks_are_refused() {
        for inst in ["setp.lt.b32 %p1, %r0, %r1;", "setp.lo.s32 %p1, %r0, %r1;", "setp.nan.u32 %p1, %r0, %r1;"] {
            let error = decode(inst).unwrap_err().to_string();
            assert!(error.starts_with("test.ptx:10:1: unsupported instruction: `setp."), "{error}");
        }
    }
}
