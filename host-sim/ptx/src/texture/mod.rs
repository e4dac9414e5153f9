//! Textures and surfaces, which kernels access by coordinates instead of addresses (CUDA C
//! programming guide, sections "Texture and Surface Memory" and "Texture Fetching"; PTX ISA 7.8
//! section 5.3 "Texture Sampler and Surface Types").
//!
//! A [`Texture`] is a view of a part of device memory: rows of texels, one after another. A GPU
//! stores the texels of CUDA arrays in blocks, so that neighbors in all directions share a line;
//! here all are linear (assumption). Every texel therefore has an address. `sample.rs` maps
//! coordinates to texels, and `table.rs` holds the textures of a launch.

mod sample;
mod table;

pub use sample::{Coordinate, Footprint, ONE, footprint};
pub use table::{HANDLE_BASE, Textures, Unbound};

use crate::ast::Type;
use crate::ieee::{F16, F32, Mode, Value};

/// Number of coordinates of a texture, and whether it has layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One dimension.
    One,
    /// Two dimensions.
    Two,
    /// Three dimensions.
    Three,
    /// Layers of one dimension.
    OneLayered,
    /// Layers of two dimensions.
    TwoLayered,
}

impl Shape {
    /// Returns the number of filtered coordinates: 1 to 3.
    pub fn axes(self) -> usize {
        match self {
            Shape::One | Shape::OneLayered => 1,
            Shape::Two | Shape::TwoLayered => 2,
            Shape::Three => 3,
        }
    }

    /// Returns whether a number selects a layer.
    pub fn is_layered(self) -> bool {
        matches!(self, Shape::OneLayered | Shape::TwoLayered)
    }

    /// Parses the geometry in an opcode.
    pub fn parse(text: &str) -> Option<Shape> {
        match text {
            "1d" => Some(Shape::One),
            "2d" => Some(Shape::Two),
            "3d" => Some(Shape::Three),
            "a1d" => Some(Shape::OneLayered),
            "a2d" => Some(Shape::TwoLayered),
            _ => None,
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Shape::One => "1d",
            Shape::Two => "2d",
            Shape::Three => "3d",
            Shape::OneLayered => "a1d",
            Shape::TwoLayered => "a2d",
        })
    }
}

/// Meaning of a coordinate outside of the texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// The nearest texel.
    #[default]
    Clamp,
    /// Zero.
    Border,
    /// Repetition of the texture, for normalized coordinates.
    Wrap,
    /// Alternately mirrored repetition of the texture, for normalized coordinates.
    Mirror,
}

/// Filter that converts texels to a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The texel at the coordinate.
    #[default]
    Point,
    /// Weighted mean of the nearest two texels of each axis.
    Linear,
}

/// Look-up mode of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    /// Address modes beyond the ends of x, y and z.
    pub address: [AddressMode; 3],
    /// Filter of the texels.
    pub filter: Filter,
    /// True if coordinates run from 0 to 1 instead of to the size.
    pub normalized: bool,
}

/// Interpretation of integer texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Read {
    /// Unchanged integers.
    #[default]
    Element,
    /// A float from 0 to 1, or from -1 to 1 if signed, for texels of 8 and 16 bits.
    Normalized,
}

/// Maximum number of texels along an axis: CUDA C programming guide, table "Technical
/// Specifications per Compute Capability", for a one-dimensional texture bound to linear memory.
const MOST_TEXELS: u32 = 1 << 28;

/// Format of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Type of each channel: integers of 1, 2 or 4 bytes, or floats of 2 or 4.
    pub ty: Type,
    /// Number of channels: 1, 2 or 4.
    pub channels: u8,
}

impl Format {
    /// Returns the size of a texel in bytes.
    pub fn bytes(self) -> u32 {
        u32::from(self.ty.bytes()) * u32::from(self.channels)
    }

    /// Returns the value of a channel as a float; integers are converted as by `Read::Normalized`.
    pub fn float(self, bits: u64) -> f32 {
        match self.ty {
            Type::Float(2) => f32::from_bits(match F16.value(bits) {
                Value::Finite(exact) => F32.round(exact, Mode::Nearest),
                Value::Infinite(negative) => F32.infinity(negative),
                Value::Nan => F32.nan,
            } as u32),
            Type::Float(_) => f32::from_bits(bits as u32),
            Type::Signed(bytes) => {
                let most = (1u32 << (8 * u32::from(bytes.min(2)) - 1)) - 1;
                (self.integer(bits) as i32 as f32 / most as f32).max(-1.0)
            }
            _ => bits as f32 / ((1u32 << (8 * u32::from(self.ty.bytes().min(2)))) - 1) as f32,
        }
    }

    /// Returns the value of a channel as a 32-bit integer.
    pub fn integer(self, bits: u64) -> u32 {
        let spare = 32 - 8 * u32::from(self.ty.bytes().clamp(1, 4));
        if self.ty.is_signed() { (((bits as u32) << spare) as i32 >> spare) as u32 } else { bits as u32 }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.channels, self.ty.name())
    }
}

/// A view of device memory as texels, for textures and surfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Name for messages and for a `.texref` or `.surfref` of a module.
    pub name: String,
    /// Address of the first texel.
    pub address: u64,
    /// Geometry of the texture.
    pub shape: Shape,
    /// Width and height in texels, and depth or number of layers; 1 for a missing axis.
    pub size: [u32; 3],
    /// Distance between rows in bytes.
    pub pitch: u64,
    /// Format of a texel.
    pub format: Format,
    /// Interpretation of integers.
    pub read: Read,
    /// Look-up mode.
    pub sampler: Sampler,
}

/// Error for memory that cannot be viewed as a texture, with cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("texture `{name}`: {message}")]
pub struct TextureError {
    /// Name of the texture.
    pub name: String,
    /// Cause and remedy.
    pub message: String,
}

impl Texture {
    /// Returns the bytes from the first texel to the end of the last; `None` beyond 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        let [width, height, depth] = self.size.map(u64::from);
        let rows = height.checked_mul(depth)?.checked_sub(1)?;
        rows.checked_mul(self.pitch)?.checked_add(width.checked_mul(self.format.bytes().into())?)
    }

    /// Returns the address of a texel, which must be inside.
    pub fn texel(&self, [x, y, z]: [u32; 3]) -> u64 {
        let row = u64::from(z) * u64::from(self.size[1]) + u64::from(y);
        self.address + row * self.pitch + u64::from(x) * u64::from(self.format.bytes())
    }

    /// Returns whether a fetch returns floats instead of 32-bit integers.
    pub fn gives_floats(&self) -> bool {
        self.read == Read::Normalized || matches!(self.format.ty, Type::Float(_))
    }

    /// Checks that the parts of the texture are consistent.
    /// [`DeviceMemory::bind`](crate::DeviceMemory::bind) checks whether the memory is allocated.
    ///
    /// # Errors
    /// [`TextureError`].
    pub fn check(&self) -> Result<(), TextureError> {
        let (integer, narrow) = (self.format.ty.is_integer(), self.format.ty.bytes() <= 2);
        let wrong = |message: String| Err(TextureError { name: self.name.clone(), message });
        let wide = |axes: usize| self.size[axes..].iter().any(|&extent| extent != 1);
        if !matches!(self.format.ty, Type::Unsigned(1 | 2 | 4) | Type::Signed(1 | 2 | 4) | Type::Float(2 | 4)) {
            return wrong(format!("channels of type {}; use u8, s8, u16, s16, u32, s32, f16 or f32", self.format.ty.name()));
        }
        if !matches!(self.format.channels, 1 | 2 | 4) {
            return wrong(format!("{} channels; a texel has 1, 2 or 4", self.format.channels));
        }
        if self.size.contains(&0) {
            return wrong(format!("a size of {:?} texels; no extent may be zero", self.size));
        }
        if self.size.iter().any(|&extent| extent > MOST_TEXELS) {
            return wrong(format!("a size of {:?} texels; an extent is at most {MOST_TEXELS}", self.size));
        }
        if self.shape == Shape::One && wide(1)
            || self.shape == Shape::Two && wide(2)
            || self.shape == Shape::OneLayered && self.size[1] != 1
        {
            return wrong(format!("a size of {:?} texels does not fit the geometry {}", self.size, self.shape));
        }
        if self.read == Read::Normalized && !(integer && narrow) {
            return wrong(format!("normalized floats of {}; only integers of 8 and 16 bits support this", self.format.ty.name()));
        }
        if self.sampler.filter == Filter::Linear && !self.gives_floats() {
            return wrong("a linear filter on integers; read them as normalized floats, or filter by point".into());
        }
        let repeats = |mode: &AddressMode| matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
        if !self.sampler.normalized && self.sampler.address.iter().any(repeats) {
            return wrong("wrap and mirror need normalized coordinates; use clamp, which CUDA substitutes".into());
        }
        let bytes = u64::from(self.format.bytes());
        if !self.address.is_multiple_of(bytes) || !self.pitch.is_multiple_of(bytes) {
            return wrong(format!("address {:#x} and pitch {} must be multiples of a texel's {bytes} bytes", self.address, self.pitch));
        }
        if self.pitch < u64::from(self.size[0]) * bytes {
            let row = u64::from(self.size[0]) * bytes;
            return wrong(format!("a pitch of {} bytes; a row of {} texels of {bytes} bytes needs {row}", self.pitch, self.size[0]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
