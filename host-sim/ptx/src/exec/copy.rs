//! Asynchronous copies from global to shared memory: `cp.async` and its wait instructions (PTX ISA
//! 7.8 section 9.7.8.22 "Asynchronous copy").
//!
//! A copy completes at once. A kernel that reads the data before waiting is incorrect on a GPU,
//! where the data may or may not have arrived. Waiting has no effect on results; the timing model
//! handles it (`lower/copies.rs`).

use super::access::{LaneFault, Memories, Spot, addresses, faulty, lanes};
use super::memory::{self, Access, Space};
use super::scalar::Source;
use crate::ast::{Operand, Type};
use crate::error::PtxError;
use crate::memory::LocalMemory;
use crate::operands::Decoder;
use crate::program::{PredReg, Src, Src32};
use crate::registers::Lanes;

/// Amount of data that a copy reads; the rest is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// All bytes.
    All,
    /// The first bytes.
    Bytes(Src32),
    /// No bytes if a predicate (inverted if true) holds.
    Unless(PredReg, bool),
}

/// A decoded asynchronous copy or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// `cp.async`: from global memory, to shared memory.
    Start {
        /// Source of the copy.
        from: Access,
        /// Destination of the copy.
        to: Access,
        /// Amount of data read.
        amount: Amount,
    },
    /// `cp.async.commit_group`: groups the copies since the last commit.
    Commit,
    /// `cp.async.wait_group`: waits for all groups except this many of the latest.
    Wait(u32),
    /// `cp.async.wait_all`: waits for all copies.
    WaitAll,
}

/// Decodes a copy or wait.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Copy, PtxError> {
    let parts = d.parts.clone();
    match parts[..] {
        ["cp", "async", "commit_group"] => d.arity(0).map(|()| Copy::Commit),
        ["cp", "async", "wait_all"] => d.arity(0).map(|()| Copy::WaitAll),
        ["cp", "async", "wait_group"] => {
            d.arity(1)?;
            match *d.operand(0)? {
                Operand::Integer(groups) => Ok(Copy::Wait(u32::try_from(groups).unwrap_or(u32::MAX))),
                ref other => d.wrong("expected a number of groups", other.to_string()),
            }
        }
        ["cp", "async", level @ ("ca" | "cg"), "shared" | "shared::cta", "global", ref hints @ ..] => start(d, level == "cg", hints),
        _ => d.unsupported(),
    }
}

/// Decodes `cp.async.ca.shared.global [to], [from], bytes{, amount}{, policy}`.
fn start(d: &mut Decoder<'_, '_>, past_l1: bool, hints: &[&str]) -> Result<Copy, PtxError> {
    let policy = hints.contains(&"L2::cache_hint");
    if !hints.iter().all(|hint| matches!(*hint, "L2::cache_hint" | "L2::64B" | "L2::128B" | "L2::256B")) {
        return d.unsupported();
    }
    let count = d.operands();
    let least = 3 + usize::from(policy);
    if !(least..=least + 1).contains(&count) {
        return d.wrong(format!("expected {least} or {} operands, not {count}", least + 1), d.opcode());
    }
    let size = d.operand(2)?;
    let elements = match (size, past_l1) {
        (Operand::Integer(16), _) => 4,
        (Operand::Integer(8), false) => 2,
        (Operand::Integer(4), false) => 1,
        _ => return d.wrong("expected 4, 8 or 16 bytes, with `.cg` 16", size.to_string()),
    };
    let (to, from) = (d.operand(0)?, d.operand(1)?);
    let mut access = |place, space, bypass_l1| -> Result<Access, PtxError> {
        let (base, offset, space) = memory::address(d, place, Some(space))?;
        Ok(Access { space, base, offset, ty: Type::Bits(4), count: elements, bypass_l1 })
    };
    let (to, from) = (access(to, Space::Shared, false)?, access(from, Space::Global, past_l1)?);
    let mut amount = Amount::All;
    if count > least {
        let operand = d.operand(3)?;
        amount = match operand {
            Operand::Not(_) => ignored(d)?,
            _ if d.is_pred(operand) => ignored(d)?,
            _ => Amount::Bytes(d.src32(operand)?),
        };
    }
    if policy {
        d.src64(d.operand(count - 1)?)?;
    }
    Ok(Copy::Start { from, to, amount })
}

fn ignored(d: &mut Decoder<'_, '_>) -> Result<Amount, PtxError> {
    match d.source(3, 0)? {
        Source::Pred(pred, negated) => Ok(Amount::Unless(pred, negated)),
        _ => d.unsupported(),
    }
}

/// Executes the instruction in the active lanes. Returns the lanes that read global memory, whose
/// addresses are recorded.
pub fn execute(op: &Copy, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<u32, LaneFault> {
    m.addresses.clear();
    let Copy::Start { from, to, amount } = op else { return Ok(l.mask) };
    let (sources, places, bytes) = (addresses(from, l), addresses(to, l), from.bytes());
    let amounts = match *amount {
        Amount::All => l.regs.word(Src::Imm(bytes)),
        Amount::Bytes(src) => l.regs.word(src).map(|read| read.min(bytes)),
        Amount::Unless(pred, negated) => {
            let ignored = l.regs.pred(pred) ^ if negated { u32::MAX } else { 0 };
            std::array::from_fn(|lane| if ignored >> lane & 1 == 1 { 0 } else { bytes })
        }
    };
    let (mut reach, noted) = m.reach(local);
    let mut reading = 0;
    for lane in lanes(l.mask) {
        let (source, place) = (Spot::new(Space::Global, sources[lane]), Spot::new(Space::Shared, places[lane]));
        let read = amounts[lane];
        if read > 0 {
            reading |= 1 << lane;
            noted.push(source.address);
        }
        for skip in (0..bytes).step_by(4) {
            let mut word = 0;
            if read >= skip + 4 {
                // Checked as a whole if all bytes are read, and otherwise word by word.
                let (at, whole, skip) =
                    if read == bytes { (source.address, bytes, skip) } else { (source.address + u64::from(skip), 4, 0) };
                word = reach.load_part(lane, Spot { address: at, ..source }, whole, skip, 4).map_err(faulty(from, lane, source))?;
            } else {
                for byte in skip..read.max(skip) {
                    let at = Spot { address: source.address.wrapping_add(byte.into()), ..source };
                    word |= reach.load_part(lane, at, 1, 0, 1).map_err(faulty(from, lane, source))? << (8 * (byte - skip));
                }
            }
            reach.store_part(lane, place, bytes, skip, 4, word).map_err(faulty(to, lane, place))?;
        }
    }
    Ok(reading)
}
