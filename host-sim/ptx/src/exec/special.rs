//! Moves: registers, literals, addresses of variables, special registers (`place.rs`), packing and
//! unpacking, and data passed in calls (PTX ISA 7.8 section 9.7.8 "mov").

use super::Op;
use super::access::{extended, write};
use super::integer::{Binary, Integer};
use super::memory::{Source, Target};
use super::place::{Special, WarpPlace};
use crate::LANES;
use crate::ast::{Operand, Type};
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{DoubleReg, Guard, PredReg, Src32, Src64, WordReg};
use crate::registers::{Lanes, mask_of};

/// An element passed in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Destination of the element.
    pub to: Target,
    /// Source of the element.
    pub from: Source,
    /// Type that selects the bits and their extension by sign.
    pub ty: Type,
}

/// A decoded move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Move of up to 32 bits.
    Word(WordReg, Src32),
    /// Move of 64 bits.
    Double(DoubleReg, Src64),
    /// True if a pointer equals this address, in lanes whose guard holds; false in all others.
    Chosen(PredReg, Src64, u64, Option<Guard>),
    /// Move from predicate to predicate.
    Pred(PredReg, PredReg),
    /// Constant predicate, equal in all lanes.
    PredTruth(PredReg, bool),
    /// Move from a special register.
    Special(WordReg, Special),
    /// Move from a special register of 64 bits, or to a register that is wider than it.
    SpecialWide(DoubleReg, Special),
    /// Move between registers and those of a call's parameters.
    Cells([Option<Element>; 4]),
    /// Packing of four 16-bit values: `mov.b64 %rd, {a, b, c, d}`.
    PackQuarters(DoubleReg, [Src32; 4]),
    /// Unpacking of four 16-bit values: `mov.b64 {a, b, c, d}, %rd`.
    UnpackQuarters([WordReg; 4], Src64),
    /// Packing of two 8-bit values: `mov.b16 %r, {low, high}`.
    PackBytes(WordReg, [Src32; 2]),
    /// Unpacking of two 8-bit values: `mov.b16 {low, high}, %r`.
    UnpackBytes([WordReg; 2], Src32),
    /// Packing of two 32-bit values: `mov.b64 %rd, {low, high}`.
    Pack(DoubleReg, [Src32; 2]),
    /// Packing of two special registers: `mov.b64 %rd, {low, high}`.
    PackSpecial(DoubleReg, [Special; 2]),
    /// Unpacking of two 32-bit values: `mov.b64 {low, high}, %rd`.
    Unpack([WordReg; 2], Src64),
    /// Packing of two 16-bit values: `mov.b32 %r, {low, high}`.
    PackHalves(WordReg, [Src32; 2]),
    /// Unpacking of two 16-bit values: `mov.b32 {low, high}, %r`.
    UnpackHalves([WordReg; 2], Src32),
}

/// Decodes a move.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op, PtxError> {
    if let (Ok(to), Ok(from)) = (d.operand(0), d.operand(1))
        && let Some((base, offset)) = d.in_frame(from)
    {
        let sources = [Src64::Reg(base), Src64::Imm(offset)];
        return Ok(Op::Integer(Integer::Double(Binary::Add, false, d.dst64(to)?, sources)));
    }
    moved(d).map(Op::Special)
}

fn moved(d: &mut Decoder<'_, '_>) -> Result<Move, PtxError> {
    let ty = d.ty()?;
    if !d.modifiers().is_empty() {
        return d.unsupported();
    }
    d.arity(2)?;
    let (dst, src) = (d.operand(0)?, d.operand(1)?);
    match (ty, dst, src) {
        (Type::Pred, _, Operand::Integer(truth)) => Ok(Move::PredTruth(d.dst_pred(dst)?, *truth != 0)),
        (Type::Pred, ..) => Ok(Move::Pred(d.dst_pred(dst)?, d.src_pred(src)?)),
        (Type::Bits(8), Operand::Name(_), Operand::Vector(parts)) if specials(parts).is_some() => match specials(parts) {
            Some(specials) => Ok(Move::PackSpecial(d.dst64(dst)?, specials)),
            None => d.unsupported(),
        },
        (Type::Bits(8), Operand::Name(_), Operand::Vector(parts)) if parts.len() == 2 => {
            Ok(Move::Pack(d.dst64(dst)?, [d.src32(&parts[0])?, d.src32(&parts[1])?]))
        }
        (Type::Bits(8), Operand::Vector(parts), _) if parts.len() == 2 => {
            Ok(Move::Unpack([d.dst32(&parts[0])?, d.dst32(&parts[1])?], d.src64(src)?))
        }
        (Type::Bits(4), Operand::Name(_), Operand::Vector(parts)) if parts.len() == 2 => {
            Ok(Move::PackHalves(d.dst32(dst)?, [d.src32(&parts[0])?, d.src32(&parts[1])?]))
        }
        (Type::Bits(4), Operand::Vector(parts), _) if parts.len() == 2 => {
            Ok(Move::UnpackHalves([d.dst32(&parts[0])?, d.dst32(&parts[1])?], d.src32(src)?))
        }
        (Type::Bits(8), Operand::Name(_), Operand::Vector(parts)) if parts.len() == 4 => {
            let sources = [d.src32(&parts[0])?, d.src32(&parts[1])?, d.src32(&parts[2])?, d.src32(&parts[3])?];
            Ok(Move::PackQuarters(d.dst64(dst)?, sources))
        }
        (Type::Bits(8), Operand::Vector(parts), _) if parts.len() == 4 => {
            let targets = [d.dst32(&parts[0])?, d.dst32(&parts[1])?, d.dst32(&parts[2])?, d.dst32(&parts[3])?];
            Ok(Move::UnpackQuarters(targets, d.src64(src)?))
        }
        (Type::Bits(2), Operand::Name(_), Operand::Vector(parts)) if parts.len() == 2 => {
            Ok(Move::PackBytes(d.dst32(dst)?, [d.src32(&parts[0])?, d.src32(&parts[1])?]))
        }
        (Type::Bits(2), Operand::Vector(parts), _) if parts.len() == 2 => {
            Ok(Move::UnpackBytes([d.dst32(&parts[0])?, d.dst32(&parts[1])?], d.src32(src)?))
        }
        (_, Operand::Vector(_), _) | (.., Operand::Vector(_)) => d.unsupported(),
        (_, _, Operand::Name(name)) if Special::parse(name).is_some() => match Special::parse(name) {
            Some(special) if d.is_double(dst) => Ok(Move::SpecialWide(d.dst64(dst)?, special)),
            Some(special) if ty.bytes() <= 4 => Ok(Move::Special(d.dst32(dst)?, special)),
            _ => d.unsupported(),
        },
        _ if ty.bytes() == 8 => Ok(Move::Double(d.dst64(dst)?, d.src64(src)?)),
        _ => Ok(Move::Word(d.dst32(dst)?, d.src32(src)?)),
    }
}

/// Parses two special registers.
fn specials(parts: &[Operand<'_>]) -> Option<[Special; 2]> {
    let special = |part: &Operand<'_>| if let Operand::Name(name) = part { Special::parse(name) } else { None };
    match parts {
        [low, high] => Some([special(low)?, special(high)?]),
        _ => None,
    }
}

/// Creates the predicate of lanes that call a function through a pointer.
pub(crate) fn chosen(d: &mut Decoder<'_, '_>, address: u64, guard: Option<Guard>) -> Result<Op, PtxError> {
    let pointer = d.pointer()?;
    Ok(Op::Special(Move::Chosen(d.def_chosen()?, pointer, address, guard)))
}

/// Executes the move in the active lanes.
pub fn execute(op: &Move, l: &mut Lanes<'_>, place: &WarpPlace) {
    match *op {
        Move::Word(dst, src) => l.word1(dst, src, |a| a),
        Move::Double(dst, src) => l.double1(dst, src, |a| a),
        Move::Pred(dst, src) => {
            let bits = l.regs.pred(src);
            l.regs.set_pred(dst, l.mask, bits);
        }
        Move::Chosen(dst, pointer, address, guard) => {
            let pointers = l.regs.double(pointer);
            let calls = guard.map_or(u32::MAX, |guard| l.regs.pred(guard.pred) ^ if guard.negated { u32::MAX } else { 0 });
            l.regs.set_pred(dst, l.mask, calls & mask_of(|lane| pointers[lane] == address));
        }
        Move::PredTruth(dst, truth) => l.regs.set_pred(dst, l.mask, if truth { u32::MAX } else { 0 }),
        Move::Special(dst, special) => l.regs.set_word(dst, l.mask, &place.read(special)),
        Move::SpecialWide(dst, special) => {
            let low = place.read(special);
            let high = if let Special::Clock(0) = special { place.read(Special::Clock(32)) } else { [0; LANES] };
            l.regs.set_double(dst, l.mask, &std::array::from_fn(|i| u64::from(high[i]) << 32 | u64::from(low[i])));
        }
        Move::Cells(copies) => {
            for Element { to, from, ty } in copies.into_iter().flatten() {
                let values = match from {
                    Source::Word(src) => l.regs.word(src).map(u64::from),
                    Source::Double(src) => l.regs.double(src),
                };
                write(l, to, ty, values.map(|v| extended(ty, v)));
            }
        }
        Move::PackQuarters(dst, parts) => {
            let parts = parts.map(|part| l.regs.word(part));
            let values = std::array::from_fn(|i| parts.iter().rev().fold(0, |all, part| all << 16 | u64::from(part[i] & 0xffff)));
            l.regs.set_double(dst, l.mask, &values);
        }
        Move::UnpackQuarters(parts, src) => {
            let values = l.regs.double(src);
            for (dst, shift) in parts.into_iter().zip([0, 16, 32, 48]) {
                l.regs.set_word(dst, l.mask, &values.map(|v| (v >> shift) as u32 & 0xffff));
            }
        }
        Move::PackBytes(dst, parts) => l.word2(dst, parts, |low, high| high << 8 & 0xff00 | low & 0xff),
        Move::UnpackBytes([low, high], src) => {
            let values = l.regs.word(src);
            l.regs.set_word(low, l.mask, &values.map(|v| v & 0xff));
            l.regs.set_word(high, l.mask, &values.map(|v| v >> 8 & 0xff));
        }
        Move::Pack(dst, [low, high]) => {
            let (low, high) = (l.regs.word(low), l.regs.word(high));
            let values = std::array::from_fn(|i| u64::from(high[i]) << 32 | u64::from(low[i]));
            l.regs.set_double(dst, l.mask, &values);
        }
        Move::PackSpecial(dst, [low, high]) => {
            let (low, high) = (place.read(low), place.read(high));
            l.regs.set_double(dst, l.mask, &std::array::from_fn(|i| u64::from(high[i]) << 32 | u64::from(low[i])));
        }
        Move::PackHalves(dst, parts) => l.word2(dst, parts, |low, high| high << 16 | low & 0xffff),
        Move::UnpackHalves([low, high], src) => {
            let values = l.regs.word(src);
            l.regs.set_word(low, l.mask, &values.map(|v| v & 0xffff));
            l.regs.set_word(high, l.mask, &values.map(|v| v >> 16));
        }
        Move::Unpack([low, high], src) => {
            let values = l.regs.double(src);
            l.regs.set_word(low, l.mask, &values.map(|v| v as u32));
            l.regs.set_word(high, l.mask, &values.map(|v| (v >> 32) as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Op;
    use super::super::testing::decode;
    use super::*;
    use crate::program::{Reg, Src};
    use crate::registers::RegFile;

    /// Executes moves one after the other in lane order of a warp at TB (5, 6, 7).
    fn run(body: &str) -> RegFile {
        let program = decode(body).unwrap_or_else(|e| panic!("{e}"));
        let tid = [std::array::from_fn(|i| i as u32 % 8), std::array::from_fn(|i| i as u32 / 8), [3; LANES]];
        let place = WarpPlace { tid, block: [8, 4, 9], tb: [5, 6, 7], grid: [10, 11, 12], warp: 3, shared: [256, 0], executed: 7 };
        let mut regs = RegFile::new(&program);
        for inst in &program.insts {
            let mut lanes = Lanes { regs: &mut regs, mask: u32::MAX };
            match &inst.op {
                Op::Special(op) => execute(op, &mut lanes, &place),
                op => super::super::execute(op, &mut lanes),
            }
        }
        regs
    }

    #[test]
    fn special_registers_say_where_the_thread_is() {
        for (name, lane, expected) in [
            ("%tid.x", 13, 5),
            ("%tid.y", 13, 1),
            ("%tid.z", 13, 3),
            ("%ntid.x", 0, 8),
            ("%ntid.y", 0, 4),
            ("%ntid.z", 0, 9),
            ("%ctaid.x", 1, 5),
            ("%ctaid.y", 1, 6),
            ("%ctaid.z", 1, 7),
            ("%nctaid.x", 2, 10),
            ("%nctaid.y", 2, 11),
            ("%nctaid.z", 2, 12),
            ("%laneid", 29, 29),
            ("%warpid", 4, 3),
            ("%nwarpid", 4, 9),
            ("%lanemask_lt", 5, 0b1_1111),
            ("%lanemask_ge", 30, 0xc000_0000),
            ("%total_smem_size", 0, 256),
            ("%clock", 0, 7),
        ] {
            let regs = run(&format!("mov.u32 %r1, {name};"));
            assert_eq!(regs.word(Src::Reg(WordReg(1)))[lane], expected, "{name}");
        }
    }

    #[test]
    fn packing_and_unpacking() {
        let regs =
            run("mov.u32 %r1, 0x11223344;\nmov.b32 %r2, -2;\nmov.b64 %rd1, {%r1, %r2};\nmov.b64 {%r3, %r4}, %rd1;\nmov.u64 %rd2, s;");
        assert_eq!(regs.double(Src::Reg(DoubleReg(1)))[7], 0xffff_fffe_1122_3344);
        assert_eq!((regs.word(Src::Reg(WordReg(3)))[0], regs.word(Src::Reg(WordReg(4)))[31]), (0x1122_3344, 0xffff_fffe));
        assert_eq!(regs.double(Src::Reg(DoubleReg(2)))[0], 0);
        let regs = run("mov.b32 %r1, 0x11223344;\nmov.b32 {%r2, %r3}, %r1;\nmov.b32 %r4, {%r3, %r2};");
        assert_eq!([2, 3, 4].map(|r| regs.word(Src::Reg(WordReg(r)))[9]), [0x3344, 0x1122, 0x3344_1122]);
        let program = decode("mov.b64 {%r3, %r4}, %rd1;").unwrap();
        assert_eq!(program.insts[0].defs, [Reg::Word(WordReg(3)), Reg::Word(WordReg(4))]);
    }

    #[test]
    fn unknown_special_registers_are_named() {
        let error = decode("mov.u32 %r1, %smid;").unwrap_err().to_string();
        assert_eq!(error, "test.ptx:10:1: expected a declared register, found `%smid`");
    }
}
