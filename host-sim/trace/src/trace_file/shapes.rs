//! Section `shapes`: orders in which warps execute the static instructions.
//!
//! A shape consists of straight runs of instructions, loops, and stretches shared with other
//! shapes. It is coded as runs and as copies of earlier parts of the section (LZ77: Ziv and Lempel,
//! 1977).

use super::bytes::{MOST_PER_RUN, Reader, put_varint, unzigzag, zigzag};
use super::error::Fault;
use mias_warp_trace::isa::{Space, StaticInst};
use mias_warp_trace::{KernelTrace, ShapeInst, WARP_LANES};

/// Codes of operations, in the two lowest bits.
const ONE: u64 = 0;
const ONE_WITH_LANES: u64 = 1;
const COPY: u64 = 2;
const RUN: u64 = 3;

/// Predicted next instruction: the next static one with the same lanes. If it accesses shared
/// memory, it has the passes of the last such access.
#[derive(Clone, Copy, Debug)]
struct Expected<'a> {
    statics: &'a [StaticInst],
    index: u32,
    lanes: u32,
    passes: u32,
}

impl<'a> Expected<'a> {
    fn new(statics: &'a [StaticInst]) -> Self {
        Expected { statics, index: 0, lanes: WARP_LANES, passes: 1 }
    }

    /// Returns the predicted instruction at this index with its lanes and passes; `None` if the
    /// index is out of range.
    fn at(self, index: u32) -> Option<ShapeInst> {
        let inst = self.statics.get(index as usize)?;
        let shared = inst.class.space() == Some(Space::Shared);
        ShapeInst::packed(u16::try_from(index).ok()?, self.lanes, if shared { self.passes } else { 0 })
    }

    fn next(self) -> Option<ShapeInst> {
        self.at(self.index)
    }

    /// Updates the prediction after `inst`.
    fn learn(&mut self, inst: ShapeInst) {
        self.index = inst.index() as u32 + 1;
        self.lanes = inst.lanes();
        if inst.passes() > 0 {
            self.passes = inst.passes();
        }
    }
}

pub(super) fn encode(trace: &KernelTrace) -> Vec<u8> {
    let insts = trace.shape_insts();
    let mut out = Vec::new();
    put_varint(&mut out, trace.shapes().into());
    let mut matches = Matches::new(insts);
    let mut expected = Expected::new(trace.statics());
    for shape in 0..trace.shapes() {
        let range = trace.shape(shape);
        let (mut at, end) = (range.start as usize, range.end as usize);
        put_varint(&mut out, (end - at) as u64);
        while at < end {
            let most = &insts[at..end.min(at + MOST_PER_RUN as usize)];
            let run = straight(expected, most);
            let (length, distance) = matches.longest(at, most.len());
            let step = if length >= Matches::LEAST && length > run {
                put_varint(&mut out, (length as u64 - 1) << 2 | COPY);
                put_varint(&mut out, distance as u64);
                length
            } else if run > 1 {
                put_varint(&mut out, (run as u64 - 1) << 2 | RUN);
                run
            } else {
                put_one(&mut out, expected, insts[at]);
                1
            };
            (at..at + step).for_each(|at| matches.add(at));
            insts[at..at + step].iter().for_each(|&inst| expected.learn(inst));
            at += step;
        }
    }
    out
}

fn put_one(out: &mut Vec<u8>, expected: Expected<'_>, inst: ShapeInst) {
    let step = zigzag(inst.index() as i64 - i64::from(expected.index)) << 2;
    if expected.at(inst.index() as u32) == Some(inst) {
        put_varint(out, step | ONE);
    } else {
        put_varint(out, step | ONE_WITH_LANES);
        put_varint(out, u64::from(inst.lanes() | inst.passes() << 6));
    }
}

/// Returns the number of leading `insts` that follow the prediction.
fn straight(mut expected: Expected<'_>, insts: &[ShapeInst]) -> usize {
    let follows = |inst: &&ShapeInst| {
        let is = expected.next() == Some(**inst);
        expected.learn(**inst);
        is
    };
    insts.iter().take_while(follows).count()
}

/// Decodes the instructions of all shapes, and the start of each shape with the end of the last.
/// The instructions are those of `statics`.
pub(super) fn decode(section: &[u8], statics: &[StaticInst], most_bytes: u64) -> Result<(Vec<ShapeInst>, Vec<u32>), Fault> {
    let mut reader = Reader::new(section);
    let (mut insts, mut starts) = (Vec::new(), vec![0]);
    let mut expected = Expected::new(statics);
    for _ in 0..reader.varint()? {
        let length = u64::from(reader.u32("the length of a shape")?);
        let end = insts.len() as u64 + length;
        if end.saturating_mul(size_of::<ShapeInst>() as u64) > most_bytes {
            return Err(Fault::MemoryLimit);
        }
        let start = u32::try_from(end).map_err(|_| Fault::Value { what: "the length of all shapes", value: end })?;
        while (insts.len() as u64) < end {
            operation(&mut reader, &mut insts, &mut expected, end)?;
        }
        starts.push(start);
    }
    reader.finish()?;
    Ok((insts, starts))
}

/// Decodes one operation and appends its instructions, never beyond `end`.
fn operation(reader: &mut Reader<'_>, insts: &mut Vec<ShapeInst>, expected: &mut Expected<'_>, end: u64) -> Result<(), Fault> {
    let operation = reader.varint()?;
    let rest = operation >> 2;
    match operation & 3 {
        one @ (ONE | ONE_WITH_LANES) => {
            let index = i64::from(expected.index).wrapping_add(unzigzag(rest));
            let known = u32::try_from(index).ok().and_then(|index| expected.at(index));
            let mut inst = known.ok_or(Fault::Value { what: "a step between instructions", value: rest })?;
            if one == ONE_WITH_LANES {
                let lanes = reader.varint()?;
                let passes = u32::try_from(lanes >> 6).unwrap_or(u32::MAX);
                let packed = ShapeInst::packed(inst.index() as u16, lanes as u32 & 0x3f, passes);
                inst = packed.ok_or(Fault::Value { what: "lanes and passes", value: lanes })?;
            }
            insts.push(inst);
            expected.learn(inst);
        }
        many => {
            if rest >= MOST_PER_RUN || rest >= end - insts.len() as u64 {
                return Err(Fault::Value { what: "a run or copy", value: rest + 1 });
            }
            let distance = if many == COPY { Some(reader.varint()?) } else { None };
            for _ in 0..=rest {
                let inst = match distance {
                    Some(distance) => {
                        let from = usize::try_from(distance).ok().and_then(|distance| insts.len().checked_sub(distance));
                        let inst = from.and_then(|from| insts.get(from)).copied();
                        inst.ok_or(Fault::Value { what: "a distance", value: distance })?
                    }
                    None => expected.next().ok_or(Fault::Value { what: "an instruction", value: expected.index.into() })?,
                };
                insts.push(inst);
                expected.learn(inst);
            }
        }
    }
    Ok(())
}

/// Search for earlier occurrences: positions chained by a hash of the instructions there.
struct Matches<'a> {
    insts: &'a [ShapeInst],
    newest: Vec<u32>,
    before: Vec<u32>,
}

impl<'a> Matches<'a> {
    /// Shortest useful copy; a copy takes two or three bytes.
    const LEAST: usize = 3;
    /// Number of chains, as a power of two, and maximum number of links followed (assumption: more
    /// links find little more).
    const CHAIN_BITS: u32 = 14;
    const MOST_LINKS: usize = 64;
    const NONE: u32 = u32::MAX;

    fn new(insts: &'a [ShapeInst]) -> Self {
        Matches { insts, newest: vec![Self::NONE; 1 << Self::CHAIN_BITS], before: vec![Self::NONE; insts.len()] }
    }

    /// Returns the chain of the sequence at `at`; `None` near the end.
    fn chain(&self, at: usize) -> Option<usize> {
        let key = self.insts.get(at..at + Self::LEAST)?;
        // Multiplication by 2^64 divided by the golden ratio (Knuth, volume 3, section 6.4).
        let mix = |hash: u64, inst: &ShapeInst| {
            let packed = inst.index() as u64 | u64::from(inst.lanes()) << 16 | u64::from(inst.passes()) << 22;
            (hash.rotate_left(21) ^ packed).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        Some((key.iter().fold(0, mix) >> (64 - Self::CHAIN_BITS)) as usize)
    }

    fn add(&mut self, at: usize) {
        if let Some(chain) = self.chain(at) {
            self.before[at] = std::mem::replace(&mut self.newest[chain], at as u32);
        }
    }

    /// Returns the length, up to `most`, and distance of the longest earlier occurrence of the
    /// sequence at `at`; the nearest of equal ones.
    fn longest(&self, at: usize, most: usize) -> (usize, usize) {
        let mut best = (0, 0);
        let mut link = self.chain(at).map_or(Self::NONE, |chain| self.newest[chain]);
        for _ in 0..Self::MOST_LINKS {
            if link == Self::NONE || best.0 == most {
                break;
            }
            let from = link as usize;
            let length = (0..most).take_while(|&i| self.insts[from + i] == self.insts[at + i]).count();
            if length > best.0 {
                best = (length, at - from);
            }
            link = self.before[from];
        }
        best
    }
}
