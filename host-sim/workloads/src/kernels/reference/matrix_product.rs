//! Reference `matrix-product` for `mm`: C = A * B.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Returns the host side from the buffers `a` and `b` into `c`, which has `size` rows and columns.
/// A has `inner` columns, but at most `size`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let side = inputs.value("size")? as usize;
    let inner = side.min(inputs.value("inner")? as usize);
    Ok(Host::new(move |filled| {
        let (a, b) = (filled.floats("a")?, filled.floats("b")?);
        Ok(Expected::floats(filled.buffer("c")?, Expected::equal, move || product(&a, &b, [side, inner])))
    }))
}

/// Computes C = A * B with one fused multiply-add per term in ascending order. This is the kernel's
/// order, so results are equal bit for bit. C has `side` columns, A has `inner`.
fn product(a: &[f32], b: &[f32], [side, inner]: [usize; 2]) -> Vec<f32> {
    let mut c = vec![0.0f32; a.len() / inner * side];
    c.par_chunks_mut(side).zip(a.par_chunks(inner)).for_each(|(c_row, a_row)| {
        for (&factor, b_row) in a_row.iter().zip(b.chunks(side)) {
            for (sum, &value) in c_row.iter_mut().zip(b_row) {
                *sum = factor.mul_add(value, *sum);
            }
        }
    });
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the reference with exact arithmetic on small integers.
    #[test]
    fn the_reference_multiplies() {
        let a: Vec<f32> = (0..9u8).map(f32::from).collect();
        let b: Vec<f32> = (0..9u8).map(|i| f32::from(i) - 4.0).collect();
        let expected = [3.0, 6.0, 9.0, -6.0, 6.0, 18.0, -15.0, 6.0, 27.0];
        assert_eq!(product(&a, &b, [3, 3]), expected);
        // Three rows and two columns, times two rows and three columns.
        let expected = [-1.0, 0.0, 1.0, -11.0, -6.0, -1.0, -21.0, -12.0, -3.0];
        assert_eq!(product(&a[..6], &b[..6], [3, 2]), expected);
    }
}
