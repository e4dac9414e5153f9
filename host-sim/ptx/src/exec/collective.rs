//! Instructions across the lanes of a warp: `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`,
//! `activemask` (PTX ISA 7.8 sections 9.7.8 "shfl.sync" and 9.7.12).
//!
//! The participating lanes execute the instruction and are in its member mask. A read from another
//! lane returns that lane's register (undefined in PTX).

use super::access::lanes;
use super::scalar::Source;
use crate::LANES;
use crate::ast::{Operand, Type};
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::{PredReg, Src32, WordReg};
use crate::registers::{Lanes, mask_of};

/// Source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// A lower lane.
    Up,
    /// A higher lane.
    Down,
    /// The exclusive or of the lane numbers.
    Butterfly,
    /// A lane by number.
    Index,
}

/// Condition of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// True in all lanes.
    All,
    /// True in any lane.
    Any,
    /// Equal in all lanes.
    Uniform,
}

/// Operation that reduces the values of all lanes to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redux {
    /// Sum.
    Add,
    /// The smallest; signed if true.
    Min(bool),
    /// The largest; signed if true.
    Max(bool),
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// A decoded instruction across lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Shuffle: value, valid flag; source, lane, clamp and segment.
    Shuffle(Shuffle, Option<WordReg>, Option<PredReg>, [Src32; 3]),
    /// Vote: a predicate from a predicate (inverted if true), over a member mask.
    Vote(Vote, PredReg, PredReg, bool, Src32),
    /// Ballot: one bit per lane.
    Ballot(WordReg, PredReg, bool, Src32),
    /// Mask of the executing lanes.
    ActiveMask(WordReg),
    /// Reduction of the members' values to one value.
    Redux(Redux, WordReg, Src32, Src32),
    /// Mask of the lanes with the same value.
    MatchAny(WordReg, Source, Src32),
    /// All lanes if they have the same value, and otherwise none; and a flag.
    MatchAll(WordReg, Option<PredReg>, Source, Src32),
}

/// Decodes an instruction across lanes.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Collective, PtxError> {
    let pair = |d: &mut Decoder<'_, '_>| -> Result<(Option<WordReg>, Option<PredReg>), PtxError> {
        match d.operand(0)? {
            Operand::Pair(value, flag) => {
                let value = if *value == "_" { None } else { Some(d.dst32(&Operand::Name(value))?) };
                let flag = if *flag == "_" { None } else { Some(d.def_pred(flag)?) };
                Ok((value, flag))
            }
            other => Ok((Some(d.dst32(other)?), None)),
        }
    };
    let vote = |d: &mut Decoder<'_, '_>| match d.source(1, 0)? {
        Source::Pred(pred, negated) => Ok((pred, negated)),
        _ => d.unsupported(),
    };
    match d.parts[..] {
        ["shfl", "sync", mode, "b32"] => {
            let mode = match mode {
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "bfly" => Shuffle::Butterfly,
                "idx" => Shuffle::Index,
                _ => return d.unsupported(),
            };
            d.arity(5)?;
            let (value, flag) = pair(d)?;
            let (o1, o2, o3, o4) = (d.operand(1)?, d.operand(2)?, d.operand(3)?, d.operand(4)?);
            let sources = [d.src32(o1)?, d.src32(o2)?, d.src32(o3)?];
            // The member mask has no effect, but it is read.
            d.src32(o4)?;
            Ok(Collective::Shuffle(mode, value, flag, sources))
        }
        ["vote", "sync", kind @ ("all" | "any" | "uni"), "pred"] => {
            d.arity(3)?;
            let kind = match kind {
                "all" => Vote::All,
                "any" => Vote::Any,
                _ => Vote::Uniform,
            };
            let (o0, o2) = (d.operand(0)?, d.operand(2)?);
            let (pred, negated) = vote(d)?;
            Ok(Collective::Vote(kind, d.dst_pred(o0)?, pred, negated, d.src32(o2)?))
        }
        ["vote", "sync", "ballot", "b32"] => {
            d.arity(3)?;
            let (o0, o2) = (d.operand(0)?, d.operand(2)?);
            let (pred, negated) = vote(d)?;
            Ok(Collective::Ballot(d.dst32(o0)?, pred, negated, d.src32(o2)?))
        }
        ["activemask", "b32"] => {
            d.arity(1)?;
            Ok(Collective::ActiveMask(d.dst32(d.operand(0)?)?))
        }
        ["redux", "sync", kind, ty] => {
            d.arity(3)?;
            let redux = match (kind, ty) {
                ("add", "u32" | "s32") => Redux::Add,
                ("min", "u32" | "s32") => Redux::Min(ty == "s32"),
                ("max", "u32" | "s32") => Redux::Max(ty == "s32"),
                ("and", "b32") => Redux::And,
                ("or", "b32") => Redux::Or,
                ("xor", "b32") => Redux::Xor,
                _ => return d.unsupported(),
            };
            let (o0, o1, o2) = (d.operand(0)?, d.operand(1)?, d.operand(2)?);
            Ok(Collective::Redux(redux, d.dst32(o0)?, d.src32(o1)?, d.src32(o2)?))
        }
        ["match", kind @ ("any" | "all"), "sync", "b32" | "b64"] => {
            d.arity(3)?;
            let source = d.source(1, d.ty().map(Type::bytes)?)?;
            let members = d.src32(d.operand(2)?)?;
            if kind == "any" {
                return Ok(Collective::MatchAny(d.dst32(d.operand(0)?)?, source, members));
            }
            match pair(d)? {
                (Some(value), flag) => Ok(Collective::MatchAll(value, flag, source, members)),
                _ => d.unsupported(),
            }
        }
        _ => d.unsupported(),
    }
}

/// Executes the instruction in the active lanes.
pub(super) fn execute(op: &Collective, l: &mut Lanes<'_>) {
    let mask = l.mask;
    match *op {
        Collective::Shuffle(mode, value, flag, [a, b, c]) => {
            let (a, b, c) = (l.regs.word(a), l.regs.word(b), l.regs.word(c));
            let places: [(usize, bool); LANES] = std::array::from_fn(|lane| place(mode, lane as u32, b[lane], c[lane]));
            if let Some(value) = value {
                l.regs.set_word(value, mask, &places.map(|(from, _)| a[from]));
            }
            if let Some(flag) = flag {
                l.regs.set_pred(flag, mask, mask_of(|lane| places[lane].1));
            }
        }
        Collective::Vote(kind, dst, pred, negated, members) => {
            let yes = l.regs.pred(pred) ^ if negated { u32::MAX } else { 0 };
            let members = l.regs.word(members);
            let holds = mask_of(|lane| {
                let members = members[lane] & mask;
                match kind {
                    Vote::All => yes & members == members,
                    Vote::Any => yes & members != 0,
                    Vote::Uniform => yes & members == 0 || yes & members == members,
                }
            });
            l.regs.set_pred(dst, mask, holds);
        }
        Collective::Ballot(dst, pred, negated, members) => {
            let yes = l.regs.pred(pred) ^ if negated { u32::MAX } else { 0 };
            let values = l.regs.word(members).map(|members| yes & members & mask);
            l.regs.set_word(dst, mask, &values);
        }
        Collective::ActiveMask(dst) => l.regs.set_word(dst, mask, &[mask; LANES]),
        Collective::Redux(redux, dst, source, members) => {
            let (values, members) = (l.regs.word(source), l.regs.word(members));
            let one = |members: u32| {
                let taking = lanes(members & mask).map(|lane| values[lane]);
                let all = match redux {
                    Redux::Add => taking.reduce(u32::wrapping_add),
                    Redux::Min(false) => taking.min(),
                    Redux::Min(true) => taking.min_by_key(|&v| v as i32),
                    Redux::Max(false) => taking.max(),
                    Redux::Max(true) => taking.max_by_key(|&v| v as i32),
                    Redux::And => taking.reduce(|a, b| a & b),
                    Redux::Or => taking.reduce(|a, b| a | b),
                    Redux::Xor => taking.reduce(|a, b| a ^ b),
                };
                all.unwrap_or_default()
            };
            l.regs.set_word(dst, mask, &members.map(one));
        }
        Collective::MatchAny(dst, source, members) => {
            let equal = equal(l, source, members);
            l.regs.set_word(dst, mask, &equal);
        }
        Collective::MatchAll(dst, flag, source, members) => {
            let equal = equal(l, source, members);
            let members = l.regs.word(members);
            let all = mask_of(|lane| equal[lane] == members[lane] & mask);
            l.regs.set_word(dst, mask, &std::array::from_fn(|lane| if all >> lane & 1 == 1 { equal[lane] } else { 0 }));
            if let Some(flag) = flag {
                l.regs.set_pred(flag, mask, all);
            }
        }
    }
}

/// Returns the source lane, and whether it is in range; by the pseudocode for `shfl.sync` in the
/// PTX ISA.
fn place(mode: Shuffle, lane: u32, b: u32, c: u32) -> (usize, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let (most, least) = (lane & segment | clamp & !segment, lane & segment);
    let (from, valid) = match mode {
        Shuffle::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= most as i32),
        Shuffle::Down => (lane + b, lane + b <= most),
        Shuffle::Butterfly => (lane ^ b, (lane ^ b) <= most),
        Shuffle::Index => {
            let from = least | b & !segment;
            (from, from <= most)
        }
    };
    (if valid { from as usize % LANES } else { lane as usize }, valid)
}

/// Returns the mask per lane of the members with its value.
fn equal(l: &Lanes<'_>, source: Source, members: Src32) -> [u32; LANES] {
    let values: [u64; LANES] = match source {
        Source::Word(src) => l.regs.word(src).map(u64::from),
        Source::Double(src) => l.regs.double(src),
        Source::Pred(..) => [0; LANES],
    };
    let members = l.regs.word(members);
    std::array::from_fn(|lane| mask_of(|other| values[other] == values[lane]) & members[lane] & l.mask)
}
