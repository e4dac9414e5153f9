//! Reference `elimination-step` for `gaussian`: a step of Gaussian elimination with known
//! multipliers, as in Fan2 of Rodinia's gaussian (Che et al. 2009). Assumption: multipliers are
//! random, since the work of a step does not depend on them.

use super::{Host, floats};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Returns the host side for the buffers `matrix` and `right`, in place, after `step` steps.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (size, step) = (inputs.value("size")? as usize, inputs.value("step")? as usize);
    Ok(Host::new(move |filled| {
        let (matrix, right, multipliers) = (filled.floats("matrix")?, filled.floats("right")?, filled.floats("multipliers")?);
        let buffers = filled.buffers(["matrix", "right"])?;
        Ok(floats(buffers, Expected::equal, move || {
            let (mut matrix, mut right) = (matrix.clone(), right.clone());
            eliminate(&mut matrix, &mut right, &multipliers, size, step);
            [matrix.as_slice(), &right].concat()
        }))
    }))
}

/// Subtracts multiples of the pivot row from each row below it, from the pivot's column on.
fn eliminate(matrix: &mut [f32], right: &mut [f32], multipliers: &[f32], size: usize, step: usize) {
    for row in step + 1..size {
        let (above, own) = matrix.split_at_mut(row * size);
        let factor = multipliers[row * size + step];
        let pivot = &above[step * size..(step + 1) * size];
        for (element, of_pivot) in own[..size].iter_mut().zip(pivot).skip(step) {
            *element = (-factor).mul_add(*of_pivot, *element);
        }
        right[row] = (-factor).mul_add(right[step], right[row]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For 2x + y = 5 and 4x + 5y = 13, twice the first from the second leaves 3y = 3.
    #[test]
    fn an_unknown_goes() {
        let (mut matrix, mut right) = ([2.0, 1.0, 4.0, 5.0], [5.0, 13.0]);
        eliminate(&mut matrix, &mut right, &[0.0, 0.0, 2.0, 0.0], 2, 0);
        assert_eq!((matrix, right), ([2.0, 1.0, 0.0, 3.0], [5.0, 3.0]));
    }

    /// There is no row below the last one.
    #[test]
    fn the_last_step_does_nothing() {
        let (mut matrix, mut right) = ([2.0, 1.0, 4.0, 5.0], [5.0, 13.0]);
        eliminate(&mut matrix, &mut right, &[1.0; 4], 2, 1);
        assert_eq!((matrix, right), ([2.0, 1.0, 4.0, 5.0], [5.0, 13.0]));
    }
}
