//! Bit manipulation: `popc clz brev bfind bfe bfi prmt lop3 shf cnot dp4a dp2a fns`, and 16-bit
//! `and or xor not shl shr` (PTX ISA 7.8 sections 9.7.1, 9.7.7 and 9.7.8).

use super::scalar::{ABSENT, Function, Scalar};
use crate::ast::{Operand, Type};
use crate::error::PtxError;
use crate::operands::Decoder;
use mias_warp_trace::isa::Class;

/// A bit operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Number of ones.
    Popc,
    /// Number of leading zeros.
    Clz,
    /// Bits in reverse order.
    Brev,
    /// Position of the highest bit that differs from the sign, or all ones; as a shift amount if
    /// true.
    Bfind(bool),
    /// Extracts c bits of a from position b on.
    Bfe,
    /// Inserts the low d bits of a into b at position c.
    Bfi,
    /// Selects four bytes out of eight.
    Prmt,
    /// Looks up each bit in a table of eight bits.
    Lop3(u8),
    /// The high word of b:a shifted left by c; clamped at 32 if true.
    FunnelLeft(bool),
    /// The low word of b:a shifted right by c; clamped at 32 if true.
    FunnelRight(bool),
    /// 1 if the operand is zero.
    Cnot,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise complement.
    Not,
    /// Shift left.
    Shl,
    /// Shift right, with the type's sign.
    Shr,
    /// Sum of four products of bytes, plus c; true if the bytes of b are signed.
    Dp4a(bool),
    /// Sum of two products of halves of a with bytes of b, plus c; the upper bytes if the first
    /// flag is true, signed bytes of b if the second is.
    Dp2a(bool, bool),
    /// Position of the c-th set bit from position b on, downwards if c is negative; all ones if
    /// there is none.
    Fns,
}

/// Function of a decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    operation: Operation,
    bits: u32,
    signed: bool,
}

impl Bits {
    /// Returns the execution class: `popc`, `bfind` and `brev` go to the multi-function unit.
    /// `POPC`, `FLO` and `BREV` have its throughput: CUDA C programming guide, table "Throughput of
    /// native arithmetic instructions", 16 per cycle and SM for 7.5.
    pub(super) fn class(&self) -> Class {
        match self.operation {
            Operation::Popc | Operation::Clz | Operation::Brev | Operation::Bfind(_) => Class::Sfu,
            _ => Class::Int,
        }
    }

    pub(super) fn apply(&self, [a, b, c, d]: [u64; 4]) -> u64 {
        let spare = 64 - self.bits;
        let unsigned = |x: u64| x << spare >> spare;
        let signed = |x: u64| (x << spare) as i64 >> spare;
        let (x, y) = (unsigned(a), unsigned(b));
        let value = match self.operation {
            Operation::Popc => x.count_ones().into(),
            Operation::Clz => u64::from(x.leading_zeros() - spare),
            Operation::Brev => x.reverse_bits() >> spare,
            Operation::Bfind(shift) => {
                let bits = if self.signed && signed(a) < 0 { unsigned(!x) } else { x };
                match bits.checked_ilog2() {
                    None => u32::MAX.into(),
                    Some(place) if shift => u64::from(self.bits - 1 - place),
                    Some(place) => place.into(),
                }
            }
            Operation::Bfe => self.extract(x, b as u32 & 0xff, c as u32 & 0xff),
            Operation::Bfi => {
                let (place, length) = (c as u32 & 0xff, d as u32 & 0xff);
                let mask = ones(length).checked_shl(place).unwrap_or(0);
                y & !mask | x.checked_shl(place).unwrap_or(0) & mask
            }
            Operation::Prmt => {
                let all = b << 32 | a & 0xffff_ffff;
                (0..4).fold(0, |word, i| {
                    let select = c >> (4 * i) & 0xf;
                    let byte = all >> (8 * (select & 7)) & 0xff;
                    let byte = if select & 8 == 0 { byte } else { (byte >> 7) * 0xff };
                    word | byte << (8 * i)
                })
            }
            Operation::Lop3(table) => (0..8u64).filter(|row| table >> row & 1 == 1).fold(0, |word, row| {
                let take = |value: u64, bit: u64| if row >> bit & 1 == 1 { value } else { !value };
                word | take(a, 2) & take(b, 1) & take(c, 0)
            }),
            Operation::FunnelLeft(clamp) => ((y << 32 | x) << amount(c, clamp)) >> 32,
            Operation::FunnelRight(clamp) => (y << 32 | x) >> amount(c, clamp),
            Operation::Cnot => u64::from(x == 0),
            Operation::And => x & y,
            Operation::Or => x | y,
            Operation::Xor => x ^ y,
            Operation::Not => !x,
            Operation::Shl => {
                if b as u32 >= self.bits {
                    0
                } else {
                    x << (b as u32)
                }
            }
            Operation::Shr if self.signed => (signed(a) >> (b as u32).min(63)) as u64,
            Operation::Shr => {
                if b as u32 >= self.bits {
                    0
                } else {
                    x >> (b as u32)
                }
            }
            Operation::Dp2a(b_signed, upper) => (0..2).fold(c, |sum, i| {
                let half = (a >> (16 * i)) as u16;
                let half = if self.signed { i64::from(half as i16) } else { i64::from(half) };
                let byte = (b >> (8 * (i + if upper { 2 } else { 0 }))) as u8;
                let byte = if b_signed { i64::from(byte as i8) } else { i64::from(byte) };
                sum.wrapping_add((half * byte) as u64)
            }),
            Operation::Fns => nth_set(a as u32, b as u32, c as i32).into(),
            Operation::Dp4a(b_signed) => (0..4).fold(c, |sum, i| {
                let byte = |x: u64, signed: bool| {
                    let byte = (x >> (8 * i)) as u8;
                    if signed { i64::from(byte as i8) } else { i64::from(byte) }
                };
                sum.wrapping_add((byte(a, self.signed) * byte(b, b_signed)) as u64)
            }),
        };
        if self.signed && self.bits < 64 { signed(value) as u64 } else { value }
    }

    /// Extracts a bit field. Beyond the width, and for an empty signed field, the sign bit is the
    /// last bit of the number.
    fn extract(&self, x: u64, place: u32, length: u32) -> u64 {
        let last = self.bits - 1;
        let field = x.checked_shr(place).unwrap_or(0) & ones(length);
        if !self.signed || length == 0 {
            return field;
        }
        let sign = x >> (place + length - 1).min(last) & 1;
        let inside = length.min(self.bits.saturating_sub(place));
        if sign == 1 { field | !ones(inside) } else { field }
    }
}

/// Returns the result of `fns`, by the pseudocode in the PTX ISA.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |at: u32| mask.checked_shr(at).unwrap_or(0) & 1 == 1;
    match offset {
        0 => {
            if set(base) {
                base
            } else {
                u32::MAX
            }
        }
        1.. => (base..32).filter(|&at| set(at)).nth(offset as usize - 1).unwrap_or(u32::MAX),
        _ => (0..=base.min(31)).rev().filter(|&at| set(at)).nth(offset.unsigned_abs() as usize - 1).unwrap_or(u32::MAX),
    }
}

/// Returns the mask of the `count` low bits.
fn ones(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn amount(c: u64, clamp: bool) -> u32 {
    if clamp { (c as u32).min(32) } else { c as u32 & 31 }
}

/// Decodes the instruction; its opcode ends with a type.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Scalar, PtxError> {
    let ty = d.ty()?;
    let modifiers = d.modifiers().to_vec();
    let (bits, signed) = (8 * u32::from(ty.bytes()), ty.is_signed());
    let own = ty.bytes();
    let typed = matches!(ty, Type::Signed(4 | 8) | Type::Unsigned(4 | 8));
    let untyped = matches!(ty, Type::Bits(4 | 8));
    let narrow = ty == Type::Bits(2);
    // Widths in bytes of the destination and of the sources.
    let (operation, to, from): (_, u8, &[u8]) = match (d.parts[0], modifiers.as_slice()) {
        ("popc", []) if untyped => (Operation::Popc, 4, &[own]),
        ("clz", []) if untyped => (Operation::Clz, 4, &[own]),
        ("brev", []) if untyped => (Operation::Brev, own, &[own]),
        ("bfind", []) if typed => (Operation::Bfind(false), 4, &[own]),
        ("bfind", ["shiftamt"]) if typed => (Operation::Bfind(true), 4, &[own]),
        ("bfe", []) if typed => (Operation::Bfe, own, &[own, 4, 4]),
        ("bfi", []) if untyped => (Operation::Bfi, own, &[own, own, 4, 4]),
        ("prmt", []) if ty == Type::Bits(4) => (Operation::Prmt, 4, &[4, 4, 4]),
        ("lop3", []) if ty == Type::Bits(4) => {
            let Operand::Integer(table @ 0..=255) = *d.operand(4)? else {
                return d.wrong("expected a table 0 to 255", d.operand(4)?.to_string());
            };
            (Operation::Lop3(table as u8), 4, &[4, 4, 4])
        }
        ("shf", [direction @ ("l" | "r"), end @ ("clamp" | "wrap")]) if ty == Type::Bits(4) => {
            let clamp = *end == "clamp";
            (if *direction == "l" { Operation::FunnelLeft(clamp) } else { Operation::FunnelRight(clamp) }, 4, &[4, 4, 4])
        }
        ("cnot", []) if untyped || narrow => (Operation::Cnot, own, &[own]),
        ("and", []) if narrow => (Operation::And, 2, &[2, 2]),
        ("or", []) if narrow => (Operation::Or, 2, &[2, 2]),
        ("xor", []) if narrow => (Operation::Xor, 2, &[2, 2]),
        ("not", []) if narrow => (Operation::Not, 2, &[2]),
        ("shl", []) if narrow => (Operation::Shl, 2, &[2, 4]),
        ("shr", []) if bits == 16 => (Operation::Shr, 2, &[2, 4]),
        ("dp4a", [a @ ("u32" | "s32")]) if typed && bits == 32 => {
            let operation = Operation::Dp4a(signed);
            return finish(d, Bits { operation, bits: 32, signed: *a == "s32" }, 4, &[4, 4, 4], 4);
        }
        ("dp2a", [half @ ("lo" | "hi"), a @ ("u32" | "s32")]) if typed && bits == 32 => {
            let operation = Operation::Dp2a(signed, *half == "hi");
            return finish(d, Bits { operation, bits: 32, signed: *a == "s32" }, 4, &[4, 4, 4], 4);
        }
        ("fns", []) if ty == Type::Bits(4) => (Operation::Fns, 4, &[4, 4, 4]),
        _ => return d.unsupported(),
    };
    let operands = 1 + from.len() + usize::from(matches!(operation, Operation::Lop3(_)));
    // Counts and positions are unsigned for any operand type.
    finish(d, Bits { operation, bits, signed }, to, from, operands)
}

fn finish(d: &mut Decoder<'_, '_>, function: Bits, to: u8, widths: &[u8], operands: usize) -> Result<Scalar, PtxError> {
    d.arity(operands)?;
    let mut from = [ABSENT; 4];
    for (index, &width) in widths.iter().enumerate() {
        from[index] = d.source(1 + index, width)?;
    }
    Ok(Scalar { function: Function::Bits(function), to: Some(d.target(0, to)?), flag: None, from })
}

#[cfg(test)]
#[path = "bits_tests.rs"]
mod tests;
