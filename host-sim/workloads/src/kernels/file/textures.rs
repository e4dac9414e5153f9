//! Table `[textures]` of a kernel file.

use super::form::{Named, Whole, in_order};
use super::reader::{Reader, identifier};
use super::schema;
use super::spanned::Spanned;
use crate::kernels::argument::unknown_buffer;
use crate::kernels::buffer::NamedBuffer;
use crate::kernels::element::Element;
use crate::kernels::place::{DescriptionError, Formula};
use crate::kernels::texture::NamedTexture;
use mias_ptx::texture::{AddressMode, Filter, Read, Sampler, Shape};
use schemars::JsonSchema;
use serde::Deserialize;

/// A buffer's memory as texels.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TextureForm {
    /// Buffer whose memory holds the texels, from its first element.
    buffer: Spanned<String>,
    /// Type of a channel; default: that of the buffer's elements.
    #[serde(rename = "type")]
    #[schemars(transform = schema::channel)]
    channel: Option<Spanned<String>>,
    /// Number of channels of a texel: 1 (the default), 2 or 4.
    #[schemars(transform = schema::channels)]
    channels: Option<u8>,
    /// Width in texels.
    #[schemars(transform = schema::at_least_one)]
    width: Spanned<Whole>,
    /// Height in texels; absent in a texture of one dimension.
    #[schemars(transform = schema::at_least_one)]
    height: Option<Spanned<Whole>>,
    /// Depth in texels, for a texture of three dimensions.
    #[schemars(transform = schema::at_least_one)]
    depth: Option<Spanned<Whole>>,
    /// Number of layers of one or two dimensions, in place of `depth`.
    #[schemars(transform = schema::at_least_one)]
    layers: Option<Spanned<Whole>>,
    /// Distance of rows in bytes; default: the size of a row.
    #[schemars(transform = schema::at_least_one)]
    pitch: Option<Spanned<Whole>>,
    /// Filter of positions between texels; default: `point`.
    #[serde(default)]
    filter: FilterForm,
    /// Address mode of positions outside; default: `clamp`. A list is for x, y and z.
    address: Option<Spanned<AddressForm>>,
    /// Whether coordinates range from 0 to 1.
    #[serde(default)]
    normalized: bool,
    /// Read mode of integers; default: `element`.
    #[serde(default)]
    read: ReadForm,
}

/// Filter of positions between texels.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FilterForm {
    /// The nearest texel.
    #[default]
    Point,
    /// Mean of the neighbors, weighted by distance.
    Linear,
}

/// Read mode of integers.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReadForm {
    /// Unchanged integers.
    #[default]
    Element,
    /// Conversion of 8- and 16-bit integers to floats.
    Normalized,
}

/// Address mode of positions outside the texture.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ModeForm {
    /// The nearest texel of the border.
    Clamp,
    /// Zeros.
    Border,
    /// Repetition of the texture; with `normalized`.
    Wrap,
    /// Mirrored repetition of the texture; with `normalized`.
    Mirror,
}

/// Address modes in up to three dimensions.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected clamp, border, wrap or mirror, or a list of up to three of them")]
enum AddressForm {
    /// One mode for all dimensions.
    One(ModeForm),
    /// Modes of x, y and z.
    Several(#[schemars(length(min = 1, max = 3))] Vec<ModeForm>),
}

impl ModeForm {
    fn mode(self) -> AddressMode {
        match self {
            ModeForm::Clamp => AddressMode::Clamp,
            ModeForm::Border => AddressMode::Border,
            ModeForm::Wrap => AddressMode::Wrap,
            ModeForm::Mirror => AddressMode::Mirror,
        }
    }
}

/// Returns whether the element type is allowed for a texel channel.
pub(super) fn is_channel(element: Element) -> bool {
    element.bytes() <= 4
}

/// Reads the textures in file order.
pub(super) fn textures(
    reader: &Reader<'_>,
    table: Named<Spanned<TextureForm>>,
    buffers: &[NamedBuffer],
) -> Result<Vec<NamedTexture>, DescriptionError> {
    in_order(table).into_iter().map(|(name, form)| texture(reader, &name, form.get_ref(), buffers)).collect()
}

fn texture(
    reader: &Reader<'_>,
    name: &Spanned<String>,
    form: &TextureForm,
    buffers: &[NamedBuffer],
) -> Result<NamedTexture, DescriptionError> {
    let place = reader.at(name.span());
    identifier(name.get_ref()).map_err(|message| place.fail(message))?;
    let known: Vec<&str> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    if !known.contains(&form.buffer.get_ref().as_str()) {
        return Err(reader.at(form.buffer.span()).fail(unknown_buffer(form.buffer.get_ref(), &known)));
    }
    let channel = |kind: &Spanned<String>| {
        let expected = "expected the type of a channel: u8, i8, u16, i16, u32, i32, f16 or f32";
        let element = Element::parse(kind.get_ref()).filter(|&element| is_channel(element));
        element.ok_or_else(|| reader.at(kind.span()).fail(format!("`{}`: {expected}", kind.get_ref())))
    };
    let one = || Formula::constant(1, place.clone());
    let axis = |whole: &Option<Spanned<Whole>>| whole.as_ref().map_or_else(|| Ok(one()), |whole| reader.formula(whole));
    let (shape, last) = match (&form.height, &form.depth, &form.layers) {
        (None, None, None) => (Shape::One, &None),
        (Some(_), None, None) => (Shape::Two, &None),
        (Some(_), depth @ Some(_), None) => (Shape::Three, depth),
        (None, None, layers @ Some(_)) => (Shape::OneLayered, layers),
        (Some(_), None, layers @ Some(_)) => (Shape::TwoLayered, layers),
        (None, Some(depth), _) => return Err(reader.at(depth.span()).fail("a texture with a depth also needs a height")),
        (_, Some(_), Some(layers)) => return Err(reader.at(layers.span()).fail("depth conflicts with layers; leave one out")),
    };
    let modes = match form.address.as_ref().map(|address| (address.get_ref(), address.span())) {
        None => [AddressMode::Clamp; 3],
        Some((AddressForm::One(mode), _)) => [mode.mode(); 3],
        Some((AddressForm::Several(modes), span)) => match modes[..] {
            [x] => [x.mode(), AddressMode::Clamp, AddressMode::Clamp],
            [x, y] => [x.mode(), y.mode(), AddressMode::Clamp],
            [x, y, z] => [x.mode(), y.mode(), z.mode()],
            _ => return Err(reader.at(span).fail("expected one to three address modes, for x, y and z")),
        },
    };
    let filter = match form.filter {
        FilterForm::Point => Filter::Point,
        FilterForm::Linear => Filter::Linear,
    };
    let read = match form.read {
        ReadForm::Element => Read::Element,
        ReadForm::Normalized => Read::Normalized,
    };
    Ok(NamedTexture {
        name: name.get_ref().clone(),
        buffer: form.buffer.get_ref().clone(),
        channel: form.channel.as_ref().map(channel).transpose()?,
        channels: form.channels.unwrap_or(1),
        shape,
        size: [reader.formula(&form.width)?, axis(&form.height)?, axis(last)?],
        pitch: form.pitch.as_ref().map(|pitch| reader.formula(pitch)).transpose()?,
        read,
        sampler: Sampler { address: modes, filter, normalized: form.normalized },
        place,
    })
}

#[cfg(test)]
#[path = "textures_tests.rs"]
mod tests;
