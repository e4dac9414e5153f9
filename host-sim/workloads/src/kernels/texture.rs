//! Textures and surfaces of a kernel's file: which part of a buffer is seen as texels, and how it is looked up.

use super::buffer::Known;
use super::element::Element;
use super::expression::Scope;
use super::place::{DescriptionError, Formula, Place};
use crate::input::suggest;
use mias_ptx::DeviceMemory;
use mias_ptx::ast::Type;
use mias_ptx::texture::{Format, Read, Sampler, Shape, Texture};

/// A texture that a kernel's file names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedTexture {
    /// Its name.
    pub(super) name: String,
    /// The buffer that has its texels.
    pub(super) buffer: String,
    /// What a channel is; none: what the buffer's elements are.
    pub(super) channel: Option<Element>,
    /// Channels of a texel.
    pub(super) channels: u8,
    /// Its geometry.
    pub(super) shape: Shape,
    /// Width and height in texels, and depth or layers.
    pub(super) size: [Formula; 3],
    /// Bytes from a row to the next; none: a row's own.
    pub(super) pitch: Option<Formula>,
    /// What integers are read as.
    pub(super) read: Read,
    /// How it is looked up.
    pub(super) sampler: Sampler,
    /// Where it is described.
    pub(super) place: Place,
}

/// That a texture has texels of this type.
pub(super) fn channel(element: Element) -> Type {
    match element {
        Element::Float(bytes) => Type::Float(bytes),
        Element::Signed(bytes) => Type::Signed(bytes),
        Element::Unsigned(bytes) => Type::Unsigned(bytes),
    }
}

impl NamedTexture {
    /// Binds it to its buffer's memory and gives its handle.
    ///
    /// # Errors
    /// [`DescriptionError`]: what does not fit.
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

/// That there is no texture of this name.
pub(super) fn unknown_texture(name: &str, known: &[&str]) -> String {
    match known {
        [] => format!("unknown texture `{name}`; there is no table [textures]"),
        known => suggest::unknown("texture", name, known),
    }
}
