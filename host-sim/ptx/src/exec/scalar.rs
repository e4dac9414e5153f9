//! Scalar functions: instructions that map up to four values to one value and one flag in each
//! lane. They are the instructions without a specialized loop. Values are passed as 64 bits and cut
//! to the destination.

use super::{arith, bits, cvt, integer_any, narrow, test, video};
use crate::LANES;
use crate::program::{DoubleReg, PredReg, Src, Src32, Src64, WordReg};
use crate::registers::Lanes;
use mias_warp_trace::isa::Class;

/// Destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Up to 32 bits.
    Word(WordReg),
    /// 64 bits.
    Double(DoubleReg),
    /// Bit 0, as a predicate.
    Pred(PredReg),
}

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Up to 32 bits.
    Word(Src32),
    /// 64 bits.
    Double(Src64),
    /// Predicate as 0 or 1; inverted if true.
    Pred(PredReg, bool),
}

/// A missing operand.
pub(super) const ABSENT: Source = Source::Word(Src::Imm(0));

/// Function of a decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Integer arithmetic.
    Integer(integer_any::Integer),
    /// Bit manipulation.
    Bits(bits::Bits),
    /// Comparison.
    Test(test::Test),
    /// Floating point.
    Arith(arith::Arith),
    /// Conversion.
    Cvt(cvt::Cvt),
    /// Conversion of narrow floats.
    Narrow(narrow::Narrow),
    /// Parts of a word.
    Video(video::Video),
}

impl Function {
    #[inline]
    fn apply(&self, s: [u64; 4]) -> (u64, bool) {
        match self {
            Function::Integer(f) => f.apply(s),
            Function::Bits(f) => (f.apply(s), false),
            Function::Test(f) => f.apply(s),
            Function::Arith(f) => (f.apply(s), false),
            Function::Cvt(f) => (f.apply(s), false),
            Function::Narrow(f) => (f.apply(s), false),
            Function::Video(f) => (f.apply(s), false),
        }
    }

    /// Returns the unit that executes the function.
    pub fn class(&self) -> Class {
        match self {
            Function::Integer(_) | Function::Video(_) => Class::Int,
            Function::Bits(f) => f.class(),
            Function::Test(f) => f.class(),
            Function::Arith(f) => f.class(),
            Function::Cvt(f) => f.class(),
            // As for every conversion with a float.
            Function::Narrow(_) => Class::Sfu,
        }
    }
}

/// A decoded instruction with a function per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Function to compute.
    pub function: Function,
    /// Destination of the value, unless it is discarded.
    pub to: Option<Target>,
    /// Destination of the flag: the carry, or the second result of a comparison.
    pub flag: Option<PredReg>,
    /// Operands; missing ones are zero.
    pub from: [Source; 4],
}

/// Executes the function in the active lanes.
pub(super) fn execute(op: &Scalar, l: &mut Lanes<'_>) {
    let inputs = op.from.map(|source| read(l, source));
    let mut values = [0; LANES];
    let mut flags = 0;
    for lane in 0..LANES {
        if l.mask >> lane & 1 == 1 {
            let (value, flag) = op.function.apply(inputs.map(|input| input[lane]));
            values[lane] = value;
            flags |= u32::from(flag) << lane;
        }
    }
    match op.to {
        Some(Target::Word(dst)) => l.regs.set_word(dst, l.mask, &values.map(|v| v as u32)),
        Some(Target::Double(dst)) => l.regs.set_double(dst, l.mask, &values),
        Some(Target::Pred(dst)) => {
            let bits = crate::registers::mask_of(|lane| values[lane] & 1 == 1);
            l.regs.set_pred(dst, l.mask, bits);
        }
        None => {}
    }
    if let Some(flag) = op.flag {
        l.regs.set_pred(flag, l.mask, flags);
    }
}

fn read(l: &Lanes<'_>, source: Source) -> [u64; LANES] {
    match source {
        Source::Word(Src::Imm(value)) => [value.into(); LANES],
        Source::Word(src) => l.regs.word(src).map(u64::from),
        Source::Double(src) => l.regs.double(src),
        Source::Pred(pred, negated) => {
            let bits = l.regs.pred(pred) ^ if negated { u32::MAX } else { 0 };
            std::array::from_fn(|lane| u64::from(bits >> lane & 1))
        }
    }
}
