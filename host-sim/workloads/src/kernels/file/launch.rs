//! Launch section of a kernel file: entry, geometry, buffers, arguments.

use super::form::{BufferForm, EntryForm, ExtentForm, FillForm, LimitsForm, Named, Whole, Word, in_order};
use super::reader::{Reader, identifier};
use super::spanned::Spanned;
use crate::input::suggest;
use crate::kernels::Setting;
use crate::kernels::argument::{Argument, unknown_buffer};
use crate::kernels::buffer::{Border, NamedBuffer, zeros};
use crate::kernels::element::{Element, NAMES};
use crate::kernels::fill::{Fill, Giver};
use crate::kernels::given::Takes;
use crate::kernels::kernel::Entry;
use crate::kernels::limit::LimitFormulas;
use crate::kernels::place::{DescriptionError, Formula, Place};
use crate::kernels::texture::{NamedTexture, unknown_texture};
use std::ops::Range;

/// Reads one to three extents.
pub(super) fn extents(reader: &Reader<'_>, form: &Spanned<ExtentForm>) -> Result<[Formula; 3], DescriptionError> {
    let list = match form.get_ref() {
        ExtentForm::One(x) => std::slice::from_ref(x),
        ExtentForm::Several(list) => list,
    };
    let axis = |axis: usize| match list.get(axis) {
        Some(whole) => reader.formula_at(whole, form.span()),
        None => Ok(Formula::constant(1, reader.at(form.span()))),
    };
    match list.len() {
        1..=3 => Ok([axis(0)?, axis(1)?, axis(2)?]),
        _ => Err(reader.at(form.span()).fail("expected one to three numbers, each at least 1")),
    }
}

/// Reads the limits of the launch.
pub(super) fn limits(reader: &Reader<'_>, form: &LimitsForm) -> Result<LimitFormulas, DescriptionError> {
    let formula = |limit: &Option<Spanned<Whole>>| limit.as_ref().map(|limit| reader.formula(limit)).transpose();
    Ok(LimitFormulas {
        warp_instructions: formula(&form.warp_instructions)?,
        tb_instructions: formula(&form.tb_instructions)?,
        tb_record_bytes: formula(&form.tb_record_bytes)?,
        stack_bytes: formula(&form.stack_bytes)?,
    })
}

/// Reads the entry's name, or the setting that selects it.
pub(super) fn entry(reader: &Reader<'_>, form: Spanned<EntryForm>, settings: &[Setting]) -> Result<Entry, DescriptionError> {
    let place = reader.at(form.span());
    let by_setting = match form.into_inner() {
        EntryForm::Name(name) => return Ok(Entry::Named(name)),
        EntryForm::BySetting(by_setting) => by_setting,
    };
    let one = |message| place.fail(format!("{message}; expected one setting, as in entry = {{ steps = {{ 512 = \"small\" }} }}"));
    let mut tables = by_setting.into_iter();
    let (Some((key, table)), None) = (tables.next(), tables.next()) else {
        return Err(one("an entry selected by no setting or by several"));
    };
    if !settings.iter().any(|setting| setting.is_number() && setting.key == key) {
        return Err(one(&format!("no numeric setting `{key}`")));
    }
    let value = |(value, entry): (String, String)| match value.parse::<i64>() {
        Ok(value) => Ok((value, entry)),
        Err(_) => Err(place.fail(format!("`{value}`: expected a value of {key}, a whole number"))),
    };
    let entries = table.into_iter().map(value).collect::<Result<_, _>>()?;
    Ok(Entry::BySetting { key, entries, place })
}

/// Reads the named buffers in file order. `parts` are the parts that the reference can fill.
pub(super) fn buffers(
    reader: &Reader<'_>,
    table: Named<Spanned<BufferForm>>,
    takes: Takes,
    parts: &[&str],
) -> Result<Vec<NamedBuffer>, DescriptionError> {
    let one = |(name, form): (Spanned<String>, Spanned<BufferForm>)| {
        let place = reader.at(name.span());
        identifier(name.get_ref()).map_err(|message| place.fail(message))?;
        buffer(reader, name.into_inner(), form.get_ref(), place, (takes, parts))
    };
    in_order(table).into_iter().map(one).collect()
}

fn buffer(
    reader: &Reader<'_>,
    name: String,
    form: &BufferForm,
    place: Place,
    (takes, parts): (Takes, &[&str]),
) -> Result<NamedBuffer, DescriptionError> {
    let element = element(reader, form.element.get_ref(), form.element.span())?;
    let formula = |whole: &Option<Spanned<Whole>>| whole.as_ref().map(|whole| reader.formula(whole)).transpose();
    let count = formula(&form.count)?;
    let filled = |fill: &Option<Spanned<FillForm>>| match fill {
        Some(fill) => fills(reader, element, fill.get_ref(), fill.span(), (takes, parts)),
        None => Ok(zeros()),
    };
    let (fills, border) = (filled(&form.fill)?, filled(&form.around)?);
    let border = Border { before: formula(&form.before)?, after: formula(&form.after)?, fills: border };
    if let (true, Some(around)) = (border.is_none(), &form.around) {
        return Err(reader.at(around.span()).fail("no guard elements around the buffer: set before = N or after = N elements"));
    }
    Ok(NamedBuffer { name, element, count, fills, border, place })
}

/// Reads an element type.
pub(super) fn element(reader: &Reader<'_>, kind: &str, span: Range<usize>) -> Result<Element, DescriptionError> {
    Element::parse(kind).ok_or_else(|| reader.at(span).fail(format!("unknown type `{kind}`; known: {NAMES}")))
}

/// Reads the filling rules in list order.
pub(super) fn fills(
    reader: &Reader<'_>,
    element: Element,
    fill: &FillForm,
    span: Range<usize>,
    (takes, parts): (Takes, &[&str]),
) -> Result<Vec<Fill>, DescriptionError> {
    let words = match fill {
        FillForm::One(word) => std::slice::from_ref(word),
        FillForm::Record(words) => words,
    };
    let fail = |message: String| reader.at(span.clone()).fail(message);
    if words.is_empty() {
        return Err(fail("the list is empty; name at least one".into()));
    }
    let mut fills = Vec::with_capacity(words.len());
    for word in words {
        let filled = Fill::parse(element, &word.text()).map_err(fail)?;
        filled.expressions().try_for_each(|expression| reader.check(expression, span.clone()))?;
        if let Fill::Given(giver, part) = &filled {
            given(*giver, part, takes, parts).map_err(fail)?;
        }
        fills.push(filled);
    }
    Ok(fills)
}

/// Checks that the source of a filling rule has the part.
fn given(giver: Giver, part: &str, takes: Takes, parts: &[&str]) -> Result<(), String> {
    let known = match (giver, takes) {
        (Giver::Graph, Takes::Graph(_)) | (Giver::Picture, Takes::Picture(_)) => takes.parts(),
        (Giver::Graph, _) => return Err("no graph: add a table [graph]".into()),
        (Giver::Picture, _) => return Err("no picture: add a table [picture]".into()),
        (Giver::Reference, _) if parts.is_empty() => return Err("no reference that fills buffers".into()),
        (Giver::Reference, _) => parts,
    };
    if known.contains(&part) { Ok(()) } else { Err(suggest::unknown("part", part, known)) }
}

/// Reads the arguments with their locations.
pub(super) fn args(
    reader: &Reader<'_>,
    words: &[Spanned<Word>],
    buffers: &[NamedBuffer],
    textures: &[NamedTexture],
) -> Result<Vec<(Place, Argument)>, DescriptionError> {
    let one = |(number, word): (usize, &Spanned<Word>)| {
        let argument = argument(reader, word.get_ref(), word.span(), (buffers, textures))?;
        Ok((reader.line(&word.span(), &format!("argument {number}")), argument))
    };
    (1..).zip(words).map(one).collect()
}

/// Reads a word that denotes a value.
pub(super) fn argument(
    reader: &Reader<'_>,
    word: &Word,
    span: Range<usize>,
    (buffers, textures): (&[NamedBuffer], &[NamedTexture]),
) -> Result<Argument, DescriptionError> {
    let known: Vec<&str> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    let fail = |message| reader.at(span.clone()).fail(message);
    let argument = Argument::parse(&word.text()).map_err(fail)?;
    argument.expressions().into_iter().try_for_each(|expression| reader.check(expression, span.clone()))?;
    match &argument {
        Argument::Address { name, .. } if !known.contains(&name.as_str()) => Err(fail(unknown_buffer(name, &known))),
        Argument::Texture(name) if textures.iter().all(|texture| texture.name != *name) => {
            let known: Vec<&str> = textures.iter().map(|texture| texture.name.as_str()).collect();
            Err(fail(unknown_texture(name, &known)))
        }
        Argument::Buffer(_, _, Fill::Given(..)) => Err(fail("a graph, picture or reference fills buffers of the table [buffers]".into())),
        _ => Ok(argument),
    }
}
