//! The module's variables in device memory: where they are and what they hold before the first kernel runs. PTX ISA 7.8 sections
//! 5.1.3 and 5.1.4.
//!
//! Constant variables are device memory, too, as on the machine, which reads them through a cache of their own.

use super::ast::Type;

/// Where constant variables start. Assumption: 2 GiB below the first buffer that the host allocates.
pub const CONST_BASE: u64 = 0x6fff_8000_0000;

/// Constant memory in bytes: PTX ISA section 5.1.3, without banks.
pub const CONST_BYTES: u64 = 64 << 10;

/// Where all other variables start. Assumption: 1 GiB below the first buffer.
pub const GLOBAL_BASE: u64 = 0x6fff_c000_0000;

/// A variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Its name in the PTX text, which is that of CUDA's symbol, mangled.
    pub name: String,
    /// Byte address.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Declared type; of an array or a structure, that of its elements.
    pub ty: Type,
    /// What it holds at first, as far as that is not zero.
    pub initial: Vec<u8>,
}

/// All variables of a module, ascending by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The variables.
    pub variables: Vec<ModuleVariable>,
}

impl Image {
    /// The variable of a name.
    pub fn find(&self, name: &str) -> Option<&ModuleVariable> {
        self.variables.iter().find(|v| v.name == name)
    }
}
