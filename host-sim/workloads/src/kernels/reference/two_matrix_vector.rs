//! Reference `two-matrix-vector` for `gesummv`: y = alpha A x + beta B x, as in Polybench's GESUMMV
//! (Grauer-Gray et al. 2012).

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Indices of the kernel's arguments alpha and beta, from 0.
const FACTORS: [usize; 2] = [7, 8];

/// Returns the host side for the buffers `a` and `b`, with `columns` columns, and `x`, into `y`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let columns = inputs.value("columns")? as usize;
    Ok(Host::new(move |filled| {
        let [alpha, beta] = [filled.float(FACTORS[0])?, filled.float(FACTORS[1])?];
        let (a, b, x) = (filled.floats("a")?, filled.floats("b")?, filled.floats("x")?);
        let rows = move || {
            let pairs = a.par_chunks(columns).zip(b.par_chunks(columns));
            pairs.map(|(a, b)| alpha.mul_add(dot(a, &x), beta * dot(b, &x))).collect()
        };
        Ok(Expected::floats(filled.buffer("y")?, Expected::equal, rows))
    }))
}

/// Computes the dot product with one fused multiply-add per term in ascending order. This is the
/// kernel's order, so results are equal bit for bit.
fn dot(row: &[f32], x: &[f32]) -> f32 {
    row.iter().zip(x).fold(0.0, |sum, (&element, &x)| element.mul_add(x, sum))
}

#[cfg(test)]
mod tests {
    #[test]
    fn terms_add_up() {
        assert_eq!(super::dot(&[1.0, 2.0, 3.0], &[1.0, 10.0, 100.0]), 321.0);
    }
}
