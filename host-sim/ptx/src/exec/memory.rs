//! Loads and stores: `ld`, `ldu`, `st` of all spaces, scalar and vector, and at generic addresses
//! (PTX ISA 7.8 section 9.7.8). Their effect on memory is in `access.rs`.

use super::Op;
use super::atomic::{self, Update};
use super::scalar;
use super::special::{Element, Move};
use crate::ast::{Operand, Type};
use crate::cells::Place;
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::places::ParamPlace;
use crate::program::{Address, DoubleReg, Reg, Src, Src32, Src64, WordReg};
use crate::scope::Symbol;

/// Memory that instructions access by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Device memory.
    Global,
    /// Shared memory of the TB.
    Shared,
    /// Local memory of the thread.
    Local,
    /// Read-only device memory, through the constant cache.
    Const,
    /// Parameters of the kernel.
    Param,
    /// Any of these, according to each lane's address.
    Generic,
}

impl Space {
    /// Returns the name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "constant",
            Space::Param => "parameter",
            Space::Generic => "generic",
        }
    }

    /// Parses the name of a space in an opcode.
    pub(super) fn parse(text: &str) -> Option<Space> {
        match text {
            "global" => Some(Space::Global),
            "shared" | "shared::cta" => Some(Space::Shared),
            "local" => Some(Space::Local),
            "const" => Some(Space::Const),
            "param" => Some(Space::Param),
            _ => None,
        }
    }
}

/// Destination of a loaded element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Up to 32 bits.
    Word(WordReg),
    /// 64 bits.
    Double(DoubleReg),
}

/// Source of a stored element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Up to 32 bits.
    Word(Src32),
    /// 64 bits.
    Double(Src64),
}

/// An access by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Memory of the access.
    pub space: Space,
    /// Base of the address.
    pub base: Address,
    /// Offset in bytes.
    pub offset: i64,
    /// Element type.
    pub ty: Type,
    /// Elements per lane: 1, 2 or 4.
    pub count: u8,
    /// True if the instruction bypasses the L1 (`.cg`, `.cv`, `.volatile`, `.relaxed` and
    /// stronger).
    pub bypass_l1: bool,
}

impl Access {
    /// Returns the bytes per lane; the address must be a multiple.
    pub fn bytes(&self) -> u32 {
        u32::from(self.ty.bytes()) * u32::from(self.count)
    }
}

/// A decoded memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Load of a parameter, equal for all lanes.
    Param {
        /// Destinations; only the first `count` are used.
        to: [Option<Target>; 4],
        /// Byte offset in parameter memory.
        offset: u32,
        /// Element type.
        ty: Type,
    },
    /// A load.
    Load {
        /// Source of the load.
        access: Access,
        /// Destinations; only the first `access.count` are used. `None` for `_`, which discards the
        /// element.
        to: [Option<Target>; 4],
    },
    /// A store.
    Store {
        /// Destination of the store.
        access: Access,
        /// Sources; only the first `access.count` are used.
        from: [Option<Source>; 4],
    },
    /// A read-modify-write operation.
    Atomic {
        /// Place of the operation.
        access: Access,
        /// Operation on the old value.
        update: Update,
        /// Destination of the old value, if any.
        to: Option<Target>,
        /// Operands of the operation.
        from: [scalar::Source; 2],
    },
}

/// Decodes `ld`, `ldu` and `st`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op, PtxError> {
    let ty = d.ty()?;
    let load = d.parts[0] != "st";
    let mut space = None;
    let (mut count, mut bypass_l1) = (1u8, false);
    for &modifier in d.modifiers() {
        match modifier {
            _ if Space::parse(modifier).is_some() && space.is_none() => space = Space::parse(modifier),
            "v2" => count = 2,
            "v4" => count = 4,
            "nc" | "lu" if load => {}
            "wb" | "wt" if !load => {}
            "ca" if load => {}
            "cs" | "weak" => {}
            "relaxed" | "acquire" | "release" | "mmio" => bypass_l1 = true,
            "cta" | "gpu" | "sys" if bypass_l1 => {}
            "cg" | "volatile" => bypass_l1 = true,
            "cv" if load => bypass_l1 = true,
            // Cache hints: `L1::no_allocate`, `L2::128B`.
            hint if hint.contains("::") => {}
            _ => return d.unsupported(),
        }
    }
    if ty == Type::Pred || u32::from(ty.bytes()) * u32::from(count) > 16 {
        return d.unsupported();
    }
    d.arity(2)?;
    let (value, place) = if load { (0, 1) } else { (1, 0) };
    let (value, place) = (d.operand(value)?, d.operand(place)?);
    let single = std::slice::from_ref(value);
    let elements = match (value, count) {
        (Operand::Vector(items), 2 | 4) if items.len() == usize::from(count) => items.as_slice(),
        (Operand::Vector(_), _) | (_, 2 | 4) => return d.wrong(format!("expected a vector of {count}"), value.to_string()),
        _ => single,
    };
    let (to, from) = registers(d, elements, ty, load)?;
    let bytes = u32::from(ty.bytes()) * u32::from(count);
    let mut local = None;
    if space == Some(Space::Param) {
        match d.param(place, bytes)? {
            ParamPlace::Kernel(offset) if load => return Ok(Op::Memory(Memory::Param { to, offset, ty })),
            ParamPlace::Kernel(_) => return d.wrong("a kernel's parameters cannot be written", place.to_string()),
            ParamPlace::Cell(Place::Registers(registers), offset) => return cell(d, registers, offset, ty, (load, count), to, from),
            ParamPlace::Cell(Place::Local(start), offset) => local = Some((Address::Absolute, start + offset)),
            ParamPlace::Cell(&Place::Frame(base, start), offset) => {
                d.touch(Reg::Double(base), false);
                local = Some((Address::Double(base), start + offset));
            }
            ParamPlace::Register if load => {}
            ParamPlace::Register => return d.unsupported(),
        }
    }
    let access = match local {
        Some((base, at)) => Access { space: Space::Local, base, offset: at.into(), ty, count, bypass_l1: false },
        None => {
            let (base, offset, space) = address(d, place, space)?;
            Access { space, base, offset, ty, count, bypass_l1: bypass_l1 && matches!(space, Space::Global | Space::Generic) }
        }
    };
    if !load && access.space == Space::Const {
        return d.unsupported();
    }
    Ok(Op::Memory(if load { Memory::Load { access, to } } else { Memory::Store { access, from } }))
}

/// Destinations of a load, or sources of a store; the other array is empty.
type Registers = ([Option<Target>; 4], [Option<Source>; 4]);

/// Reads the registers of a load or a store: the first `elements.len()`, at most 4.
pub(super) fn registers<'a>(d: &mut Decoder<'_, 'a>, elements: &[Operand<'a>], ty: Type, load: bool) -> Result<Registers, PtxError> {
    let (mut to, mut from) = ([None; 4], [None; 4]);
    for ((to, from), element) in to.iter_mut().zip(&mut from).zip(elements) {
        // A wider register may hold a narrow element.
        let wide = d.is_double(element) || ty.bytes() == 8;
        match (load, wide) {
            (true, _) if matches!(element, Operand::Name("_")) => {}
            (true, false) => *to = Some(Target::Word(d.dst32(element)?)),
            (true, true) => *to = Some(Target::Double(d.dst64(element)?)),
            (false, false) => *from = Some(Source::Word(d.src32(element)?)),
            (false, true) => *from = Some(Source::Double(d.src64(element)?)),
        }
    }
    Ok((to, from))
}

/// Checks an address against its space.
pub(super) fn address<'a>(d: &mut Decoder<'_, 'a>, place: &Operand<'a>, space: Option<Space>) -> Result<(Address, i64, Space), PtxError> {
    let (base, offset, symbol) = d.address(place)?;
    let fits = match (symbol, space) {
        (None, _) => true,
        (Some(Symbol::Device(..)), None | Some(Space::Global)) => true,
        (Some(Symbol::Device(_, constant)), Some(Space::Const)) => *constant,
        (Some(Symbol::Shared(_)), Some(Space::Shared)) | (Some(Symbol::Local(_) | Symbol::Frame(..)), Some(Space::Local)) => true,
        _ => false,
    };
    if !fits {
        return d.wrong("expected a variable of the instruction's state space", place.to_string());
    }
    let space = space.unwrap_or(Space::Generic);
    if matches!(space, Space::Global | Space::Generic | Space::Const) && matches!(base, Address::Word(_)) {
        return d.wrong("expected a 64-bit address", place.to_string());
    }
    Ok((base, offset, space))
}

/// Moves data between registers and those of a cell.
fn cell(
    d: &mut Decoder<'_, '_>,
    registers: &std::collections::BTreeMap<i64, (Reg, u8)>,
    offset: u32,
    ty: Type,
    (load, count): (bool, u8),
    to: [Option<Target>; 4],
    from: [Option<Source>; 4],
) -> Result<Op, PtxError> {
    let mut copies = [None; 4];
    for index in 0..usize::from(count) {
        let at = i64::from(offset) + (index * usize::from(ty.bytes())) as i64;
        // Every access of a cell was recorded, so the register exists.
        let Some(&(reg, _)) = registers.get(&at) else { return d.unsupported() };
        d.touch(reg, !load);
        copies[index] = match (reg, to[index], from[index]) {
            (Reg::Word(reg), Some(to), _) => Some(Element { to, from: Source::Word(Src::Reg(reg)), ty }),
            (Reg::Double(reg), Some(to), _) => Some(Element { to, from: Source::Double(Src::Reg(reg)), ty }),
            (Reg::Word(reg), _, Some(from)) => Some(Element { to: Target::Word(reg), from, ty }),
            (Reg::Double(reg), _, Some(from)) => Some(Element { to: Target::Double(reg), from, ty }),
            _ => None,
        };
    }
    // A move of one whole register is a plain move, which is free after lowering.
    Ok(Op::Special(match copies {
        [Some(Element { to: Target::Word(to), from: Source::Word(from), ty }), None, ..] if ty.bytes() == 4 => Move::Word(to, from),
        [Some(Element { to: Target::Double(to), from: Source::Double(from), ty }), None, ..] if ty.bytes() == 8 => Move::Double(to, from),
        copies => Move::Cells(copies),
    }))
}

/// Decodes `atom` and `red`.
pub(super) fn decode_atomic(d: &mut Decoder<'_, '_>) -> Result<Op, PtxError> {
    atomic::decode(d).map(Op::Memory)
}

#[cfg(test)]
mod tests {
    use super::super::testing::decode;

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        let message = |inst: &str| decode(inst).unwrap_err().to_string();
        assert_eq!(message("ld.tex.u32 %r1, [%rd1];"), "test.ptx:10:1: unsupported instruction: `ld.tex.u32`");
        assert_eq!(message("st.const.u32 [%rd1], %r1;"), "test.ptx:10:1: unsupported instruction: `st.const.u32`");
        assert!(message("ld.param.u64 %rd1, [a+4];").contains("an access of 8 bytes outside the parameter, found `[a+4]`"));
        assert!(message("st.param.u32 [a], 1;").contains("a kernel's parameters cannot be written"));
        assert!(message("ld.global.v2.f32 %r1, [%rd1];").contains("expected a vector of 2"));
        assert!(message("ld.global.f32 %r1, [%r2];").contains("expected a 64-bit address"));
        assert!(message("ld.global.f32 %r9, [%rd2];").contains("expected a declared register, found `%r9`"));
        assert!(message("ld.global.f32 %r1, [s];").contains("expected a variable of the instruction's state space"));
    }
}
