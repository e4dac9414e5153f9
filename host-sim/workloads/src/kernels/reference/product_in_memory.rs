//! Reference `product-in-memory` for `3m`: E = A B with A stored by columns, one of the three
//! products of Polybench's 3MM (Grauer-Gray et al. 2012).

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Returns the host side from the buffers `a` and `b` into `e`, which has `size` rows and columns.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let side = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let (a, b) = (filled.floats("a")?, filled.floats("b")?);
        Ok(Expected::floats(filled.buffer("e")?, Expected::equal, move || product(&a, &b, side)))
    }))
}

/// Computes the product with one fused multiply-add per term, column of A times row of B in
/// ascending order. This is the kernel's order, so results are equal bit for bit.
fn product(a: &[f32], b: &[f32], side: usize) -> Vec<f32> {
    let mut e = vec![0.0f32; side * side];
    e.par_chunks_mut(side).enumerate().for_each(|(row, sums)| {
        for (a, b) in a.chunks(side).zip(b.chunks(side)) {
            for (sum, &value) in sums.iter_mut().zip(b) {
                *sum = a[row].mul_add(value, *sum);
            }
        }
    });
    e
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product (1 2; 3 4) (5 6; 7 8), computed by hand, and an outer product.
    #[test]
    fn the_reference_multiplies() {
        assert_eq!(product(&[1.0, 3.0, 2.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 2), [19.0, 22.0, 43.0, 50.0]);
        assert_eq!(product(&[1.0, 3.0], &[5.0, 6.0], 2), [5.0, 6.0, 15.0, 18.0]);
    }
}
