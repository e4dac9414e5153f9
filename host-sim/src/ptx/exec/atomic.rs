//! Read-modify-write: `atom`, `red` on global and shared memory. PTX ISA 7.8 section 9.7.12 "atom".
//!
//! Lanes act in ascending order. Memory order and scope qualifiers change nothing here: every operation is done at once.

use super::float::NAN;
use super::ieee::{F64, Mode};
use super::memory::{Access, LaneFault, Memories, Memory, Space, Target, addresses, lanes, note};
use super::scalar::{ABSENT, Source};
use crate::ptx::ast::Type;
use crate::ptx::error::PtxError;
use crate::ptx::operands::Decoder;
use crate::ptx::registers::{LANES, Lanes};

/// What is made of the old value and the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Sum.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Exclusive or.
    Xor,
    /// The operand.
    Exchange,
    /// The second operand where the old value is the first.
    Compare,
    /// One more, 0 beyond the operand.
    Increment,
    /// One less, the operand below 0 or beyond the operand.
    Decrement,
}

/// The new value.
fn updated(update: Update, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    let signed = |x: u64| if ty.bytes() == 4 { i64::from(x as i32) } else { x as i64 };
    match update {
        Update::Add => match ty {
            Type::Float(4) => {
                let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
                if sum.is_nan() { NAN.into() } else { sum.to_bits().into() }
            }
            Type::Float(_) => F64.add(old, b, Mode::Nearest),
            _ => old.wrapping_add(b),
        },
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

/// Decodes.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Memory, PtxError> {
    let ty = d.ty()?;
    let returns = d.parts[0] == "atom";
    let (mut space, mut update) = (None, None);
    for &modifier in d.modifiers() {
        match modifier {
            "relaxed" | "acquire" | "release" | "acq_rel" | "cta" | "gpu" | "sys" => {}
            "global" if space.is_none() => space = Some(Space::Global),
            "shared" if space.is_none() => space = Some(Space::Shared),
            _ if update.is_some() => return d.unsupported(),
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
    let (Some(space), Some(update)) = (space, update) else { return d.unsupported() };
    let fits = match update {
        Update::Add => matches!(ty, Type::Unsigned(4 | 8) | Type::Signed(4) | Type::Float(4 | 8)),
        Update::Min | Update::Max => matches!(ty, Type::Unsigned(4 | 8) | Type::Signed(4 | 8)),
        Update::Increment | Update::Decrement => ty == Type::Unsigned(4),
        _ => matches!(ty, Type::Bits(4 | 8)),
    };
    if !fits {
        return d.unsupported();
    }
    let first = usize::from(returns);
    let operands = if update == Update::Compare { 2 } else { 1 };
    d.arity(first + 1 + operands)?;
    let (base, offset) = d.address(d.operand(first)?)?;
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

/// Executes on the active lanes.
pub(super) fn execute(
    (access, update): (&Access, Update),
    to: Option<Target>,
    from: [Source; 2],
    l: &mut Lanes<'_>,
    m: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let at = addresses(access, l);
    note(l.mask, &at, m.addresses);
    let [b, c] = from.map(|source| match source {
        Source::Double(src) => l.regs.double(src),
        Source::Word(src) => l.regs.word(src).map(u64::from),
        Source::Pred(..) => [0; LANES],
    });
    let bytes = access.bytes();
    let mut old = [0; LANES];
    let mut view = m.device.view();
    for lane in lanes(l.mask) {
        let new = |old| updated(update, access.ty, old, b[lane], c[lane]);
        let done = match access.space {
            Space::Global => view.update(at[lane], bytes, new),
            Space::Shared => m.shared.load(at[lane], bytes, 0, bytes).and_then(|old| {
                m.shared.store(at[lane], bytes, 0, bytes, new(old))?;
                Ok(old)
            }),
        };
        old[lane] = done.map_err(|fault| LaneFault { lane, fault, access: *access, address: at[lane] })?;
    }
    match to {
        Some(Target::Word(dst)) => l.regs.set_word(dst, l.mask, &old.map(|v| v as u32)),
        Some(Target::Double(dst)) => l.regs.set_double(dst, l.mask, &old),
        None => {}
    }
    Ok(())
}
