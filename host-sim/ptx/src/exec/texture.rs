//! Textures and surfaces: common parts of their instructions, and decoding of `tex` and `tld4` (PTX
//! ISA 7.8, "Texture Instructions" and "Surface Instructions"). `fetch.rs` executes fetches,
//! `surface.rs` loads and stores, `query.rs` queries.
//!
//! A texture has one level of detail here, which `tex.level` and `tex.grad` use for any requested
//! level.

use super::access::Memories;
use super::fetch;
use super::query::{self, Query};
use super::surface::{self, Surface};
use crate::LANES;
use crate::ast::{Opaque, Operand};
use crate::error::{AccessFault, PtxError};
use crate::memory::DeviceMemory;
use crate::operands::Decoder;
use crate::program::{Src, Src32, Src64, WordReg};
use crate::registers::Lanes;
use crate::scope::Symbol;
use crate::texture::{Sampler, Shape};

/// Source of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A register, or the address of a reference in the module.
    Value(Src64),
    /// Parameter of the kernel: byte offset in parameter memory.
    Param(u32),
}

/// Source of a texture's sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplerFrom {
    /// The texture itself: the unified mode.
    Texture,
    /// The module: the independent mode.
    Given(Sampler),
    /// Another texture.
    Handle(Handle),
}

/// A place in a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Handle of the texture or surface.
    pub handle: Handle,
    /// Required geometry.
    pub shape: Shape,
    /// Register with the number of the layer.
    pub layer: Option<Src32>,
    /// Coordinates x, y and z; missing ones are zero.
    pub coordinates: [Src32; 3],
}

/// A decoded `tex` or `tld4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Place of the fetch.
    pub place: Place,
    /// Sampler of the fetch.
    pub sampler: SamplerFrom,
    /// True for float coordinates, false for texel numbers.
    pub places: bool,
    /// True for a float result, false for an integer one.
    pub floats: bool,
    /// Channel whose four neighbors are fetched, instead of the channels of one place.
    pub gather: Option<u8>,
    /// Destinations; `None` for `_`.
    pub to: [Option<WordReg>; 4],
}

/// A decoded instruction on textures or surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texturing {
    /// `tex`, `tld4`.
    Fetch(Fetch),
    /// `txq`, `suq`.
    Query(Query),
    /// `suld`, `sust`.
    Surface(Surface),
}

/// Cause of a failed access of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The texture does not exist.
    Unbound,
    /// The instruction has this geometry, the texture another.
    Shape(Shape),
    /// The instruction returns floats, the texture integers.
    Integers,
    /// The filter is linear, but the texture returns integers.
    Filter,
    /// An access outside of a surface: its bytes, and x in bytes, y, z.
    Outside(u32, [i32; 3]),
    /// A misaligned access to a surface: its bytes, and x in bytes, y, z.
    Misaligned(u32, [i32; 3]),
    /// A fault of the memory at an address.
    Memory(AccessFault, u64),
}

/// A failed access of a lane to a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureFault {
    /// Index of the lane.
    pub lane: usize,
    pub(super) handle: u64,
    pub(super) wrong: Wrong,
}

impl TextureFault {
    /// Formats the message with the texture, the cause and the remedy.
    pub fn explain(&self, device: &DeviceMemory) -> String {
        let texture = match device.texture(self.handle) {
            Ok(texture) => texture,
            Err(unbound) => return unbound.to_string(),
        };
        let (name, shape, size) = (&texture.name, texture.shape, texture.size);
        let ([width, height, depth], bytes) = (size, texture.format.bytes());
        match self.wrong {
            Wrong::Shape(asked) => {
                format!("texture `{name}` is {shape}, the instruction is for {asked}: use this geometry for the texture")
            }
            Wrong::Integers => {
                format!("texture `{name}` has integers ({}), the instruction reads floats: read it as normalized floats", texture.format)
            }
            Wrong::Filter => format!("texture `{name}` has integers, the sampler a linear filter: filter by point"),
            Wrong::Outside(access, [x, y, z]) => format!(
                "an access of {access} bytes outside surface `{name}`, at byte {x} of row {y} of plane {z}: it has {width} texels of {bytes} \
                 bytes, {height} rows, {depth} planes"
            ),
            Wrong::Misaligned(access, [x, y, z]) => {
                format!("a misaligned access of {access} bytes to surface `{name}`, at byte {x} of row {y} of plane {z}")
            }
            Wrong::Memory(fault, address) => format!("{fault} access of texture `{name}` at address {address:#x}"),
            // It was not there a moment ago.
            Wrong::Unbound => format!("texture `{name}` is not bound"),
        }
    }
}

impl Handle {
    /// Returns the value of the handle per lane.
    pub(super) fn read(self, l: &Lanes<'_>, params: &[u8]) -> [u64; LANES] {
        match self {
            Handle::Value(src) => l.regs.double(src),
            Handle::Param(offset) => {
                let bytes = params.get(offset as usize..offset as usize + 8).unwrap_or_default();
                [bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)); LANES]
            }
        }
    }
}

/// Executes the instruction in the active lanes.
pub fn execute(op: &Texturing, l: &mut Lanes<'_>, m: &mut Memories<'_>) -> Result<(), TextureFault> {
    m.addresses.clear();
    match op {
        Texturing::Fetch(op) => fetch::fetch(op, l, m),
        Texturing::Query(op) => query::query(op, l, m),
        Texturing::Surface(op) => surface::execute(op, l, m),
    }
}

/// Decodes `tex`, `tld4`, `txq` and `suq`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Texturing, PtxError> {
    match d.parts[0] {
        "tex" | "tld4" => decode_fetch(d),
        _ => query::decode(d),
    }
}

fn decode_fetch(d: &mut Decoder<'_, '_>) -> Result<Texturing, PtxError> {
    let (mut gather, mut operands) = (None, 2);
    let parts = d.parts.clone();
    let mut rest = &parts[1..];
    if let (Some((&first, others)), true) = (rest.split_first(), d.parts[0] == "tld4") {
        gather = ["r", "g", "b", "a"].iter().position(|&channel| channel == first).map(|at| at as u8);
        rest = others;
        if gather.is_none() {
            return d.unsupported();
        }
    } else if let Some((&level @ ("base" | "level" | "grad"), others)) = rest.split_first() {
        operands = ["base", "level", "grad"].iter().position(|&known| known == level).unwrap_or(0) + 2;
        rest = others;
    }
    let &[geometry, "v4", result, coordinates] = rest else { return d.unsupported() };
    let Some(shape) = Shape::parse(geometry) else { return d.unsupported() };
    let (Some(floats), Some(places)) = (is_float(result), is_float(coordinates)) else { return d.unsupported() };
    // Further operands are offsets and comparison depths.
    if result == "f16" || coordinates == "u32" || d.operands() > operands || gather.is_some() && (shape.axes() != 2 || !places) {
        return d.unsupported();
    }
    d.arity(operands)?;
    let to = destinations(d)?;
    let (place, sampler) = place(d, 1, shape, Opaque::Texture)?;
    for extra in 2..operands {
        match d.operand(extra)? {
            Operand::Vector(items) => items.iter().try_for_each(|item| d.src32(item).map(|_| ()))?,
            other => d.src32(other).map(|_| ())?,
        }
    }
    Ok(Texturing::Fetch(Fetch { place, sampler, places, floats, gather, to }))
}

fn is_float(ty: &str) -> Option<bool> {
    match ty {
        "f32" => Some(true),
        "u32" | "s32" => Some(false),
        _ => None,
    }
}

fn destinations(d: &mut Decoder<'_, '_>) -> Result<[Option<WordReg>; 4], PtxError> {
    let operand = d.operand(0)?;
    let Operand::Vector(items) = operand else { return d.wrong("expected a vector of 4", operand.to_string()) };
    let [a, b, c, e] = &items[..] else { return d.wrong("expected a vector of 4", operand.to_string()) };
    let mut to = [None; 4];
    for (to, item) in to.iter_mut().zip([a, b, c, e]) {
        if !matches!(item, Operand::Name("_")) {
            *to = Some(d.dst32(item)?);
        }
    }
    Ok(to)
}

/// Reads operand `index` as a place in a texture or surface.
pub(super) fn place(d: &mut Decoder<'_, '_>, index: usize, shape: Shape, wanted: Opaque) -> Result<(Place, SamplerFrom), PtxError> {
    let operand = d.operand(index)?;
    let Operand::Texel { base, sampler, coordinates } = operand else {
        return d.wrong("expected a texture or surface and coordinates, as in `[t, {x, y}]`", operand.to_string());
    };
    let handle = handle(d, base, wanted)?;
    let sampler = match sampler {
        None => SamplerFrom::Texture,
        Some(name) => match d.tables.scopes.symbol(d.scope, name) {
            Some(&Symbol::Opaque(_, Opaque::Sampler(Some(sampler)))) => SamplerFrom::Given(sampler),
            _ => SamplerFrom::Handle(self::handle(d, name, Opaque::Sampler(None))?),
        },
    };
    let mut rest = &coordinates[..];
    let layer = match rest.split_first() {
        Some((first, others)) if shape.is_layered() => {
            rest = others;
            Some(d.src32(first)?)
        }
        _ => None,
    };
    // For three or more coordinates, four are written; the fourth is ignored.
    let (axes, written) = (shape.axes(), rest.len());
    if written != axes && !(coordinates.len() == 4 && axes + usize::from(shape.is_layered()) == 3) {
        return d.wrong(format!("expected the coordinates of a {shape} texture"), operand.to_string());
    }
    let mut found = [Src::Imm(0); 3];
    for (coordinate, item) in found.iter_mut().zip(&rest[..axes]) {
        *coordinate = d.src32(item)?;
    }
    Ok((Place { handle, shape, layer, coordinates: found }, sampler))
}

/// Returns the handle for a name.
pub(super) fn handle<'a>(d: &mut Decoder<'_, 'a>, name: &'a str, wanted: Opaque) -> Result<Handle, PtxError> {
    if d.is_double(&Operand::Name(name)) {
        return d.src64(&Operand::Name(name)).map(Handle::Value);
    }
    let same = |kind: &Opaque| std::mem::discriminant(kind) == std::mem::discriminant(&wanted);
    match d.tables.scopes.symbol(d.scope, name) {
        Some(Symbol::Opaque(address, kind)) if same(kind) => Ok(Handle::Value(Src::Imm(*address))),
        Some(&Symbol::Param(offset, 8)) => Ok(Handle::Param(offset)),
        Some(Symbol::Undefined) => d.wrong("a reference that is declared but not defined in this file", name),
        _ => {
            let kind = match wanted {
                Opaque::Texture => "`.texref`",
                Opaque::Sampler(_) => "`.samplerref`",
                Opaque::Surface => "`.surfref`",
            };
            d.wrong(format!("expected a {kind}, or a handle in a 64-bit register"), name)
        }
    }
}
