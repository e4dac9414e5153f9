//! Layout of the variables of a module: builds the [`Image`] from the module's text.

use super::ast::{Initial, Module, StateSpace, Variable};
use super::error::PtxError;
use super::image::{CONST_BASE, CONST_BYTES, GLOBAL_BASE, Image, ModuleVariable};
use super::pointer;
use super::scope::{Scopes, Symbol};

/// Maximum bytes of a module's variables. Assumption: the most that a simulated kernel needs.
const GLOBAL_BYTES: u64 = 256 << 20;

/// Alignment of variables in bytes. The gap between two is at least as large, so an access beyond
/// the end is detected (assumption; on a GPU they are adjacent).
const GAP: u64 = 16;

/// Places the variables and defines their names in the outermost scope.
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
