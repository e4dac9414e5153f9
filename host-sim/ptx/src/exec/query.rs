//! Queries of textures and surfaces: `txq` and `suq` (PTX ISA 7.8, "Texture Instructions" and
//! "Surface Instructions").

use super::access::{Memories, lanes};
use super::fetch::look_up;
use super::texture::{Handle, TextureFault, Texturing, handle};
use crate::LANES;
use crate::ast::{Opaque, Operand, Type};
use crate::error::PtxError;
use crate::operands::Decoder;
use crate::program::WordReg;
use crate::registers::Lanes;
use crate::texture::{AddressMode, Filter, Read, Texture};

/// Attribute of a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// Number of texels in x.
    Width,
    /// Number of texels in y.
    Height,
    /// Number of texels in z.
    Depth,
    /// Number of layers.
    Layers,
    /// Type of a channel, by OpenCL's numbers.
    DataType,
    /// Set of channels, by OpenCL's numbers.
    Order,
    /// Whether coordinates are normalized.
    Normalized,
    /// Filter; 1 for the linear filter.
    Filter,
    /// Address mode of an axis.
    AddressMode(u8),
    /// Constant that is equal for all textures here.
    Constant(u32),
}

/// A decoded `txq` or `suq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Texture to query.
    pub handle: Handle,
    /// Attribute to query.
    pub attribute: Attribute,
    /// Destination of the value.
    pub to: WordReg,
}

/// Decodes `txq` and `suq`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Texturing, PtxError> {
    let surface = d.parts[0] == "suq";
    let parts = d.parts.clone();
    let (name, operands) = match parts[1..] {
        ["level", name @ ("width" | "height" | "depth"), "b32"] if !surface => (name, 3),
        [name, "b32"] => (name, 2),
        _ => return d.unsupported(),
    };
    let attribute = match name {
        "width" => Attribute::Width,
        "height" => Attribute::Height,
        "depth" => Attribute::Depth,
        "array_size" => Attribute::Layers,
        "channel_data_type" => Attribute::DataType,
        "channel_order" => Attribute::Order,
        // Linear layout, one row after another.
        "memory_layout" if surface => Attribute::Constant(1),
        "normalized_coords" if !surface => Attribute::Normalized,
        "filter_mode" if !surface => Attribute::Filter,
        "addr_mode_0" if !surface => Attribute::AddressMode(0),
        "addr_mode_1" if !surface => Attribute::AddressMode(1),
        "addr_mode_2" if !surface => Attribute::AddressMode(2),
        "force_unnormalized_coords" if !surface => Attribute::Constant(0),
        "num_mipmap_levels" | "num_samples" if !surface => Attribute::Constant(1),
        _ => return d.unsupported(),
    };
    d.arity(operands)?;
    let to = d.dst32(d.operand(0)?)?;
    let operand = d.operand(1)?;
    let &Operand::Address { base: Some(base), offset: 0 } = operand else {
        return d.wrong("expected a texture or surface, as in `[t]`", operand.to_string());
    };
    let handle = handle(d, base, if surface { Opaque::Surface } else { Opaque::Texture })?;
    if operands == 3 {
        d.src32(d.operand(2)?)?;
    }
    Ok(Texturing::Query(Query { handle, attribute, to }))
}

/// Executes the query in the active lanes.
pub(super) fn query(op: &Query, l: &mut Lanes<'_>, m: &mut Memories<'_>) -> Result<(), TextureFault> {
    let handles = op.handle.read(l, m.params);
    let mut values = [0; LANES];
    let mut last = None;
    for lane in lanes(l.mask) {
        values[lane] = attribute(op.attribute, look_up(m.device, &mut last, lane, handles[lane])?);
    }
    l.regs.set_word(op.to, l.mask, &values);
    Ok(())
}

fn attribute(attribute: Attribute, texture: &Texture) -> u32 {
    let [width, height, depth] = texture.size;
    let layered = texture.shape.is_layered();
    match attribute {
        Attribute::Width => width,
        Attribute::Height => height,
        Attribute::Depth => {
            if layered {
                1
            } else {
                depth
            }
        }
        Attribute::Layers => {
            if layered {
                depth
            } else {
                1
            }
        }
        Attribute::DataType => data_type(texture),
        // CL_R, CL_RG, CL_RGBA: PTX ISA 7.8 section 5.3.2, table "Channel order".
        Attribute::Order => match texture.format.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Attribute::Normalized => texture.sampler.normalized.into(),
        Attribute::Filter => (texture.sampler.filter == Filter::Linear).into(),
        // In the order of PTX ISA 7.8, section 5.3.
        Attribute::AddressMode(axis) => match texture.sampler.address[usize::from(axis).min(2)] {
            AddressMode::Wrap => 0,
            AddressMode::Mirror => 1,
            AddressMode::Clamp => 3,
            AddressMode::Border => 4,
        },
        Attribute::Constant(value) => value,
    }
}

/// Returns OpenCL's number of a channel type (PTX ISA 7.8 section 5.3.2, table "Channel data
/// type").
fn data_type(texture: &Texture) -> u32 {
    let normalized = texture.read == Read::Normalized;
    match (texture.format.ty, normalized) {
        (Type::Signed(1), true) => 0x10d0,
        (Type::Signed(_), true) => 0x10d1,
        (Type::Unsigned(1), true) => 0x10d2,
        (Type::Unsigned(_), true) => 0x10d3,
        (Type::Signed(1), false) => 0x10d7,
        (Type::Signed(2), false) => 0x10d8,
        (Type::Signed(_), false) => 0x10d9,
        (Type::Unsigned(1), false) => 0x10da,
        (Type::Unsigned(2), false) => 0x10db,
        (Type::Unsigned(_), false) => 0x10dc,
        (Type::Float(2), _) => 0x10dd,
        _ => 0x10de,
    }
}
