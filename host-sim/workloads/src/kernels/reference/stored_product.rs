//! References `scaled-product` for `gemm` and `added-product` for `mm2`: C = alpha A B + beta C and
//! C = A B + C, row by row. They are Polybench's GEMM and a product of its 2MM (Grauer-Gray et al.
//! 2012).

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Indices of the arguments alpha and beta of `gemm`, from 0.
const SCALES: [usize; 2] = [5, 6];

/// Returns the host side from the buffers `a` and `b` into `c`, which has `columns` columns; A has
/// `inner`.
pub(super) fn scaled(inputs: &Inputs) -> Result<Host, String> {
    let inner = inputs.value("inner")? as usize;
    Ok(Host::new(move |filled| {
        let (a, b, c) = (filled.floats("a")?, filled.floats("b")?, filled.floats("c")?);
        let [alpha, beta] = [filled.float(SCALES[0])?, filled.float(SCALES[1])?];
        Ok(Expected::floats(filled.buffer("c")?, Expected::equal, move || {
            let scaled: Vec<f32> = a.iter().map(|a| alpha * a).collect();
            added_up(&scaled, &b, c.iter().map(|c| c * beta).collect(), inner)
        }))
    }))
}

/// Returns the host side as in [`scaled`], without scales.
pub(super) fn added(inputs: &Inputs) -> Result<Host, String> {
    let inner = inputs.value("inner")? as usize;
    Ok(Host::new(move |filled| {
        let (a, b, c) = (filled.floats("a")?, filled.floats("b")?, filled.floats("c")?);
        Ok(Expected::floats(filled.buffer("c")?, Expected::equal, move || added_up(&a, &b, c.clone(), inner)))
    }))
}

/// Computes A B + C with one fused multiply-add per term in ascending order. This is the kernels'
/// order, so results are equal bit for bit. A has `inner` columns.
fn added_up(a: &[f32], b: &[f32], mut c: Vec<f32>, inner: usize) -> Vec<f32> {
    let columns = b.len() / inner;
    c.par_chunks_mut(columns).zip(a.par_chunks(inner)).for_each(|(sums, row)| {
        for (&factor, b) in row.iter().zip(b.chunks(columns)) {
            for (sum, &value) in sums.iter_mut().zip(b) {
                *sum = factor.mul_add(value, *sum);
            }
        }
    });
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product (1 2; 3 4) (5 6 0; 7 8 1), computed by hand, plus a tenth of zero, and plus ten.
    #[test]
    fn the_reference_multiplies_and_adds() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 0.0, 7.0, 8.0, 1.0]);
        assert_eq!(added_up(&a, &b, vec![0.0; 6], 2), [19.0, 22.0, 2.0, 43.0, 50.0, 4.0]);
        assert_eq!(added_up(&a, &b, vec![10.0; 6], 2), [29.0, 32.0, 12.0, 53.0, 60.0, 14.0]);
    }
}
