//! First values of a module's `__constant__` and `__device__` variables, which a program on a GPU sets by `cudaMemcpyToSymbol`.

use super::argument::{Argument, Launching, Slot};
use super::element::Element;
use super::fill::Fill;
use super::place::{Formula, Place};
use crate::input::suggest;
use crate::random::Random;
use mias_ptx::image::{Image, ModuleVariable};
use mias_ptx::names;

/// A variable that a kernel's file gives a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedVariable {
    /// Its name, in the PTX or as C++ has it.
    pub(super) name: String,
    /// The value.
    pub(super) value: Value,
    /// Where it is given.
    pub(super) place: Place,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// One value.
    Word(Argument),
    /// Elements; what is behind them stays as the PTX has it.
    Elements {
        /// Of this type.
        element: Element,
        /// As many; none: as many as it has room for.
        count: Option<Formula>,
        /// One after the other, and again from the first.
        fills: Vec<Fill>,
    },
}

/// The variable of a name.
///
/// # Errors
/// A sentence with the names that there are.
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
            Err(format!("which `{name}`? the module has {}", several.join(", ")))
        }
    }
}

/// The bytes from the variable's start on. A buffer of a word's own is random by `seed`, elements are drawn from `random`.
///
/// # Errors
/// What does not fit.
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
            fits.ok_or_else(|| format!("{value} elements of {element} are given, but the variable has {size} bytes"))?
        }
        None if size % width == 0 => size / width,
        None => return Err(format!("the variable has {size} bytes, which is no whole number of {element}; give another type")),
    };
    launching.sources.bytes(element, Some(count), fills, random).map(|(bytes, _)| bytes)
}
