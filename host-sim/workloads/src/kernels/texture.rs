//! Textures and surfaces of a kernel file: views of buffers as texels, with their look-up mode.

use super::buffer::Known;
use super::element::Element;
use super::expression::Scope;
use super::place::{DescriptionError, Formula, Place};
use crate::input::suggest;
use mias_ptx::DeviceMemory;
use mias_ptx::ast::Type;
use mias_ptx::texture::{Format, Read, Sampler, Shape, Texture};

/// A texture named in a kernel file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedTexture {
    /// Name of the texture.
    pub(super) name: String,
    /// Buffer that contains the texels.
    pub(super) buffer: String,
    /// Type of a channel; `None` takes the element type of the buffer.
    pub(super) channel: Option<Element>,
    /// Channels per texel.
    pub(super) channels: u8,
    /// Geometry of the texture.
    pub(super) shape: Shape,
    /// Width and height in texels, and depth or number of layers.
    pub(super) size: [Formula; 3],
    /// Distance between rows in bytes; `None` is the size of a row.
    pub(super) pitch: Option<Formula>,
    /// Interpretation of integers.
    pub(super) read: Read,
    /// Look-up mode.
    pub(super) sampler: Sampler,
    /// Location of the description.
    pub(super) place: Place,
}

/// Returns the type of a texel channel.
pub(super) fn channel(element: Element) -> Type {
    match element {
        Element::Float(bytes) => Type::Float(bytes),
        Element::Signed(bytes) => Type::Signed(bytes),
        Element::Unsigned(bytes) => Type::Unsigned(bytes),
    }
}

impl NamedTexture {
    /// Binds the texture to its buffer's memory and returns its handle.
    ///
    /// # Errors
    /// [`DescriptionError`] for a mismatch.
    pub(super) fn bind(&self, scope: &Scope, buffers: &[Known<'_>], memory: &mut DeviceMemory) -> Result<u64, DescriptionError> {
        let known = buffers.iter().find(|(name, ..)| *name == self.buffer);
        let names = || buffers.iter().map(|(name, ..)| *name).collect::<Vec<_>>();
        let Some(&(_, element, _, address)) = known else {
            return Err(self.place.fail(super::argument::unknown_buffer(&self.buffer, &names())));
        };
        let [width, height, depth] = &self.size;
        let extent = |formula: &Formula, what: &str| formula.extent(scope, 1, what);
        let size = [extent(width, "texels in a row")?, extent(height, "rows")?, extent(depth, "planes or layers")?];
        let format = Format { ty: channel(self.channel.unwrap_or(element)), channels: self.channels };
        let pitch = match &self.pitch {
            Some(pitch) => u64::from(extent(pitch, "bytes from a row to the next")?),
            None => u64::from(size[0]) * u64::from(format.bytes()),
        };
        let (name, shape, read, sampler) = (self.name.clone(), self.shape, self.read, self.sampler);
        memory.bind(Texture { name, address, shape, size, pitch, format, read, sampler }).map_err(|error| self.place.fail(error))
    }
}

/// Formats the message for an unknown texture.
pub(super) fn unknown_texture(name: &str, known: &[&str]) -> String {
    match known {
        [] => format!("unknown texture `{name}`: the table [textures] is missing"),
        known => suggest::unknown("texture", name, known),
    }
}
