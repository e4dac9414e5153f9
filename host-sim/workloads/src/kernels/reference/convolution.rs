//! Reference `convolution` for `conv`: a picture convolved with 3 x 3 weights, as in Polybench's
//! 2DCONV (Grauer-Gray et al. 2012), with own weights.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Weights, as in the kernel's source: row by row, with the point itself in the middle.
const WEIGHTS: [[f32; 3]; 3] = [[0.25, -0.375, 0.5], [-0.625, 1.5, 0.75], [-0.125, 0.875, 0.3125]];

/// Returns the host side from the buffer `a` into `b`, both with `size` rows and columns. Border
/// points are not written.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let side = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let (a, untouched) = (filled.floats("a")?, filled.floats("b")?);
        Ok(Expected::floats(filled.buffer("b")?, Expected::equal, move || convolved(&a, &untouched, side)))
    }))
}

/// Computes the convolution with one fused multiply-add per weight in ascending order, the first
/// product rounded. This is the kernel's order, so results are equal bit for bit.
fn convolved(a: &[f32], untouched: &[f32], columns: usize) -> Vec<f32> {
    let mut b = untouched.to_vec();
    let rows = a.len() / columns;
    b.par_chunks_mut(columns).enumerate().filter(|(row, _)| (1..rows - 1).contains(row)).for_each(|(row, points)| {
        for column in 1..columns - 1 {
            let around = WEIGHTS.iter().zip(row - 1..).flat_map(|(weights, row)| weights.iter().zip(&a[row * columns + column - 1..]));
            // A product added to minus zero is that product.
            points[column] = around.fold(-0.0, |sum, (&weight, &value)| weight.mul_add(value, sum));
        }
    });
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point of 1 at row 2 and column 1 shows the weights rotated around it, at the inner points.
    #[test]
    fn a_point_shows_the_weights() {
        let mut a = vec![0.0; 5 * 4];
        a[2 * 4 + 1] = 1.0;
        let b = convolved(&a, &[9.0; 20], 4);
        assert_eq!(b[4..8], [9.0, 0.875, -0.125, 9.0]);
        assert_eq!(b[8..12], [9.0, 1.5, -0.625, 9.0]);
        assert_eq!(b[12..16], [9.0, -0.375, 0.25, 9.0]);
        assert!(b[..4].iter().chain(&b[16..]).all(|&value| value == 9.0));
    }
}
