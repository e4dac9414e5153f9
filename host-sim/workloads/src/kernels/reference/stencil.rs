//! Reference `stencil` for `st`: one step of a 7-point stencil on a three-dimensional grid,
//! Jacobi's iteration for the heat equation, as in Parboil's stencil.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Tolerance against a double-precision reference, for values in [-1, 1) and weights up to 4: five
/// additions below 8 and the weighted sum below 16 are rounded to 2^-22 or finer.
const TOLERANCE: f32 = 2e-6;

/// Indices of the kernel's arguments for the weight of the point itself and of its neighbors, from
/// 0.
const ARGUMENTS: [usize; 2] = [2, 3];

/// Returns the host side from the buffer `before` into `after`: `planes` planes of `rows` rows of
/// `size` points. Points on a face are not written.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let [width, rows] = [inputs.value("size")? as usize, inputs.value("rows")? as usize];
    Ok(Host::new(move |filled| {
        let (before, after) = (filled.floats("before")?, filled.buffer("after")?);
        let untouched = filled.floats("after")?;
        let weights = [filled.float(ARGUMENTS[0])?, filled.float(ARGUMENTS[1])?].map(f64::from);
        // Points that are not written have equal bits.
        let agrees = |found: f32, expected: f32| Expected::equal(found, expected) || (found - expected).abs() <= TOLERANCE;
        Ok(Expected::floats(after, agrees, move || step(&before, &untouched, [width, rows], weights)))
    }))
}

/// Returns the new values of all points; on the faces those of `untouched`.
fn step(before: &[f32], untouched: &[f32], [width, rows]: [usize; 2], [own, neighbors]: [f64; 2]) -> Vec<f32> {
    let plane = width * rows;
    let planes = before.len() / plane;
    let inner = |place: usize, of: usize| (1..of - 1).contains(&place);
    let value = |place: usize| {
        let (x, y, z) = (place % width, place / width % rows, place / plane);
        if !(inner(x, width) && inner(y, rows) && inner(z, planes)) {
            return untouched[place];
        }
        let around = [place - 1, place + 1, place - width, place + width, place - plane, place + plane];
        let sum: f64 = around.iter().map(|&at| f64::from(before[at])).sum();
        (sum * neighbors - own * f64::from(before[place])) as f32
    };
    (0..before.len()).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of 1 in the middle leaves its weight there, and that of a neighbor in the one
    /// adjacent inner point.
    #[test]
    fn a_point_reaches_its_neighbors() {
        let [width, rows, planes] = [4, 3, 3];
        let mut before = vec![0.0; width * rows * planes];
        let middle = (rows + 1) * width + 1;
        before[middle] = 1.0;
        let untouched = vec![9.0; before.len()];
        let after = step(&before, &untouched, [width, rows], [4.0, 0.5]);
        let written: Vec<(usize, f32)> = after.iter().copied().enumerate().filter(|&(_, value)| value != 9.0).collect();
        assert_eq!(written, [(middle, -4.0), (middle + 1, 0.5)]);
    }
}
