//! Initial values of a module's `__constant__` and `__device__` variables, which a CUDA program
//! sets by `cudaMemcpyToSymbol`.

use super::argument::{Argument, Launching, Slot};
use super::element::Element;
use super::fill::Fill;
use super::place::{Formula, Place};
use crate::input::suggest;
use crate::random::Random;
use mias_ptx::image::{Image, ModuleVariable};
use mias_ptx::names;

/// A module variable with a value in the kernel file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedVariable {
    /// Name, in the PTX or in C++.
    pub(super) name: String,
    /// Value of the variable.
    pub(super) value: Value,
    /// Location of the value.
    pub(super) place: Place,
}

/// Value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A single value.
    Word(Argument),
    /// Elements; the PTX sets the rest of the variable.
    Elements {
        /// Element type.
        element: Element,
        /// Number of elements; `None` fills the whole variable.
        count: Option<Formula>,
        /// Filling rules, applied element by element in rotation.
        fills: Vec<Fill>,
    },
}

/// Finds a variable by name.
///
/// # Errors
/// A sentence with the existing names.
pub(super) fn find<'i>(image: &'i Image, name: &str) -> Result<&'i ModuleVariable, String> {
    let found = names::matching(name, image.variables.iter().map(|variable| variable.name.as_str()));
    match found.as_slice() {
        [] if image.variables.is_empty() => Err(format!("unknown variable `{name}`; the module has none")),
        [] => {
            let known: Vec<String> = image.variables.iter().map(|variable| names::shown(&variable.name)).collect();
            Err(suggest::unknown("variable", name, &known.iter().map(String::as_str).collect::<Vec<_>>()))
        }
        [one] => image.find(one).ok_or_else(|| format!("unknown variable `{name}`")),
        several => {
            let several: Vec<String> = several.iter().map(|name| names::shown(name)).collect();
            Err(format!("ambiguous `{name}`: the module has {}", several.join(", ")))
        }
    }
}

/// Returns the bytes from the start of the variable. A separate buffer of a word uses `seed`;
/// elements are drawn from `random`.
///
/// # Errors
/// The cause of a mismatch.
pub(super) fn bytes(
    variable: &ModuleVariable,
    value: &Value,
    launching: &mut Launching<'_>,
    seed: u64,
    random: &mut Random,
) -> Result<Vec<u8>, String> {
    let (element, count, fills) = match value {
        Value::Word(argument) => {
            let bytes = u32::try_from(variable.bytes).unwrap_or(u32::MAX);
            let slot = Slot { what: "variable", name: &variable.name, bytes, ty: variable.ty };
            return Ok(argument.fit(slot, launching, seed)?.bytes());
        }
        Value::Elements { element, count, fills } => (*element, count, fills),
    };
    let (width, size) = (u64::from(element.bytes()), variable.bytes);
    let count = match count {
        Some(count) => {
            let value = count.expression.value(launching.sources.scope)?;
            let fits = u64::try_from(value).ok().filter(|count| count.checked_mul(width).is_some_and(|bytes| bytes <= size));
            fits.ok_or_else(|| format!("{value} elements of {element}, but the variable has {size} bytes"))?
        }
        None if size % width == 0 => size / width,
        None => return Err(format!("the variable has {size} bytes, not a whole number of {element}; use another type")),
    };
    launching.sources.bytes(element, Some(count), fills, random).map(|(bytes, _)| bytes)
}
