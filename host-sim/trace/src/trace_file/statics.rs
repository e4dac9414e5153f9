//! Section `statics`: static instructions in program order.
//!
//! Execution is mostly sequential, so a PC is coded by its distance from the expected one. Unrolled
//! code repeats, so an instruction equal to one of the 64 before it takes one byte.

use super::bytes::{Reader, put_varint, unzigzag, zigzag};
use super::error::Fault;
use mias_warp_trace::isa::{Class, MAX_SOURCES, Space, StaticInst};

/// Distance from a PC to the next, in bytes: the size of an instruction from Volta on.
const PC_STEP: u32 = 16;

/// Bits of a record's first byte. With [`LIKE`], the six bits from 2 on are the distance to the
/// equal instruction, minus one. Otherwise bits 2 to 4 are the number of sources.
const LIKE: u8 = 1;
const PC: u8 = 1 << 1;
const REST: u32 = 2;
const DST: u8 = 1 << 5;
const WIDTH: u8 = 1 << 6;
const BYPASS: u8 = 1 << 7;

/// Maximum distance to an equal instruction.
const FARTHEST: usize = 64;

/// Classes by code. Loads, stores and atomics follow, with one code per space.
const PLAIN: [Class; 11] = [
    Class::Int,
    Class::Sp,
    Class::Dp,
    Class::Sfu,
    Class::Tensor,
    Class::Branch,
    Class::Texture,
    Class::Uniform,
    Class::Barrier,
    Class::MemoryBarrier,
    Class::Exit,
];
const SPACES: [Space; 4] = [Space::Global, Space::Local, Space::Shared, Space::Constant];
const ACCESSES: [fn(Space) -> Class; 3] = [Class::Load, Class::Store, Class::Atomic];

/// First code of a memory access.
const FIRST_ACCESS: u8 = 16;

/// First code of an access to texels, one per kind of access. They were added when the codes of the
/// other spaces were full.
const FIRST_TEXELS: u8 = 32;

fn class_code(class: Class) -> u8 {
    let access = |kind: u8, space: Space| match space {
        Space::Texture => FIRST_TEXELS + kind,
        space => FIRST_ACCESS + 4 * kind + space as u8,
    };
    match class {
        Class::Load(space) => access(0, space),
        Class::Store(space) => access(1, space),
        Class::Atomic(space) => access(2, space),
        plain => PLAIN.iter().position(|&known| known == plain).unwrap_or(0) as u8,
    }
}

fn class_of(code: u8) -> Option<Class> {
    if let Some(kind) = code.checked_sub(FIRST_TEXELS) {
        return ACCESSES.get(usize::from(kind)).map(|class| class(Space::Texture));
    }
    match code.checked_sub(FIRST_ACCESS) {
        None => PLAIN.get(usize::from(code)).copied(),
        Some(access) => ACCESSES.get(usize::from(access / 4)).map(|class| class(SPACES[usize::from(access % 4)])),
    }
}

pub(super) fn encode(statics: &[StaticInst]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, statics.len() as u64);
    let mut expected = 0u32;
    for (at, inst) in statics.iter().enumerate() {
        let step = inst.pc.wrapping_sub(expected) as i32;
        let flag = |bit, set| if set { bit } else { 0 };
        let pc = flag(PC, step != 0);
        let like = statics[..at].iter().rev().take(FARTHEST).position(|before| StaticInst { pc: inst.pc, ..*before } == *inst);
        let rest = flag(DST, inst.dst.is_some()) | flag(WIDTH, inst.width_bytes != 0) | flag(BYPASS, inst.bypass_l1);
        out.push(pc | like.map_or(inst.source_count << REST | rest, |distance| LIKE | (distance as u8) << REST));
        if step != 0 {
            put_varint(&mut out, zigzag(step.into()));
        }
        if like.is_none() {
            out.push(class_code(inst.class));
            out.extend(inst.dst);
            out.extend_from_slice(inst.sources());
            if inst.width_bytes != 0 {
                out.push(inst.width_bytes);
            }
        }
        expected = inst.pc.wrapping_add(PC_STEP);
    }
    out
}

pub(super) fn decode(section: &[u8]) -> Result<Vec<StaticInst>, Fault> {
    let mut reader = Reader::new(section);
    let count = reader.varint()?;
    let mut statics: Vec<StaticInst> = Vec::new();
    let mut expected = 0u32;
    for _ in 0..count {
        let first = reader.byte()?;
        let bad = Fault::Value { what: "the first byte of an instruction", value: first.into() };
        let mut pc = expected;
        if first & PC != 0 {
            pc = pc.wrapping_add(unzigzag(reader.varint()?) as u32);
        }
        let mut inst = if first & LIKE != 0 {
            let like = statics.len().checked_sub(usize::from(first >> REST) + 1);
            *like.and_then(|at| statics.get(at)).ok_or(bad)?
        } else {
            let sources = usize::from(first >> REST & 7);
            if sources > MAX_SOURCES {
                return Err(bad);
            }
            let code = reader.byte()?;
            let class = class_of(code).ok_or(Fault::Value { what: "the class of an instruction", value: code.into() })?;
            let mut inst = StaticInst::new(0, class);
            if first & DST != 0 {
                inst = inst.writes(reader.byte()?);
            }
            inst = inst.reads(reader.bytes(sources)?);
            if first & WIDTH != 0 {
                inst = inst.width(reader.byte()?);
            }
            inst.bypass_l1 = first & BYPASS != 0;
            inst
        };
        inst.pc = pc;
        statics.push(inst);
        expected = pc.wrapping_add(PC_STEP);
    }
    reader.finish()?;
    Ok(statics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_code_of_its_own() {
        let accesses = ACCESSES.iter().flat_map(|class| SPACES.map(class));
        let texels = ACCESSES.iter().map(|class| class(Space::Texture));
        let classes: Vec<Class> = PLAIN.into_iter().chain(accesses).chain(texels).collect();
        let codes: Vec<u8> = classes.iter().map(|&class| class_code(class)).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        for (class, code) in classes.iter().zip(codes) {
            assert_eq!(class_of(code), Some(*class));
        }
        assert_eq!([11, 15, 28, 31, 35, 255].map(class_of), [None; 6]);
    }

    /// Records equal bytes that were written by hand from `docs/reference/trace-format.md`.
    #[test]
    fn records_are_as_the_format_says() {
        let chain = StaticInst::new(0, Class::Sp).writes(4).reads(&[4, 5]);
        let load = StaticInst::new(64, Class::Load(Space::Shared)).reads(&[9]).width(8);
        let statics = [chain, StaticInst { pc: 16, ..chain }, load, StaticInst { pc: 80, ..chain }];
        let bytes = [4, 0x28, 1, 4, 4, 5, 0x01, 0x46, 64, 18, 9, 8, 0x05];
        assert_eq!(encode(&statics), bytes);
        assert_eq!(decode(&bytes).unwrap(), statics);
        assert_eq!(decode(&[1, LIKE]), Err(Fault::Value { what: "the first byte of an instruction", value: LIKE.into() }));
        assert_eq!(decode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), Err(Fault::Short));
    }
}
