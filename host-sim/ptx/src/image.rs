//! Variables of a module in device memory: their addresses and initial values (PTX ISA 7.8 sections
//! 5.1.3 and 5.1.4).
//!
//! Constant variables are device memory too, as on a GPU, which reads them through a separate
//! cache.

use super::ast::Type;

/// Address of the first constant variable. Assumption: 2 GiB below the first buffer that the host
/// allocates.
pub const CONST_BASE: u64 = 0x6fff_8000_0000;

/// Size of constant memory in bytes (PTX ISA section 5.1.3, without banks).
pub const CONST_BYTES: u64 = 64 << 10;

/// Address of the first other variable. Assumption: 1 GiB below the first buffer.
pub const GLOBAL_BASE: u64 = 0x6fff_c000_0000;

/// A variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Name in the PTX text, which is the mangled name of CUDA's symbol.
    pub name: String,
    /// Byte address.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Declared type; for an array or a structure, the type of its elements.
    pub ty: Type,
    /// Initial bytes; the rest is zero.
    pub initial: Vec<u8>,
}

/// Variables of a module, in ascending order of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Variables in address order.
    pub variables: Vec<ModuleVariable>,
}

impl Image {
    /// Finds a variable by name.
    pub fn find(&self, name: &str) -> Option<&ModuleVariable> {
        self.variables.iter().find(|v| v.name == name)
    }
}
