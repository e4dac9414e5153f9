//! Instructions that compute lane by lane with one function from up to four values to one value and one flag: all that are
//! not worth a loop of their own. Values travel as 64 bits, cut to the destination.

use super::{arith, bits, cvt, integer_any, narrow, test, video};
use crate::LANES;
use crate::program::{DoubleReg, PredReg, Src, Src32, Src64, WordReg};
use crate::registers::Lanes;
use mias_warp_trace::isa::Class;

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Up to 32 bits.
    Word(WordReg),
    /// 64 bits.
    Double(DoubleReg),
    /// Bit 0.
    Pred(PredReg),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Up to 32 bits.
    Word(Src32),
    /// 64 bits.
    Double(Src64),
    /// 0 or 1; inverted if true.
    Pred(PredReg, bool),
}

/// An operand that an instruction does not have.
pub(super) const ABSENT: Source = Source::Word(Src::Imm(0));

/// What is computed.
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

    /// The unit that executes it.
    pub fn class(&self) -> Class {
        match self {
            Function::Integer(_) | Function::Video(_) => Class::Int,
            Function::Bits(f) => f.class(),
            Function::Test(f) => f.class(),
            Function::Arith(f) => f.class(),
            Function::Cvt(f) => f.class(),
            // As every conversion with a float.
            Function::Narrow(_) => Class::Sfu,
        }
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// What is computed.
    pub function: Function,
    /// Where the value goes, unless it is thrown away.
    pub to: Option<Target>,
    /// Where the flag goes: the carry, or the second result of a comparison.
    pub flag: Option<PredReg>,
    /// The operands; absent ones are zero.
    pub from: [Source; 4],
}

/// Executes on the active lanes.
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
