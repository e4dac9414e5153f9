//! Initial values of module variables in a kernel file.

use super::form::{Named, VariableForm, in_order};
use super::launch;
use super::reader::Reader;
use super::spanned::Spanned;
use crate::kernels::buffer::{NamedBuffer, zeros};
use crate::kernels::given::Takes;
use crate::kernels::place::DescriptionError;
use crate::kernels::variable::{NamedVariable, Value};

/// Reads the variables in file order, filled by rules or with `parts` of a reference. Their
/// existence in the PTX is checked when the PTX is read.
pub(super) fn variables(
    reader: &Reader<'_>,
    table: Named<Spanned<VariableForm>>,
    buffers: &[NamedBuffer],
    parts: &[&str],
) -> Result<Vec<NamedVariable>, DescriptionError> {
    let one = |(name, form): (Spanned<String>, Spanned<VariableForm>)| {
        let span = form.span();
        let value = match form.get_ref() {
            VariableForm::Word(word) => Value::Word(launch::argument(reader, word, span.clone(), (buffers, &[]))?),
            VariableForm::Elements(form) => {
                let element = launch::element(reader, &form.element, span.clone())?;
                let count = form.count.as_ref().map(|count| reader.formula_at(count, span.clone())).transpose()?;
                // Constant data of a module cannot come from a graph or a picture.
                let filled = |fill| launch::fills(reader, element, fill, span.clone(), (Takes::Numbers, parts));
                Value::Elements { element, count, fills: form.fill.as_ref().map_or_else(|| Ok(zeros()), filled)? }
            }
        };
        let place = reader.at(name.span());
        Ok(NamedVariable { name: name.into_inner(), value, place })
    };
    in_order(table).into_iter().map(one).collect()
}
