//! What of a kernel's input can be set, besides size and seed.

use super::bounds::Bounds;
use super::place::Formula;

/// A setting of a kernel.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Setting {
    /// Its key.
    pub key: String,
    /// What it is and which values it takes, for lists and messages.
    pub description: String,
    #[serde(skip)]
    pub(super) accepts: Accepts,
}

/// What a setting may be.
#[derive(Clone, Debug)]
pub(super) enum Accepts {
    /// A whole number, which expressions know by the key.
    Number { default: Formula, bounds: Bounds },
    /// A word that may be a file's path.
    File,
    /// Another word.
    Word,
}

impl Setting {
    pub(super) fn file(key: &str, description: &str) -> Self {
        Setting { key: key.into(), description: description.into(), accepts: Accepts::File }
    }

    pub(super) fn word(key: &str, description: &str) -> Self {
        Setting { key: key.into(), description: description.into(), accepts: Accepts::Word }
    }

    /// Whether its value is a whole number, which expressions know by the key.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.accepts, Accepts::Number { .. })
    }

    /// Whether its value may be a file's path.
    pub fn names_a_file(&self) -> bool {
        matches!(self.accepts, Accepts::File)
    }
}
