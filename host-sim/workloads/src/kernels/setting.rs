//! Settings of a kernel's input, in addition to size and seed.

use super::bounds::Bounds;
use super::place::Formula;

/// A setting of a kernel.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Setting {
    /// Key of the setting.
    pub key: String,
    /// Meaning and permitted values, for lists and messages.
    pub description: String,
    #[serde(skip)]
    pub(super) accepts: Accepts,
}

/// Type of a setting's value.
#[derive(Clone, Debug)]
pub(super) enum Accepts {
    /// An integer, which expressions know by the key.
    Number { default: Formula, bounds: Bounds },
    /// A word that may be the path of a file.
    File,
    /// A word that names no file.
    Word,
}

impl Setting {
    pub(super) fn file(key: &str, description: &str) -> Self {
        Setting { key: key.into(), description: description.into(), accepts: Accepts::File }
    }

    pub(super) fn word(key: &str, description: &str) -> Self {
        Setting { key: key.into(), description: description.into(), accepts: Accepts::Word }
    }

    /// Returns whether the value is an integer, which expressions know by the key.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.accepts, Accepts::Number { .. })
    }

    /// Returns whether the value may be the path of a file.
    pub fn names_a_file(&self) -> bool {
        matches!(self.accepts, Accepts::File)
    }
}
