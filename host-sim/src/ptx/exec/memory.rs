//! Loads and stores: `ld`, `st` on parameters, global and shared memory, scalar and vector. PTX ISA 7.8 section 9.7.8.

use super::atomic::{self, Update};
use super::scalar;
use crate::ptx::ast::{Operand, Type};
use crate::ptx::error::{AccessFault, PtxError};
use crate::ptx::memory::{DeviceMemory, SharedMemory};
use crate::ptx::operands::Decoder;
use crate::ptx::program::{Address, DoubleReg, Src, Src32, Src64, WordReg};
use crate::ptx::registers::{LANES, Lanes};

/// The memories that instructions reach by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Device memory.
    Global,
    /// The TB's own.
    Shared,
}

impl Space {
    /// As in messages.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
        }
    }
}

/// A loaded element's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Up to 32 bits.
    Word(WordReg),
    /// 64 bits.
    Double(DoubleReg),
}

/// A stored element's source.
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
    /// Which memory.
    pub space: Space,
    /// What the address starts from.
    pub base: Address,
    /// Bytes added to it.
    pub offset: i64,
    /// Element type.
    pub ty: Type,
    /// Elements per lane: 1, 2 or 4.
    pub count: u8,
    /// The instruction asks not to be served by the L1 (`.cg`, `.cv`, `.volatile`).
    pub bypass_l1: bool,
}

impl Access {
    /// Bytes per lane; the address must be a multiple.
    pub fn bytes(&self) -> u32 {
        u32::from(self.ty.bytes()) * u32::from(self.count)
    }
}

/// A decoded load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A parameter: the same for all lanes. Byte offset in parameter memory and type.
    Param {
        /// Destinations; the first `count`.
        to: [Option<Target>; 4],
        /// Byte offset in parameter memory.
        offset: u32,
        /// Element type.
        ty: Type,
    },
    /// A load.
    Load {
        /// Where from.
        access: Access,
        /// Destinations; the first `access.count`.
        to: [Option<Target>; 4],
    },
    /// A store.
    Store {
        /// Where to.
        access: Access,
        /// Sources; the first `access.count`.
        from: [Option<Source>; 4],
    },
    /// A read-modify-write.
    Atomic {
        /// Where.
        access: Access,
        /// What it does.
        update: Update,
        /// The old value's destination, if wanted.
        to: Option<Target>,
        /// Operands.
        from: [scalar::Source; 2],
    },
}

/// Decodes.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Memory, PtxError> {
    let ty = d.ty()?;
    let load = d.parts[0] == "ld";
    let mut space = None;
    let (mut count, mut bypass_l1) = (1u8, false);
    for &modifier in d.modifiers() {
        match modifier {
            "global" | "shared" | "param" if space.is_none() => space = Some(modifier),
            "v2" => count = 2,
            "v4" => count = 4,
            "nc" | "lu" if load => {}
            "wb" | "wt" if !load => {}
            "ca" if load => {}
            "cs" => {}
            "cg" | "volatile" => bypass_l1 = true,
            "cv" if load => bypass_l1 = true,
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
    let mut to = [None; 4];
    let mut from = [None; 4];
    for (index, element) in elements.iter().enumerate() {
        // A narrow element may be held in a wider register; nvcc does so for 8 bits only, in 16-bit registers.
        match (load, ty.bytes() == 8) {
            (true, false) => to[index] = Some(Target::Word(d.dst32(element)?)),
            (true, true) => to[index] = Some(Target::Double(d.dst64(element)?)),
            (false, false) => from[index] = Some(Source::Word(d.src32(element)?)),
            (false, true) => from[index] = Some(Source::Double(d.src64(element)?)),
        }
    }
    let space = match space {
        Some("param") if load => {
            let offset = d.param(place, u32::from(ty.bytes()) * u32::from(count))?;
            return Ok(Memory::Param { to, offset, ty });
        }
        Some("global") => Space::Global,
        Some("shared") => Space::Shared,
        // Generic addresses, local and constant memory, stores to parameters.
        _ => return d.unsupported(),
    };
    let (base, offset) = d.address(place)?;
    if space == Space::Global && matches!(base, Address::Word(_)) {
        return d.wrong("expected a 64-bit address", place.to_string());
    }
    let access = Access { space, base, offset, ty, count, bypass_l1 };
    Ok(if load { Memory::Load { access, to } } else { Memory::Store { access, from } })
}

/// What a warp's accesses reach, and where their addresses are noted.
pub struct Memories<'a> {
    /// Device memory.
    pub device: &'a DeviceMemory,
    /// The TB's shared memory.
    pub shared: &'a mut SharedMemory,
    /// Parameter memory.
    pub params: &'a [u8],
    /// Byte addresses of the active lanes, ascending by lane; cleared by each access.
    pub addresses: &'a mut Vec<u64>,
}

/// A lane whose access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFault {
    /// The lane.
    pub lane: usize,
    /// What is wrong.
    pub fault: AccessFault,
    /// The access.
    pub access: Access,
    /// Its byte address.
    pub address: u64,
}

/// Executes on the active lanes. Stores happen in lane order: of two lanes that write the same place the higher one wins.
pub fn execute(op: &Memory, l: &mut Lanes<'_>, m: &mut Memories<'_>) -> Result<(), LaneFault> {
    m.addresses.clear();
    match op {
        Memory::Param { to, offset, ty } => {
            let mut at = *offset as usize;
            for target in to.iter().flatten() {
                let bytes = usize::from(ty.bytes());
                let value = m.params.get(at..at + bytes).unwrap_or_default().iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
                write(l, *target, *ty, [value; LANES]);
                at += bytes;
            }
            Ok(())
        }
        Memory::Load { access, to } => {
            let addresses = addresses(access, l);
            note(l.mask, &addresses, m.addresses);
            for (index, target) in to.iter().flatten().enumerate() {
                let mut values = [0u64; LANES];
                load(access, index, l.mask, &addresses, m, &mut values)?;
                write(l, *target, access.ty, values);
            }
            Ok(())
        }
        Memory::Atomic { access, update, to, from } => atomic::execute((access, *update), *to, *from, l, m),
        Memory::Store { access, from } => {
            let addresses = addresses(access, l);
            note(l.mask, &addresses, m.addresses);
            for (index, source) in from.iter().flatten().enumerate() {
                let values = match source {
                    Source::Word(src) => l.regs.word(*src).map(u64::from),
                    Source::Double(src) => l.regs.double(*src),
                };
                store(access, index, l.mask, &addresses, m, &values)?;
            }
            Ok(())
        }
    }
}

pub(super) fn addresses(access: &Access, l: &Lanes<'_>) -> [u64; LANES] {
    match access.base {
        // Shared addresses wrap at 32 bits, as the registers that hold them do.
        Address::Word(reg) => l.regs.word(Src::Reg(reg)).map(|base| u64::from(base.wrapping_add(access.offset as u32))),
        Address::Double(reg) => l.regs.double(Src::Reg(reg)).map(|base| base.wrapping_add_signed(access.offset)),
        Address::Absolute => [access.offset as u64; LANES],
    }
}

pub(super) fn note(mask: u32, addresses: &[u64; LANES], out: &mut Vec<u64>) {
    if mask == u32::MAX {
        out.extend_from_slice(addresses);
    } else {
        out.extend(lanes(mask).map(|lane| addresses[lane]));
    }
}

/// The active lanes' numbers, ascending.
#[inline]
pub(super) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

fn load(access: &Access, index: usize, mask: u32, at: &[u64; LANES], m: &Memories<'_>, values: &mut [u64; LANES]) -> Result<(), LaneFault> {
    let (bytes, element) = (access.bytes(), u32::from(access.ty.bytes()));
    let skip = element * index as u32;
    let fail = |lane: usize| move |fault| LaneFault { lane, fault, access: *access, address: at[lane] };
    match access.space {
        Space::Global => {
            let mut view = m.device.view();
            for lane in lanes(mask) {
                values[lane] = view.load(at[lane], bytes, skip, element).map_err(fail(lane))?;
            }
        }
        Space::Shared if element == 4 && m.shared.load_words(mask, at, bytes, skip, values) => {}
        Space::Shared => {
            for lane in lanes(mask) {
                values[lane] = m.shared.load(at[lane], bytes, skip, element).map_err(fail(lane))?;
            }
        }
    }
    Ok(())
}

fn store(
    access: &Access,
    index: usize,
    mask: u32,
    at: &[u64; LANES],
    m: &mut Memories<'_>,
    values: &[u64; LANES],
) -> Result<(), LaneFault> {
    let (bytes, element) = (access.bytes(), u32::from(access.ty.bytes()));
    let skip = element * index as u32;
    let fail = |lane: usize| move |fault| LaneFault { lane, fault, access: *access, address: at[lane] };
    match access.space {
        Space::Global => {
            let mut view = m.device.view();
            for lane in lanes(mask) {
                view.store(at[lane], bytes, skip, element, values[lane]).map_err(fail(lane))?;
            }
        }
        Space::Shared => {
            for lane in lanes(mask) {
                m.shared.store(at[lane], bytes, skip, element, values[lane]).map_err(fail(lane))?;
            }
        }
    }
    Ok(())
}

/// Writes loaded elements, extended to the register by the type's sign.
fn write(l: &mut Lanes<'_>, to: Target, ty: Type, values: [u64; LANES]) {
    let spare = 64 - 8 * u32::from(ty.bytes());
    let values = if ty.is_signed() { values.map(|v| ((v << spare) as i64 >> spare) as u64) } else { values };
    match to {
        Target::Word(dst) => l.regs.set_word(dst, l.mask, &values.map(|v| v as u32)),
        Target::Double(dst) => l.regs.set_double(dst, l.mask, &values),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::decode;

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        let message = |inst: &str| decode(inst).unwrap_err().to_string();
        assert_eq!(message("ld.local.u32 %r1, [%rd1];"), "test.ptx:10:1: unsupported instruction: `ld.local.u32`");
        assert_eq!(message("ld.u32 %r1, [%rd1];"), "test.ptx:10:1: unsupported instruction: `ld.u32`");
        assert!(message("ld.param.u64 %rd1, [a+4];").contains("an access of 8 bytes outside the parameter, found `[a+4]`"));
        assert!(message("ld.global.v2.f32 %r1, [%rd1];").contains("expected a vector of 2"));
        assert!(message("ld.global.f32 %r1, [%r2];").contains("expected a 64-bit address"));
        assert!(message("ld.global.f32 %r9, [%rd2];").contains("expected a declared register, found `%r9`"));
    }
}
