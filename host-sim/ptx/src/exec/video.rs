//! Video instructions on two halves or four bytes of a word: `vadd2`, `vadd4`, `vsub`, `vmin`,
//! `vmax`, `vabsdiff` (PTX ISA 7.8 section 9.7.16). CUDA's SIMD intrinsics compile to them; masks
//! and selectors are not supported.

use super::scalar::{ABSENT, Function, Scalar};
use crate::ast::Type;
use crate::error::PtxError;
use crate::operands::Decoder;

/// Operation on one part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Min,
    Max,
    AbsDiff,
}

/// Function of a decoded instruction on words a, b, c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Video {
    operation: Operation,
    /// Width of a part in bits: 8 or 16.
    bits: u32,
    /// Whether the parts of the result, of a and of b are signed.
    signed: [bool; 3],
    /// True if the parts of the result saturate.
    saturates: bool,
    /// True if the parts of the result are summed and added to c.
    sums: bool,
}

impl Video {
    pub(super) fn apply(&self, [a, b, c, _]: [u64; 4]) -> u64 {
        let [to_signed, a_signed, b_signed] = self.signed;
        let parts = (0..32).step_by(self.bits as usize).map(|at| {
            let (x, y) = (self.part(a, at, a_signed), self.part(b, at, b_signed));
            let exact = match self.operation {
                Operation::Add => x + y,
                Operation::Sub => x - y,
                Operation::Min => x.min(y),
                Operation::Max => x.max(y),
                Operation::AbsDiff => (x - y).abs(),
            };
            let (least, most) = match to_signed {
                true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
                false => (0, (1 << self.bits) - 1),
            };
            (at, if self.saturates { exact.clamp(least, most) } else { exact })
        });
        if self.sums {
            let sum = parts.map(|(_, value)| value).sum::<i64>();
            return (sum + c as i64) as u64 & 0xffff_ffff;
        }
        let mask = (1u64 << self.bits) - 1;
        parts.fold(0, |word, (at, value)| word | (value as u64 & mask) << at)
    }

    /// Returns the part of a word at a bit position.
    fn part(&self, word: u64, at: u32, signed: bool) -> i64 {
        let spare = 64 - self.bits;
        let high = word >> at << spare;
        if signed { high as i64 >> spare } else { (high >> spare) as i64 }
    }
}

/// Decodes `v<op><2 or 4>.dtype.atype.btype{.sat}{.add} d, a, b, c`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let (operation, bits) = match d.parts[0].split_at(d.parts[0].len() - 1) {
        (name, "2") => (name, 16),
        (name, _) => (name, 8),
    };
    let operation = match operation {
        "vadd" => Operation::Add,
        "vsub" => Operation::Sub,
        "vmin" => Operation::Min,
        "vmax" => Operation::Max,
        "vabsdiff" => Operation::AbsDiff,
        _ => return d.unsupported(),
    };
    let sign = |part: Option<&&str>| match part.and_then(|part| Type::parse(part)) {
        Some(Type::Signed(4)) => Some(true),
        Some(Type::Unsigned(4)) => Some(false),
        _ => None,
    };
    let (Some(to), Some(a), Some(b)) = (sign(d.parts.get(1)), sign(d.parts.get(2)), sign(d.parts.get(3))) else { return d.unsupported() };
    let (saturates, sums) = match d.parts.get(4..).unwrap_or_default() {
        [] => (false, false),
        ["sat"] => (true, false),
        ["add"] => (false, true),
        _ => return d.unsupported(),
    };
    d.arity(4)?;
    let to_register = d.target(0, 4)?;
    let from = [d.source(1, 4)?, d.source(2, 4)?, d.source(3, 4)?, ABSENT];
    let function = Function::Video(Video { operation, bits, signed: [to, a, b], saturates, sums });
    Ok(Scalar { function, to: Some(to_register), flag: None, from })
}

#[cfg(test)]
mod tests {
    use super::super::Op;
    use super::super::testing::decode;
    use crate::exec::scalar::Scalar;

    fn apply(opcode: &str, a: u32, b: u32, c: u32) -> u32 {
        let program = decode(&format!("{opcode} %r1, %r2, %r3, %r4;")).unwrap();
        let Op::Scalar(Scalar { function: super::Function::Video(f), .. }) = &program.insts[0].op else { panic!("{opcode}") };
        f.apply([a.into(), b.into(), c.into(), 0]) as u32
    }

    fn bytes(a: u32, b: u32, f: impl Fn(u8, u8) -> u8) -> u32 {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes(std::array::from_fn(|i| f(a[i], b[i])))
    }

    proptest::proptest! {
        #[test]
        fn parts_do_not_touch_each_other(a: u32, b: u32, c in 0u32..1000) {
            assert_eq!(apply("vadd4.u32.u32.u32", a, b, 0), bytes(a, b, u8::wrapping_add));
            assert_eq!(apply("vsub4.s32.s32.s32.sat", a, b, 0), bytes(a, b, |x, y| (x as i8).saturating_sub(y as i8) as u8));
            assert_eq!(apply("vadd4.u32.u32.u32.sat", a, b, 0), bytes(a, b, u8::saturating_add));
            assert_eq!(apply("vmin4.s32.s32.s32", a, b, 0), bytes(a, b, |x, y| (x as i8).min(y as i8) as u8));
            assert_eq!(apply("vabsdiff4.u32.u32.u32", a, b, 0), bytes(a, b, u8::abs_diff));
            let sum: u32 = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(x, y)| u32::from(x.abs_diff(y))).sum();
            assert_eq!(apply("vabsdiff4.u32.u32.u32.add", a, b, c), sum + c);
            let far: u32 = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(x, y)| u32::from((x as i8).abs_diff(y as i8))).sum();
            assert_eq!(apply("vabsdiff4.s32.s32.s32.add", a, b, 0), far);
            let halves = [a as u16, (a >> 16) as u16].map(i32::from);
            let others = [b as u16, (b >> 16) as u16].map(i32::from);
            let max = halves[0].max(others[0]) as u32 | (halves[1].max(others[1]) as u32) << 16;
            assert_eq!(apply("vmax2.u32.u32.u32", a, b, 0), max);
        }
    }
}
