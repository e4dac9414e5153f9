//! Barriers in shared memory: `mbarrier`, and `cp.async.mbarrier.arrive` (PTX ISA 7.8 section
//! 9.7.12.13 "mbarrier").
//!
//! PTX leaves the 64 bits of the object open. Here they are, from the lowest: 20 bits of pending
//! arrivals in the current phase, 20 bits of expected arrivals in the next, and the number of
//! completed phases. The state returned by an arrival is the previous object. Lanes act in
//! ascending order.

use super::access::{LaneFault, Memories, Reach, Spot, addresses, faulty, lanes};
use super::memory::{self, Access, Space, Target};
use super::scalar::{ABSENT, Source};
use crate::LANES;
use crate::ast::{Operand, Type};
use crate::error::{AccessFault, PtxError};
use crate::memory::LocalMemory;
use crate::operands::Decoder;
use crate::program::{PredReg, Src};
use crate::registers::Lanes;

/// Bits of a count; its maximum is that of the PTX ISA, 2^20 - 1.
const COUNT_BITS: u32 = 20;
const MOST: u64 = (1 << COUNT_BITS) - 1;

/// Operation on the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Initializes the object with the number of arrivals per phase.
    Init,
    /// Invalidates the object.
    Invalidate,
    /// Counts arrivals.
    Arrive,
    /// Counts arrivals, and reduces the expected arrivals of later phases equally.
    Drop,
    /// Arrives once the copies started so far are complete, which is immediately. Without `.noinc`,
    /// the phase expects one more arrival, so there is no effect.
    Copied(bool),
}

/// A decoded `mbarrier` instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Change of the object: the count, and the destination of the previous state.
    Update(Update, Access, Source, Option<Target>),
    /// Test whether the phase of a state or of a parity is complete.
    Test {
        /// Address of the object.
        access: Access,
        /// State, or parity of the phase's number.
        of: Source,
        /// Destination of the result.
        to: PredReg,
    },
    /// Number of pending arrivals of a state.
    Pending(Target, Source),
}

/// Decodes `mbarrier` and `cp.async.mbarrier.arrive`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Phase, PtxError> {
    let parts = d.parts.clone();
    let copied = parts.starts_with(&["cp", "async"]);
    let rest = if copied { &parts[2..] } else { &parts[..] };
    let ["mbarrier", what, modifiers @ .., "b64"] = rest else { return d.unsupported() };
    if *what == "pending_count" && modifiers.is_empty() {
        d.arity(2)?;
        let from = d.source(1, 8)?;
        return Ok(Phase::Pending(Target::Word(d.dst32(d.operand(0)?)?), from));
    }
    let (mut space, mut parity, mut partly, mut added) = (None, false, false, true);
    for &modifier in modifiers {
        match modifier {
            "shared" | "shared::cta" if space.is_none() => space = Some(Space::Shared),
            "parity" if what.ends_with("wait") => parity = true,
            "noComplete" if what.starts_with("arrive") => partly = true,
            "noinc" if copied => added = false,
            "acquire" | "release" | "relaxed" | "cta" => {}
            _ => return d.unsupported(),
        }
    }
    let count = d.operands();
    let access = |d: &mut Decoder<'_, '_>, index: usize| -> Result<Access, PtxError> {
        let (base, offset, space) = memory::address(d, d.operand(index)?, space)?;
        Ok(Access { space, base, offset, ty: Type::Bits(8), count: 1, bypass_l1: false })
    };
    match (*what, copied) {
        ("arrive", true) => {
            d.arity(1)?;
            Ok(Phase::Update(Update::Copied(added), access(d, 0)?, Source::Word(Src::Imm(1)), None))
        }
        ("init", false) => {
            d.arity(2)?;
            Ok(Phase::Update(Update::Init, access(d, 0)?, d.source(1, 4)?, None))
        }
        ("inval", false) => {
            d.arity(1)?;
            Ok(Phase::Update(Update::Invalidate, access(d, 0)?, ABSENT, None))
        }
        ("arrive" | "arrive_drop", false) => {
            if count != 3 || partly {
                d.arity(if partly { 3 } else { 2 })?;
            }
            let access = access(d, 1)?;
            let by = if count == 3 { d.source(2, 4)? } else { Source::Word(Src::Imm(1)) };
            let to = match d.operand(0)? {
                Operand::Name("_") => None,
                state => Some(Target::Double(d.dst64(state)?)),
            };
            Ok(Phase::Update(if *what == "arrive" { Update::Arrive } else { Update::Drop }, access, by, to))
        }
        ("test_wait" | "try_wait", false) => {
            // `try_wait` may have an operand with a time limit.
            let hint = count == 4 && *what == "try_wait";
            if !hint {
                d.arity(3)?;
            }
            let access = access(d, 1)?;
            let of = d.source(2, if parity { 4 } else { 8 })?;
            if hint {
                d.source(3, 4)?;
            }
            Ok(Phase::Test { access, of, to: d.dst_pred(d.operand(0)?)? })
        }
        _ => d.unsupported(),
    }
}

/// Returns the object after `by` arrivals.
fn arrived(object: u64, by: u64, dropped: u64) -> Result<u64, AccessFault> {
    let (pending, expected, phase) = (object & MOST, object >> COUNT_BITS & MOST, object >> (2 * COUNT_BITS));
    let expected = expected.checked_sub(dropped).ok_or(AccessFault::Arrivals)?;
    match pending.checked_sub(by).ok_or(AccessFault::Arrivals)? {
        0 if by > 0 => Ok(phase.wrapping_add(1) << (2 * COUNT_BITS) | expected << COUNT_BITS | expected),
        left => Ok(phase << (2 * COUNT_BITS) | expected << COUNT_BITS | left),
    }
}

/// Returns the address of the object, which must be in shared memory.
fn spot(access: &Access, lane: usize, address: u64) -> Result<Spot, LaneFault> {
    let spot = Spot::new(access.space, address);
    if spot.space == Space::Shared { Ok(spot) } else { Err(faulty(access, lane, spot)(AccessFault::NotShared)) }
}

fn values(source: Source, l: &Lanes<'_>) -> [u64; LANES] {
    match source {
        Source::Word(src) => l.regs.word(src).map(u64::from),
        Source::Double(src) => l.regs.double(src),
        Source::Pred(..) => [0; LANES],
    }
}

fn update(update: Update, access: &Access, lane: usize, at: Spot, by: u64, reach: &mut Reach<'_>) -> Result<u64, LaneFault> {
    let fault = || faulty(access, lane, at);
    let old = reach.load_part(lane, at, 8, 0, 8).map_err(fault())?;
    let new = match update {
        Update::Init if !(1..=MOST).contains(&by) => Err(AccessFault::Count),
        Update::Init => Ok(by << COUNT_BITS | by),
        Update::Invalidate => Ok(0),
        Update::Arrive => arrived(old, by, 0),
        Update::Drop => arrived(old, by, by),
        Update::Copied(false) => arrived(old, 1, 0),
        Update::Copied(true) => Ok(old),
    };
    reach.store_part(lane, at, 8, 0, 8, new.map_err(fault())?).map_err(fault())?;
    Ok(old)
}

/// Executes the instruction in the active lanes. Returns false if a test failed and other warps
/// should run first.
pub fn execute(op: &Phase, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<bool, LaneFault> {
    m.addresses.clear();
    let (mut reach, noted) = m.reach(local);
    match op {
        Phase::Pending(to, from) => {
            let pending = values(*from, l).map(|state| state & MOST);
            if let Target::Word(to) = *to {
                l.regs.set_word(to, l.mask, &pending.map(|n| n as u32));
            }
        }
        Phase::Update(what, access, by, to) => {
            let (at, by) = (addresses(access, l), values(*by, l));
            let mut old = [0; LANES];
            for lane in lanes(l.mask) {
                let spot = spot(access, lane, at[lane])?;
                noted.push(spot.address);
                old[lane] = update(*what, access, lane, spot, by[lane], &mut reach)?;
            }
            if let Some(Target::Double(to)) = *to {
                l.regs.set_double(to, l.mask, &old);
            }
        }
        Phase::Test { access, of, to } => {
            let (at, asked) = (addresses(access, l), values(*of, l));
            let by_state = matches!(of, Source::Double(_));
            let mut complete = 0;
            for lane in lanes(l.mask) {
                let spot = spot(access, lane, at[lane])?;
                noted.push(spot.address);
                let object = reach.load_part(lane, spot, 8, 0, 8).map_err(faulty(access, lane, spot))?;
                // The current phase is not complete, the previous one is.
                let phase = |object: u64| object >> (2 * COUNT_BITS);
                let asked = if by_state { phase(asked[lane]) } else { asked[lane] };
                complete |= u32::from(phase(object) & 1 != asked & 1) << lane;
            }
            l.regs.set_pred(*to, l.mask, complete);
            return Ok(complete == l.mask);
        }
    }
    Ok(true)
}
