//! Reference `matrix-vector` for `ax`: y = A x, the first of two products of Polybench's ATAX
//! (Grauer-Gray et al. 2012), A^T (A x).

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Returns the host side for the buffers `a`, with `columns` columns, and `x`, added to the
/// contents of `tmp`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let columns = inputs.value("columns")? as usize;
    Ok(Host::new(move |filled| {
        let (a, x, before) = (filled.floats("a")?, filled.floats("x")?, filled.floats("tmp")?);
        Ok(Expected::floats(filled.buffer("tmp")?, Expected::equal, move || sums(&a, &x, &before, columns)))
    }))
}

/// Computes the products with one fused multiply-add per term in ascending order. This is the
/// kernel's order, so results are equal bit for bit.
fn sums(a: &[f32], x: &[f32], before: &[f32], columns: usize) -> Vec<f32> {
    let row = |(row, &before): (&[f32], &f32)| row.iter().zip(x).fold(before, |sum, (&a, &x)| a.mul_add(x, sum));
    a.par_chunks(columns).zip(before).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the reference with exact arithmetic on small integers.
    #[test]
    fn the_reference_multiplies() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(sums(&a, &[1.0, 10.0, 100.0], &[0.0, 0.5], 3), [321.0, 654.5]);
        assert_eq!(sums(&a, &[1.0, -1.0], &[0.0; 3], 2), [-1.0; 3]);
    }
}
