//! Memory effects of loads and stores, lane by lane in ascending order. If two lanes write the same
//! place, the higher lane wins.

use super::atomic;
use super::memory::{Access, Memory, Source, Space, Target};
use crate::LANES;
use crate::ast::Type;
use crate::error::AccessFault;
use crate::memory::device::View;
use crate::memory::window::{self, Named};
use crate::memory::{DeviceMemory, LocalMemory, SharedMemory};
use crate::program::{Address, Src};
use crate::registers::Lanes;

/// Memories that a warp accesses, and the buffer for its addresses.
pub struct Memories<'a> {
    /// Device memory.
    pub device: &'a DeviceMemory,
    /// Shared memory of the TB.
    pub shared: &'a mut SharedMemory,
    /// Parameter memory.
    pub params: &'a [u8],
    /// Byte addresses of the active lanes, ascending by lane; cleared by each access. Local
    /// addresses are those of device memory. Generic accesses to shared memory keep their generic
    /// address.
    pub addresses: &'a mut Vec<u64>,
}

impl Memories<'_> {
    /// Splits the memories from the address buffer.
    pub(super) fn reach<'b>(&'b mut self, local: &'b mut LocalMemory) -> (Reach<'b>, &'b mut Vec<u64>) {
        (Reach { device: self.device.view(), shared: self.shared, local, params: self.params }, self.addresses)
    }
}

/// A failed access of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFault {
    /// Index of the lane.
    pub lane: usize,
    /// Cause of the fault.
    pub fault: AccessFault,
    /// Memory that contains the address.
    pub space: Space,
    /// Bytes of the access.
    pub bytes: u32,
    /// Byte address in that memory.
    pub address: u64,
}

/// Memories of one access by one lane.
pub(super) struct Reach<'a> {
    pub(super) device: View<'a>,
    pub(super) shared: &'a mut SharedMemory,
    pub(super) local: &'a mut LocalMemory,
    params: &'a [u8],
}

/// An address with its memory.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) space: Space,
    pub(super) address: u64,
}

impl Spot {
    #[inline]
    pub(super) fn new(space: Space, address: u64) -> Spot {
        if space != Space::Generic {
            return Spot { space, address };
        }
        match window::named(address) {
            Named::Shared(address) => Spot { space: Space::Shared, address },
            Named::Local(address) => Spot { space: Space::Local, address },
            Named::Param(address) => Spot { space: Space::Param, address },
            Named::Device(address) => Spot { space: Space::Global, address },
        }
    }
}

/// Byte range of one element of an access.
#[derive(Clone, Copy)]
struct Element {
    /// Bytes of the whole access.
    bytes: u32,
    /// Bytes before this element.
    skip: u32,
    /// Bytes of this element.
    element: u32,
}

impl Reach<'_> {
    #[inline]
    fn load(&mut self, lane: usize, at: Spot, e: Element) -> Result<u64, AccessFault> {
        match at.space {
            Space::Shared => self.shared.load(at.address, e.bytes, e.skip, e.element),
            Space::Local => self.local.load(lane, at.address, e.bytes, e.skip, e.element),
            Space::Param => {
                if !at.address.is_multiple_of(e.bytes.into()) {
                    return Err(AccessFault::Misaligned);
                }
                let start = at.address.saturating_add(e.skip.into());
                let end = start.saturating_add(e.element.into());
                let bytes = self.params.get(start as usize..end as usize).ok_or(AccessFault::OutOfBounds)?;
                Ok(little_endian(bytes))
            }
            _ => self.device.load(at.address, e.bytes, e.skip, e.element),
        }
    }

    #[inline]
    fn store(&mut self, lane: usize, at: Spot, e: Element, value: u64) -> Result<(), AccessFault> {
        match at.space {
            Space::Shared => self.shared.store(at.address, e.bytes, e.skip, e.element, value),
            Space::Local => self.local.store(lane, at.address, e.bytes, e.skip, e.element, value),
            Space::Param => Err(AccessFault::ReadOnly),
            _ => self.device.store(at.address, e.bytes, e.skip, e.element, value),
        }
    }
}

impl<'a> Reach<'a> {
    pub(super) fn new(m: &'a mut Memories<'_>, local: &'a mut LocalMemory) -> Self {
        Reach { device: m.device.view(), shared: m.shared, local, params: m.params }
    }

    /// Reads at a generic address.
    pub(super) fn read(&mut self, lane: usize, address: u64, bytes: u32) -> Result<u64, LaneFault> {
        let spot = Spot::new(Space::Generic, address);
        let fault = |fault| LaneFault { lane, fault, space: spot.space, bytes, address: spot.address };
        self.load(lane, spot, Element { bytes, skip: 0, element: bytes }).map_err(fault)
    }
}

impl Reach<'_> {
    /// Reads `element` bytes (1, 2, 4, 8) at `skip` within an access of `bytes`.
    pub(super) fn load_part(&mut self, lane: usize, at: Spot, bytes: u32, skip: u32, element: u32) -> Result<u64, AccessFault> {
        self.load(lane, at, Element { bytes, skip, element })
    }

    /// Writes `element` bytes at `skip` within an access of `bytes`.
    pub(super) fn store_part(&mut self, lane: usize, at: Spot, bytes: u32, skip: u32, element: u32, value: u64) -> Result<(), AccessFault> {
        self.store(lane, at, Element { bytes, skip, element }, value)
    }

    /// Replaces the `bytes` (2, 4 or 8) at a place by `f` of them and returns the old value.
    #[inline]
    pub(super) fn update(&mut self, lane: usize, at: Spot, bytes: u32, f: impl Fn(u64) -> u64) -> Result<u64, AccessFault> {
        if at.space == Space::Global {
            return self.device.update(at.address, bytes, f);
        }
        let e = Element { bytes, skip: 0, element: bytes };
        let old = self.load(lane, at, e)?;
        self.store(lane, at, e, f(old))?;
        Ok(old)
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Executes the operation in the active lanes.
pub fn execute(op: &Memory, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<(), LaneFault> {
    m.addresses.clear();
    match op {
        Memory::Param { to, offset, ty } => {
            let mut at = *offset as usize;
            for target in to {
                let bytes = usize::from(ty.bytes());
                if let Some(target) = target {
                    let value = little_endian(m.params.get(at..at + bytes).unwrap_or_default());
                    write(l, *target, *ty, [value; LANES]);
                }
                at += bytes;
            }
            Ok(())
        }
        Memory::Load { access, to } => {
            let at = addresses(access, l);
            note(access, l.mask, &at, local, m.addresses);
            let mut reach = Reach { device: m.device.view(), shared: m.shared, local, params: m.params };
            for (index, target) in to.iter().enumerate() {
                let mut values = [0u64; LANES];
                match target {
                    Some(target) => {
                        load(access, index, l.mask, &at, &mut reach, &mut values)?;
                        write(l, *target, access.ty, values);
                    }
                    // A discarded element is checked as part of the access.
                    None if index == 0 => load(access, index, l.mask, &at, &mut reach, &mut values)?,
                    None => {}
                }
            }
            Ok(())
        }
        Memory::Atomic { access, update, to, from } => {
            let at = addresses(access, l);
            note(access, l.mask, &at, local, m.addresses);
            let mut reach = Reach { device: m.device.view(), shared: m.shared, local, params: m.params };
            atomic::execute((access, *update), &at, *to, *from, l, &mut reach)
        }
        Memory::Store { access, from } => {
            let at = addresses(access, l);
            note(access, l.mask, &at, local, m.addresses);
            let mut reach = Reach { device: m.device.view(), shared: m.shared, local, params: m.params };
            for (index, source) in from.iter().flatten().enumerate() {
                let values = match source {
                    Source::Word(src) => l.regs.word(*src).map(u64::from),
                    Source::Double(src) => l.regs.double(*src),
                };
                store(access, index, l.mask, &at, &mut reach, &values)?;
            }
            Ok(())
        }
    }
}

/// Returns the address of each lane, as in the instruction.
pub(super) fn addresses(access: &Access, l: &Lanes<'_>) -> [u64; LANES] {
    match access.base {
        // Shared addresses wrap at 32 bits, as their registers do.
        Address::Word(reg) => l.regs.word(Src::Reg(reg)).map(|base| u64::from(base.wrapping_add(access.offset as u32))),
        Address::Double(reg) => l.regs.double(Src::Reg(reg)).map(|base| base.wrapping_add_signed(access.offset)),
        Address::Absolute => [access.offset as u64; LANES],
    }
}

fn note(access: &Access, mask: u32, at: &[u64; LANES], local: &LocalMemory, out: &mut Vec<u64>) {
    match access.space {
        Space::Local | Space::Generic => {
            let bytes = access.bytes();
            out.extend(lanes(mask).map(|lane| match Spot::new(access.space, at[lane]) {
                Spot { space: Space::Local, address } => local.device_address(lane, address, bytes),
                _ => at[lane],
            }));
        }
        _ if mask == u32::MAX => out.extend_from_slice(at),
        _ => out.extend(lanes(mask).map(|lane| at[lane])),
    }
}

/// Returns the indices of the active lanes, in ascending order.
#[inline]
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// Builds the fault of a lane.
#[inline]
pub(super) fn faulty(access: &Access, lane: usize, at: Spot) -> impl FnOnce(AccessFault) -> LaneFault {
    let bytes = access.bytes();
    move |fault| LaneFault { lane, fault, space: at.space, bytes, address: at.address }
}

fn load(
    access: &Access,
    index: usize,
    mask: u32,
    at: &[u64; LANES],
    m: &mut Reach<'_>,
    values: &mut [u64; LANES],
) -> Result<(), LaneFault> {
    let element = u32::from(access.ty.bytes());
    let e = Element { bytes: access.bytes(), skip: element * index as u32, element };
    match access.space {
        // The two common cases have separate loops.
        Space::Global => {
            for lane in lanes(mask) {
                values[lane] = m.device.load(at[lane], e.bytes, e.skip, element).map_err(faulty(
                    access,
                    lane,
                    Spot { space: Space::Global, address: at[lane] },
                ))?;
            }
        }
        Space::Shared if element == 4 && m.shared.load_words(mask, at, e.bytes, e.skip, values) => {}
        space => {
            for lane in lanes(mask) {
                let spot = Spot::new(space, at[lane]);
                values[lane] = m.load(lane, spot, e).map_err(faulty(access, lane, spot))?;
            }
        }
    }
    Ok(())
}

fn store(access: &Access, index: usize, mask: u32, at: &[u64; LANES], m: &mut Reach<'_>, values: &[u64; LANES]) -> Result<(), LaneFault> {
    let element = u32::from(access.ty.bytes());
    let e = Element { bytes: access.bytes(), skip: element * index as u32, element };
    for lane in lanes(mask) {
        let spot = Spot::new(access.space, at[lane]);
        m.store(lane, spot, e, values[lane]).map_err(faulty(access, lane, spot))?;
    }
    Ok(())
}

/// Returns the register bits of a loaded element, extended by the type's sign.
pub(super) fn extended(ty: Type, value: u64) -> u64 {
    let spare = 64 - 8 * u32::from(ty.bytes());
    if ty.is_signed() { ((value << spare) as i64 >> spare) as u64 } else { value << spare >> spare }
}

/// Writes loaded elements to the destination.
pub(super) fn write(l: &mut Lanes<'_>, to: Target, ty: Type, values: [u64; LANES]) {
    let values = if ty.is_signed() { values.map(|v| extended(ty, v)) } else { values };
    match to {
        Target::Word(dst) => l.regs.set_word(dst, l.mask, &values.map(|v| v as u32)),
        Target::Double(dst) => l.regs.set_double(dst, l.mask, &values),
    }
}
