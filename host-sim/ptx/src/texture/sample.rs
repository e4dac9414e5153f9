//! Texels and weights of a coordinate (CUDA C programming guide, section "Texture Fetching").
//!
//! With x in texels, the point filter takes texel floor(x). The linear filter takes texels i =
//! floor(x - 0.5) and i + 1 with weights 1 - a and a. The fraction a = frac(x - 0.5) has 9 bits, 8
//! of them after the binary point, so 1 is one of its values. Here x - 0.5 is rounded to the
//! nearest 256th (assumption: the guide does not state the rounding of a); a = 1 is then a = 0 of
//! the next texel.
//!
//! All arithmetic is in f64, which represents a product of an f32 and a size of at most 32 bits
//! exactly.

use super::{AddressMode, Filter, Sampler};

/// Bits of a weight's fraction.
const WEIGHT_BITS: u32 = 8;
/// The weight 1.
pub const ONE: u32 = 1 << WEIGHT_BITS;

/// Limit of the coordinates; larger ones are equally far outside. Assumption: far beyond the
/// largest texture (2^28 texels, CUDA C programming guide, "Technical Specifications per Compute
/// Capability").
const FAR: i64 = 1 << 40;

/// The two texels of one axis; `None` for the border. The point filter uses only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Indices of the texels.
    pub texels: [Option<u32>; 2],
    /// Weights in 256ths, with a sum of 256.
    pub weights: [u32; 2],
}

impl Footprint {
    /// Returns the footprint of one texel, or of the border, with full weight.
    pub fn of(texel: Option<u32>) -> Footprint {
        Footprint { texels: [texel, None], weights: [ONE, 0] }
    }
}

/// Coordinate of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinate {
    /// Position, for `.f32` coordinates.
    Place(f32),
    /// Index of a texel, for `.s32` coordinates: neither normalized nor filtered.
    Texel(i32),
}

/// Computes the footprint of a coordinate on an axis of `size` texels.
pub fn footprint(x: Coordinate, axis: usize, size: u32, sampler: &Sampler, filter: Filter) -> Footprint {
    let mode = match sampler.address.get(axis).copied().unwrap_or_default() {
        // Without normalized coordinates, CUDA clamps in these two modes.
        AddressMode::Wrap | AddressMode::Mirror if !sampler.normalized => AddressMode::Clamp,
        mode => mode,
    };
    let place = match x {
        Coordinate::Texel(texel) => {
            // Integer coordinates are not normalized and therefore do not wrap.
            let mode = if mode == AddressMode::Border { mode } else { AddressMode::Clamp };
            return Footprint::of(inside(texel.into(), size, mode));
        }
        Coordinate::Place(place) => f64::from(place),
    };
    let in_texels = match (sampler.normalized, mode) {
        (false, _) => place,
        (true, AddressMode::Wrap) => (place - place.floor()) * f64::from(size),
        (true, AddressMode::Mirror) => {
            let fraction = place - place.floor();
            // Odd whole parts are mirrored.
            let mirrored = if place.floor().rem_euclid(2.0) == 1.0 { 1.0 - fraction } else { fraction };
            mirrored * f64::from(size)
        }
        (true, _) => place * f64::from(size),
    };
    match filter {
        // A NaN becomes 0 (assumption).
        Filter::Point => Footprint::of(inside(in_texels.floor() as i64, size, mode)),
        Filter::Linear => {
            let fixed = ((in_texels - 0.5) * f64::from(ONE)).round() as i64;
            let (first, weight) = (fixed.div_euclid(ONE.into()), fixed.rem_euclid(ONE.into()) as u32);
            Footprint { texels: [inside(first, size, mode), inside(first.saturating_add(1), size, mode)], weights: [ONE - weight, weight] }
        }
    }
}

/// Returns the texel of an index; `None` for the border.
fn inside(texel: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let (texel, size) = (texel.clamp(-FAR, FAR), i64::from(size.max(1)));
    let found = match mode {
        AddressMode::Border if !(0..size).contains(&texel) => return None,
        AddressMode::Wrap => texel.rem_euclid(size),
        // The coordinate was mirrored before. Its neighbor beyond an end is the mirror image of the
        // end, which is the end itself.
        AddressMode::Clamp | AddressMode::Border | AddressMode::Mirror => texel.clamp(0, size - 1),
    };
    u32::try_from(found).ok()
}
