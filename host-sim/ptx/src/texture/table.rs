//! Textures of a launch, by handle or by the name of a module's `.texref`.

use super::Texture;
use crate::image::Image;

/// First handle. Assumption: any number that is no address, so a confusion of the two is detected.
pub const HANDLE_BASE: u64 = 0x7e00_0000_0000;

/// Cause why a texture is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbound {
    /// A reference of the module without a texture of that name in the launch.
    #[error("texture or surface reference `{0}` is not bound: add a texture of this name to the launch")]
    Name(String),
    /// A number that is no handle.
    #[error(
        "{0:#x} is not a handle of a texture or surface: describe it as `[textures.NAME]` in the kernel's file, and pass `\"tex:NAME\"` or `\"surf:NAME\"`"
    )]
    Handle(u64),
}

/// All textures, in the order of their handles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Textures {
    list: Vec<Texture>,
}

impl Textures {
    /// Adds a texture and returns its handle.
    pub(crate) fn add(&mut self, texture: Texture) -> u64 {
        self.list.push(texture);
        HANDLE_BASE + self.list.len() as u64 - 1
    }

    /// Returns whether there are no textures.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Finds the texture of a handle: a number that `Textures::add` returned, or the address of a
    /// reference of the module `image`.
    ///
    /// # Errors
    /// [`Unbound`].
    pub fn find(&self, handle: u64, image: Option<&Image>) -> Result<&Texture, Unbound> {
        let index = handle.checked_sub(HANDLE_BASE).and_then(|index| usize::try_from(index).ok());
        if let Some(texture) = index.and_then(|index| self.list.get(index)) {
            return Ok(texture);
        }
        let variable = image.and_then(|image| image.variables.iter().find(|v| v.address == handle)).ok_or(Unbound::Handle(handle))?;
        self.list.iter().find(|texture| texture.name == variable.name).ok_or_else(|| Unbound::Name(variable.name.clone()))
    }
}
