//! References `diffusion-coefficients` for `sr1` and `diffusion-step` for `sr2`: a step of
//! speckle-reducing anisotropic diffusion (Yu and Acton 2002), as in the two kernels of Rodinia's
//! srad (Che et al. 2009). They use the kernels' order of operations, so results are equal bit for
//! bit.

use super::{Host, floats};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Index of the kernels' last arguments, from 0: the squared coefficient of variation of the
/// speckle, and the rate.
const ARGUMENT: usize = 8;

/// Returns the host side from the buffer `picture` into differences to the neighbors, and
/// coefficients.
pub(super) fn coefficients(inputs: &Inputs) -> Result<Host, String> {
    let side = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let (picture, speckle) = (filled.floats("picture")?, filled.float(ARGUMENT)?);
        let buffers = filled.buffers(["north", "south", "west", "east", "coefficient"])?;
        Ok(floats(buffers, Expected::equal, move || {
            let each: Vec<[f32; 5]> = (0..picture.len()).map(|place| coefficient(&picture, side, place, speckle)).collect();
            (0..5).flat_map(|kind| each.iter().map(move |all| all[kind])).collect()
        }))
    }))
}

/// Returns the differences north, south, west and east, and the coefficient. The pixel itself
/// replaces a missing neighbor.
fn coefficient(picture: &[f32], side: usize, place: usize, speckle: f32) -> [f32; 5] {
    let (x, y, own) = (place % side, place / side, picture[place]);
    let to = |x: usize, y: usize| picture[y.min(side - 1) * side + x.min(side - 1)] - own;
    let [north, south, west, east] = [to(x, y.saturating_sub(1)), to(x, y + 1), to(x.saturating_sub(1), y), to(x + 1, y)];
    let squares = east.mul_add(east, west.mul_add(west, south.mul_add(south, north * north)));
    let gradient = squares / (own * own);
    let laplacian = (north + south + west + east) / own;
    let above = 0.5f64.mul_add(gradient.into(), -0.0625 * f64::from(laplacian * laplacian)) as f32;
    let below = 0.25f64.mul_add(laplacian.into(), 1.0) as f32;
    let variation = above / (below * below);
    let excess = (variation - speckle) / (speckle * (1.0 + speckle));
    let value = (1.0 / (1.0 + f64::from(excess))) as f32;
    [north, south, west, east, value.clamp(0.0, 1.0)]
}

/// Returns the host side from the buffer `picture` into itself.
pub(super) fn step(inputs: &Inputs) -> Result<Host, String> {
    let side = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let (picture, rate) = (filled.floats("picture")?, filled.float(ARGUMENT)?);
        let flows = [filled.floats("north")?, filled.floats("south")?, filled.floats("west")?, filled.floats("east")?];
        let coefficients = filled.floats("coefficient")?;
        Ok(floats(filled.buffers(["picture"])?, Expected::equal, move || {
            let value = |(place, &old): (usize, &f32)| {
                (0.25 * f64::from(rate)).mul_add(flow(&flows, &coefficients, side, place), f64::from(old)) as f32
            };
            picture.iter().enumerate().map(value).collect()
        }))
    }))
}

/// Returns the flow into a pixel. The coefficients below and right of it apply to the borders
/// there.
fn flow([north, south, west, east]: &[Vec<f32>; 4], coefficients: &[f32], side: usize, place: usize) -> f64 {
    let (x, y, own) = (place % side, place / side, coefficients[place]);
    let (below, right) = (coefficients[(y + 1).min(side - 1) * side + x], coefficients[y * side + (x + 1).min(side - 1)]);
    let sum = below.mul_add(south[place], own * north[place]);
    right.mul_add(east[place], own.mul_add(west[place], sum)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform regions diffuse fully. A step of the picture's own height is an edge, where
    /// diffusion nearly stops.
    #[test]
    fn edges_stop_diffusion() {
        assert_eq!(coefficient(&[2.0; 9], 3, 4, 0.05), [0.0, 0.0, 0.0, 0.0, 1.0]);
        let edge = [1.0, 1.0, 9.0, 1.0, 1.0, 9.0, 1.0, 1.0, 9.0];
        let [north, south, west, east, value] = coefficient(&edge, 3, 4, 0.05);
        assert_eq!([north, south, west, east], [0.0, 0.0, 0.0, 8.0]);
        assert!(value < 0.05, "{value}");
    }

    /// A single pixel without neighbors: its own coefficient applies to all four borders.
    #[test]
    fn what_flows_is_weighted() {
        assert_eq!(flow(&[vec![1.0], vec![2.0], vec![3.0], vec![4.0]], &[0.5], 1, 0), 5.0);
    }
}
