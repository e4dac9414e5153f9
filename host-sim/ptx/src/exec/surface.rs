//! Surface accesses `suld.b` and `sust.b`, which move bytes without a format (PTX ISA 7.8, "Surface
//! Instructions").

use super::access::{self, Memories, lanes};
use super::fetch::look_up;
use super::memory::{Source, Target, registers};
use super::texture::{Place, TextureFault, Texturing, Wrong, place};
use crate::LANES;
use crate::ast::{Opaque, Operand, Type};
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::registers::Lanes;
use crate::texture::{Shape, Texture};

/// Effect of an access outside of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Ends the kernel with an error.
    Trap,
    /// Moves the access to the nearest place inside.
    Clamp,
    /// Loads zero, and drops stores.
    Zero,
}

/// Direction and registers of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Destination registers; `None` for `_`.
    Load([Option<Target>; 4]),
    /// Source registers.
    Store([Option<Source>; 4]),
}

/// A decoded `suld` or `sust`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Place of the access; x counts bytes.
    pub place: Place,
    /// Effect of an access outside.
    pub beyond: Beyond,
    /// Untyped bits of an element.
    pub ty: Type,
    /// Number of elements: 1, 2 or 4.
    pub count: u8,
    /// Direction and registers.
    pub moved: Move,
    /// True if the instruction bypasses the L1.
    pub bypass_l1: bool,
}

impl Surface {
    /// Returns the bytes per lane.
    pub fn bytes(&self) -> u32 {
        u32::from(self.ty.bytes()) * u32::from(self.count)
    }
}

/// Decodes `suld` and `sust`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Texturing, PtxError> {
    let load = d.parts[0] == "suld";
    let parts = d.parts.clone();
    let ["b", geometry, rest @ ..] = &parts[1..] else { return d.unsupported() };
    let Some(shape) = Shape::parse(geometry) else { return d.unsupported() };
    let (mut count, mut bypass_l1, mut beyond, mut ty) = (1, false, Beyond::Trap, None);
    for &part in rest {
        match part {
            "ca" | "cs" | "wb" | "wt" => {}
            "cg" | "cv" => bypass_l1 = true,
            "v2" => count = 2,
            "v4" => count = 4,
            "trap" => beyond = Beyond::Trap,
            "clamp" => beyond = Beyond::Clamp,
            "zero" => beyond = Beyond::Zero,
            _ => match Type::parse(part) {
                Some(found @ Type::Bits(_)) if ty.is_none() => ty = Some(found),
                _ => return d.unsupported(),
            },
        }
    }
    let Some(ty) = ty.filter(|ty: &Type| u32::from(ty.bytes()) * u32::from(count) <= 16) else { return d.unsupported() };
    d.arity(2)?;
    let (value, at) = if load { (0, 1) } else { (1, 0) };
    // Registers are recorded in the order of operands, so a leading place is read first.
    let early = if load { None } else { Some(place(d, at, shape, Opaque::Surface)?) };
    let value = d.operand(value)?;
    let elements = match value {
        Operand::Vector(items) => &items[..],
        single => std::slice::from_ref(single),
    };
    if elements.len() != usize::from(count) {
        return d.wrong(format!("expected a vector of {count}"), value.to_string());
    }
    let (to, from) = registers(d, elements, ty, load)?;
    let (place, _) = match early {
        Some(place) => place,
        None => place(d, at, shape, Opaque::Surface)?,
    };
    let moved = if load { Move::Load(to) } else { Move::Store(from) };
    Ok(Texturing::Surface(Surface { place, beyond, ty, count, moved, bypass_l1: bypass_l1 && load }))
}

/// Executes the access in the active lanes, in ascending order.
pub(super) fn execute(op: &Surface, l: &mut Lanes<'_>, m: &mut Memories<'_>) -> Result<(), TextureFault> {
    let handles = op.place.handle.read(l, m.params);
    let layers = op.place.layer.map(|layer| l.regs.word(layer));
    let coordinates = op.place.coordinates.map(|coordinate| l.regs.word(coordinate));
    let mut places = [None; LANES];
    let mut last = None;
    for lane in lanes(l.mask) {
        let handle = handles[lane];
        let fault = |wrong| TextureFault { lane, handle, wrong };
        let surface = look_up(m.device, &mut last, lane, handle)?;
        if surface.shape != op.place.shape {
            return Err(fault(Wrong::Shape(op.place.shape)));
        }
        let mut at = coordinates.map(|coordinate| coordinate[lane] as i32);
        if let Some(layers) = layers {
            at[2] = layers[lane] as i32;
        }
        places[lane] = address(op, surface, at).map_err(fault)?;
    }
    m.addresses.extend(lanes(l.mask).filter_map(|lane| places[lane]));
    let (bytes, element) = (op.bytes(), u32::from(op.ty.bytes()));
    let mut view = m.device.view();
    for index in 0..usize::from(op.count) {
        let skip = element * index as u32;
        let fault = |lane: usize, address| {
            let handle = handles[lane];
            move |fault| TextureFault { lane, handle, wrong: Wrong::Memory(fault, address) }
        };
        let present = lanes(l.mask).filter_map(|lane| places[lane].map(|address| (lane, address)));
        match op.moved {
            Move::Load(to) => {
                let mut values = [0; LANES];
                for (lane, address) in present {
                    values[lane] = view.load(address, bytes, skip, element).map_err(fault(lane, address))?;
                }
                if let Some(to) = to[index] {
                    access::write(l, to, op.ty, values);
                }
            }
            Move::Store(from) => {
                let values = match from[index] {
                    Some(Source::Word(src)) => l.regs.word(src).map(u64::from),
                    Some(Source::Double(src)) => l.regs.double(src),
                    None => continue,
                };
                for (lane, address) in present {
                    view.store(address, bytes, skip, element, values[lane]).map_err(fault(lane, address))?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the address of an access; `None` if it has no effect.
fn address(op: &Surface, surface: &Texture, at: [i32; 3]) -> Result<Option<u64>, Wrong> {
    let bytes = op.bytes();
    if at[0].rem_euclid(bytes as i32) != 0 {
        return Err(Wrong::Misaligned(bytes, at));
    }
    let row = i64::from(surface.size[0]) * i64::from(surface.format.bytes());
    // Last place of each axis.
    let last = [row - i64::from(bytes), i64::from(surface.size[1]) - 1, i64::from(surface.size[2]) - 1];
    let inside = at.iter().zip(last).all(|(&at, last)| (0..=last).contains(&i64::from(at)));
    let mut to = at.map(i64::from);
    match op.beyond {
        _ if inside => {}
        Beyond::Clamp if last[0] >= 0 => {
            to.iter_mut().zip(last).for_each(|(to, last)| *to = (*to).clamp(0, last));
            to[0] -= to[0] % i64::from(bytes);
        }
        Beyond::Zero => return Ok(None),
        Beyond::Trap | Beyond::Clamp => return Err(Wrong::Outside(bytes, at)),
    }
    let [x, y, z] = to.map(|to| to as u64);
    Ok(Some(surface.texel([0, y as u32, z as u32]) + x))
}
