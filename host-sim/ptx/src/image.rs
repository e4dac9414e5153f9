//! The module's variables in device memory: where they are and what they hold before the first kernel runs. PTX ISA 7.8 sections
//! 5.1.3 and 5.1.4.
//!
//! Constant variables are device memory, too, as on the machine, which reads them through a cache of their own.

use super::ast::{Initial, Module, StateSpace, Type, Variable};
use super::error::PtxError;
use super::pointer;
use super::scope::{Scopes, Symbol};

/// Where constant variables start. Assumption: 2 GiB below the first buffer that the host allocates.
pub const CONST_BASE: u64 = 0x6fff_8000_0000;

/// Constant memory in bytes: PTX ISA section 5.1.3, without banks.
pub const CONST_BYTES: u64 = 64 << 10;

/// Where all other variables start. Assumption: 1 GiB below the first buffer.
pub const GLOBAL_BASE: u64 = 0x6fff_c000_0000;

/// Variables of one module in bytes. Assumption: what a simulated kernel needs at most.
const GLOBAL_BYTES: u64 = 256 << 20;

/// Alignment of variables in bytes; as much or more lies between two, so that running off an end is seen (assumption; on the
/// machine they are next to each other).
const GAP: u64 = 16;

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

/// Places the variables and makes their names known in the outermost scope.
pub(super) fn layout<'a>(module: &Module<'a>, scopes: &mut Scopes<'_, 'a>) -> Result<Image, PtxError> {
    let mut placed: Vec<(&Variable<'a>, u64)> = Vec::new();
    for (space, base, most, what) in [
        (StateSpace::Const, CONST_BASE, CONST_BYTES, "64 KiB of constant memory"),
        (StateSpace::Global, GLOBAL_BASE, GLOBAL_BYTES, "256 MiB of module variables"),
    ] {
        let mut next = base;
        for variable in module.variables.iter().filter(|v| v.space == space && v.count.is_some() && !v.external) {
            let address = next.next_multiple_of(u64::from(variable.align).max(GAP));
            next = address + u64::from(variable.bytes()) + GAP;
            if address + u64::from(variable.bytes()) - base > most {
                return Err(scopes.syntax(variable.at, format!("a variable that does not fit {what} with those before it"), variable.name));
            }
            placed.push((variable, address));
        }
    }
    for variable in module.variables.iter().filter(|v| v.space != StateSpace::Shared) {
        scopes.levels[0].symbols.insert(variable.name, Symbol::Undefined);
    }
    for &(variable, address) in &placed {
        let symbol = match variable.opaque {
            Some(opaque) => Symbol::Opaque(address, opaque),
            None => Symbol::Device(address, variable.space == StateSpace::Const),
        };
        scopes.levels[0].symbols.insert(variable.name, symbol);
    }
    let address_of = |name: &str| placed.iter().find(|(v, _)| v.name == name).map(|&(_, address)| address);
    let mut variables = Vec::new();
    for &(variable, address) in &placed {
        let width = usize::from(variable.ty.bytes());
        let mut initial = Vec::with_capacity(width * variable.initial.len());
        for value in &variable.initial {
            let bits = match *value {
                Initial::Bits(bits) => bits,
                Initial::Address { name, offset, mask, at } => {
                    let shift = mask.trailing_zeros().min(63);
                    match address_of(name) {
                        Some(address) => (address.wrapping_add_signed(offset) & mask) >> shift,
                        None => match pointer::address(module, name) {
                            Some(address) => (address & mask) >> shift,
                            None => return Err(scopes.syntax(at, "expected a variable of the module", name)),
                        },
                    }
                }
            };
            initial.extend_from_slice(&bits.to_le_bytes()[..width]);
        }
        variables.push(ModuleVariable { name: variable.name.into(), address, bytes: variable.bytes().into(), ty: variable.ty, initial });
    }
    Ok(Image { variables })
}
