//! Atomics: `atom` and `red` on global and shared memory and at generic addresses (PTX ISA 7.8
//! section 9.7.12 "atom").
//!
//! Lanes act in ascending order. Memory order and scope qualifiers have no effect, since every
//! operation completes at once.

use super::access::{LaneFault, Reach, Spot, extended, faulty, lanes};
use super::float::NAN;
use super::memory::{self, Access, Memory, Space, Target};
use super::scalar::{ABSENT, Source};
use crate::LANES;
use crate::ast::Type;
use crate::error::PtxError;
use crate::ieee::{F16, F64, Mode};
use crate::operands::Decoder;
use crate::registers::Lanes;

/// Operation on the old value and the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Sum.
    Add,
    /// Sums of two halves in a word.
    AddPair,
    /// The smaller value.
    Min,
    /// The larger value.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand replaces the old value.
    Exchange,
    /// The second operand replaces an old value equal to the first.
    Compare,
    /// Old value plus 1; 0 from the operand on.
    Increment,
    /// Old value minus 1; the operand if the old value is 0 or above the operand.
    Decrement,
}

/// Returns the new value of the memory location.
fn updated(update: Update, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    let signed = |x: u64| if ty.bytes() == 4 { i64::from(x as i32) } else { x as i64 };
    match update {
        Update::Add => match ty {
            Type::Float(4) => {
                let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
                if sum.is_nan() { NAN.into() } else { sum.to_bits().into() }
            }
            Type::Float(2) => F16.add(old, b, Mode::Nearest),
            Type::Float(_) => F64.add(old, b, Mode::Nearest),
            _ => old.wrapping_add(b),
        },
        Update::AddPair => {
            let sum = |shift: u32| F16.add(old >> shift & 0xffff, b >> shift & 0xffff, Mode::Nearest) << shift;
            sum(0) | sum(16)
        }
        Update::Min if ty.is_signed() => signed(old).min(signed(b)) as u64,
        Update::Max if ty.is_signed() => signed(old).max(signed(b)) as u64,
        Update::Min => old.min(b),
        Update::Max => old.max(b),
        Update::And => old & b,
        Update::Or => old | b,
        Update::Xor => old ^ b,
        Update::Exchange => b,
        Update::Compare => {
            if old == b {
                c
            } else {
                old
            }
        }
        Update::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Update::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    }
}

/// Decodes an atomic.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Memory, PtxError> {
    let pair = d.parts.last() == Some(&"f16x2");
    let ty = if pair { Type::Bits(4) } else { d.ty()? };
    let returns = d.parts[0] == "atom";
    let (mut space, mut update) = (None, None);
    for &modifier in d.modifiers() {
        match modifier {
            "relaxed" | "acquire" | "release" | "acq_rel" | "cta" | "gpu" | "sys" => {}
            "noftz" if ty == Type::Float(2) || pair => {}
            "global" if space.is_none() => space = Some(Space::Global),
            "shared" | "shared::cta" if space.is_none() => space = Some(Space::Shared),
            _ if update.is_some() => return d.unsupported(),
            "add" if pair => update = Some(Update::AddPair),
            "add" => update = Some(Update::Add),
            "min" => update = Some(Update::Min),
            "max" => update = Some(Update::Max),
            "and" => update = Some(Update::And),
            "or" => update = Some(Update::Or),
            "xor" => update = Some(Update::Xor),
            "exch" if returns => update = Some(Update::Exchange),
            "cas" if returns => update = Some(Update::Compare),
            "inc" => update = Some(Update::Increment),
            "dec" => update = Some(Update::Decrement),
            _ => return d.unsupported(),
        }
    }
    let Some(update) = update else { return d.unsupported() };
    let fits = match update {
        Update::Add => matches!(ty, Type::Unsigned(4 | 8) | Type::Signed(4) | Type::Float(2 | 4 | 8)),
        Update::AddPair => pair,
        Update::Min | Update::Max => matches!(ty, Type::Unsigned(4 | 8) | Type::Signed(4 | 8)),
        Update::Increment | Update::Decrement => ty == Type::Unsigned(4),
        Update::Compare => matches!(ty, Type::Bits(2 | 4 | 8)),
        _ => matches!(ty, Type::Bits(4 | 8)),
    };
    if !fits || pair && update != Update::AddPair {
        return d.unsupported();
    }
    let first = usize::from(returns);
    let operands = if update == Update::Compare { 2 } else { 1 };
    d.arity(first + 1 + operands)?;
    let place = d.operand(first)?;
    let (base, offset, space) = memory::address(d, place, space)?;
    let mut from = [ABSENT; 2];
    for (index, slot) in from.iter_mut().take(operands).enumerate() {
        *slot = d.source(first + 1 + index, ty.bytes())?;
    }
    let to = match (returns, ty.bytes()) {
        (false, _) => None,
        (true, 8) => Some(Target::Double(d.dst64(d.operand(0)?)?)),
        (true, _) => Some(Target::Word(d.dst32(d.operand(0)?)?)),
    };
    let access = Access { space, base, offset, ty, count: 1, bypass_l1: true };
    Ok(Memory::Atomic { access, update, to, from })
}

/// Executes the atomic in the active lanes, at the addresses `at`.
pub(super) fn execute(
    (access, update): (&Access, Update),
    at: &[u64; LANES],
    to: Option<Target>,
    from: [Source; 2],
    l: &mut Lanes<'_>,
    m: &mut Reach<'_>,
) -> Result<(), LaneFault> {
    let bytes = access.bytes();
    // Only the lower bits of narrow operands count.
    let narrow = Type::Bits(access.ty.bytes());
    let [b, c] = from.map(|source| match source {
        Source::Double(src) => l.regs.double(src),
        Source::Word(src) => l.regs.word(src).map(|v| extended(narrow, v.into())),
        Source::Pred(..) => [0; LANES],
    });
    let mut old = [0; LANES];
    for lane in lanes(l.mask) {
        let spot = Spot::new(access.space, at[lane]);
        let new = |old| updated(update, access.ty, old, b[lane], c[lane]);
        old[lane] = m.update(lane, spot, bytes, new).map_err(faulty(access, lane, spot))?;
    }
    match to {
        Some(Target::Word(dst)) => l.regs.set_word(dst, l.mask, &old.map(|v| v as u32)),
        Some(Target::Double(dst)) => l.regs.set_double(dst, l.mask, &old),
        None => {}
    }
    Ok(())
}
