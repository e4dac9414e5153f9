//! Size and settings in a kernel file: defaults and bounds.

use super::form::{Named, NumberForm, in_order};
use super::reader::Reader;
use crate::kernels::Setting;
use crate::kernels::bounds::{Bounds, Only, Range};
use crate::kernels::kernel::Size;
use crate::kernels::place::{DescriptionError, Formula};
use crate::kernels::setting::Accepts;

/// Reads the numeric settings in file order; each may refer to earlier ones.
pub(super) fn settings(reader: &mut Reader<'_>, table: Named<NumberForm>) -> Result<Vec<Setting>, DescriptionError> {
    let mut settings = Vec::new();
    for (key, form) in in_order(table) {
        reader.new_name(&key)?;
        let (default, bounds) = number(reader, &form)?;
        reader.know(key.get_ref());
        let description = if form.description.is_empty() { bounds.described(&default) } else { form.description };
        settings.push(Setting { key: key.into_inner(), description, accepts: Accepts::Number { default, bounds } });
    }
    Ok(settings)
}

/// Reads the size; it may refer to settings.
pub(super) fn size(reader: &Reader<'_>, form: NumberForm) -> Result<Size, DescriptionError> {
    let (default, bounds) = number(reader, &form)?;
    Ok(Size { unit: form.description, default, bounds })
}

fn number(reader: &Reader<'_>, form: &NumberForm) -> Result<(Formula, Bounds), DescriptionError> {
    let default = reader.formula(&form.default)?;
    if let Some(values) = &form.values {
        let range = [&form.from, &form.to, &form.multiple_of].into_iter().flatten().next();
        return match (range, values.get_ref().as_slice()) {
            (Some(bound), _) => Err(reader.at(bound.span()).fail("a range conflicts with values; leave one out")),
            (None, []) => Err(reader.at(values.span()).fail("the list is empty; name at least one")),
            (None, list) => Ok((default, Bounds::OneOf(list.to_vec()))),
        };
    }
    let from = match &form.from {
        Some(from) => reader.formula(from)?,
        None => Formula::constant(1, default.place.clone()),
    };
    let only = match &form.multiple_of {
        Some(step) if form.power_of_two => {
            return Err(reader.at(step.span()).fail("multiple_of conflicts with power_of_two; leave one out"));
        }
        Some(step) => Only::MultiplesOf(reader.formula(step)?),
        None if form.power_of_two => Only::PowersOfTwo,
        None => Only::All,
    };
    let to = form.to.as_ref().map(|to| reader.formula(to)).transpose()?;
    Ok((default, Bounds::Range(Box::new(Range { from, to, only }))))
}
