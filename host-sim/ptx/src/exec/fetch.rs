//! Texture fetches by `tex` and `tld4`, lane by lane (CUDA C programming guide, section "Texture
//! Fetching").
//!
//! A sum of weighted texels is computed in f64 and rounded once; the last digits of a chip may
//! differ. Texels of zero weight are fetched but not added, so their NaN values have no effect.
//! Missing channels read as 0, the fourth as 1 (OpenCL 1.2 section 6.12.14; PTX leaves it open).

use super::access::{Memories, lanes};
use super::texture::{Fetch, SamplerFrom, TextureFault, Wrong};
use crate::LANES;
use crate::memory::DeviceMemory;
use crate::memory::device::View;
use crate::registers::Lanes;
use crate::texture::{Coordinate, Filter, Footprint, ONE, Sampler, Texture, footprint};

/// Granularity in bytes at which the texels of a fetch are recorded.
pub const WORD_BYTES: u64 = 4;

/// Finds a lane's texture, starting from that of the previous lane.
pub(super) fn look_up<'a>(
    device: &'a DeviceMemory,
    last: &mut Option<(u64, &'a Texture)>,
    lane: usize,
    handle: u64,
) -> Result<&'a Texture, TextureFault> {
    match *last {
        Some((known, texture)) if known == handle => Ok(texture),
        _ => {
            let texture = device.texture(handle).map_err(|_| TextureFault { lane, handle, wrong: Wrong::Unbound })?;
            *last = Some((handle, texture));
            Ok(texture)
        }
    }
}

pub(super) fn fetch(op: &Fetch, l: &mut Lanes<'_>, m: &mut Memories<'_>) -> Result<(), TextureFault> {
    let device = m.device;
    let handles = op.place.handle.read(l, m.params);
    let samplers = match op.sampler {
        SamplerFrom::Handle(handle) => handle.read(l, m.params),
        _ => [0; LANES],
    };
    let layers = op.place.layer.map(|layer| l.regs.word(layer));
    let coordinates = op.place.coordinates.map(|coordinate| l.regs.word(coordinate));
    let mut values = [[0; LANES]; 4];
    let (mut last, mut last_sampler) = (None, None);
    for lane in lanes(l.mask) {
        let handle = handles[lane];
        let fault = |wrong| TextureFault { lane, handle, wrong };
        let texture = look_up(device, &mut last, lane, handle)?;
        let sampler = match op.sampler {
            SamplerFrom::Texture => texture.sampler,
            SamplerFrom::Given(sampler) => sampler,
            SamplerFrom::Handle(_) => look_up(device, &mut last_sampler, lane, samplers[lane])?.sampler,
        };
        if texture.shape != op.place.shape {
            return Err(fault(Wrong::Shape(op.place.shape)));
        }
        // nvcc reads float bits as integers if the elements are integers read as normalized floats.
        if op.floats && !texture.gives_floats() {
            return Err(fault(Wrong::Integers));
        }
        if sampler.filter == Filter::Linear && op.places && !texture.gives_floats() && op.gather.is_none() {
            return Err(fault(Wrong::Filter));
        }
        // Layer numbers are unsigned (PTX ISA, "tex").
        let layer = layers.map_or(0, |layers| layers[lane].min(texture.size[2] - 1));
        let at = coordinates.map(|coordinate| coordinate[lane]);
        let mut reader = Reader { texture, view: device.view(), addresses: m.addresses };
        let found = reader.lane(op, &sampler, at, layer).map_err(fault)?;
        for (values, found) in values.iter_mut().zip(found) {
            values[lane] = found;
        }
    }
    for (to, values) in op.to.iter().zip(&values) {
        if let Some(to) = to {
            l.regs.set_word(*to, l.mask, values);
        }
    }
    Ok(())
}

/// Reader of the texels of one texture, which records their addresses.
struct Reader<'a, 'n> {
    texture: &'a Texture,
    view: View<'a>,
    addresses: &'n mut Vec<u64>,
}

impl Reader<'_, '_> {
    /// Fetches the four results of a lane.
    fn lane(&mut self, op: &Fetch, sampler: &Sampler, at: [u32; 3], layer: u32) -> Result<[u32; 4], Wrong> {
        let shape = op.place.shape;
        let gathers = op.gather.is_some();
        let filter = if gathers { Filter::Linear } else { sampler.filter };
        let axis = |axis: usize| {
            if axis >= shape.axes() {
                let fixed = if axis == 2 { layer } else { 0 };
                return Footprint::of(Some(fixed));
            }
            let place = if op.places { Coordinate::Place(f32::from_bits(at[axis])) } else { Coordinate::Texel(at[axis] as i32) };
            footprint(place, axis, self.texture.size[axis], sampler, filter)
        };
        let axes = [axis(0), axis(1), axis(2)];
        if let Some(channel) = op.gather {
            // Counterclockwise from the lower left, with y pointing down.
            let mut found = [0; 4];
            for (found, [x, y]) in found.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
                let texel = self.texel([axes[0].texels[x], axes[1].texels[y], axes[2].texels[0]])?;
                *found = texel[usize::from(channel)];
            }
            return Ok(found);
        }
        if filter == Filter::Point || !op.places {
            return self.texel(axes.map(|axis| axis.texels[0]));
        }
        let mut sums = [0.0; 4];
        let neighbors = |axis: usize| 0..if axis < shape.axes() { 2 } else { 1 };
        for z in neighbors(2) {
            for y in neighbors(1) {
                for x in neighbors(0) {
                    let texel = self.texel([axes[0].texels[x], axes[1].texels[y], axes[2].texels[z]])?;
                    let weights = [axes[0].weights[x], axes[1].weights[y], axes[2].weights[z]];
                    // The product has at most 24 bits and is exact.
                    let weight: f64 = weights.iter().map(|&weight| f64::from(weight) / f64::from(ONE)).product();
                    if weight != 0.0 {
                        sums.iter_mut().zip(texel).for_each(|(sum, bits)| *sum += weight * f64::from(f32::from_bits(bits)));
                    }
                }
            }
        }
        Ok(sums.map(|sum| (sum as f32).to_bits()))
    }

    /// Reads the channels of a texel, or of the border.
    fn texel(&mut self, [x, y, z]: [Option<u32>; 3]) -> Result<[u32; 4], Wrong> {
        let format = self.texture.format;
        let floats = self.texture.gives_floats();
        let mut found = [0, 0, 0, if floats { 1f32.to_bits() } else { 1 }];
        found[..usize::from(format.channels).min(4)].fill(0);
        let (Some(x), Some(y), Some(z)) = (x, y, z) else { return Ok(found) };
        let start = self.texture.texel([x, y, z]);
        let width = format.ty.bytes();
        for (at, found) in found.iter_mut().enumerate().take(format.channels.into()) {
            let address = start + at as u64 * u64::from(width);
            let bits = self.view.load(address, width.into(), 0, width.into()).map_err(|fault| Wrong::Memory(fault, address))?;
            *found = if floats { format.float(bits).to_bits() } else { format.integer(bits) };
        }
        let first = start / WORD_BYTES * WORD_BYTES;
        self.addresses.extend((first..start + u64::from(format.bytes())).step_by(WORD_BYTES as usize));
        Ok(found)
    }
}
