//! The textures that the kernels of a launch know, by handle or by the name of a module's `.texref`.

use super::Texture;
use crate::image::Image;

/// The first handle. Assumption: any number does that is no address, so that taking one for the other is seen.
pub const HANDLE_BASE: u64 = 0x7e00_0000_0000;

/// Why there is no texture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbound {
    /// A module's reference that nothing of the launch has the name of.
    #[error("texture or surface reference `{0}` is bound to nothing: give the launch a texture of this name")]
    Name(String),
    /// A number that is no handle.
    #[error(
        "{0:#x} is no handle of a texture or surface: describe it as `[textures.NAME]` in the kernel's file, and pass `\"tex:NAME\"` or `\"surf:NAME\"`"
    )]
    Handle(u64),
}

/// All textures, in the order of their handles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Textures {
    list: Vec<Texture>,
}

impl Textures {
    /// Adds one and gives its handle.
    pub(crate) fn add(&mut self, texture: Texture) -> u64 {
        self.list.push(texture);
        HANDLE_BASE + self.list.len() as u64 - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The texture of a handle: a number that `Textures::add` gave, or the address of a reference of the module `image`.
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
