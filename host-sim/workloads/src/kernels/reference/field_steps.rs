//! References `electric-field-step` for `fdtd1` and `magnetic-field-step` for `fdtd2`: parts of a
//! time step of Maxwell's equations on a plane by finite differences. They are the first and the
//! last kernel of Polybench's FDTD-2D (Grauer-Gray et al. 2012).

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Half of the Courant number, and the number, as in the kernels' sources.
const HALF: f32 = 0.5;
const STEP: f32 = 0.7;

/// Returns the host side from the buffers `ey`, `hz` and `pulse` into `ey`, which has `size` rows
/// and columns.
pub(super) fn electric(inputs: &Inputs) -> Result<Host, String> {
    let (side, step) = (inputs.value("size")? as usize, inputs.value("step")? as usize);
    Ok(Host::new(move |filled| {
        let (ey, hz, pulse) = (filled.floats("ey")?, filled.floats("hz")?, filled.floats("pulse")?);
        let pulse = *pulse.get(step).ok_or("the pulse has no such step")?;
        Ok(Expected::floats(filled.buffer("ey")?, Expected::equal, move || electric_field(&ey, &hz, pulse, side)))
    }))
}

/// Returns the host side from the buffers `hz`, `ex` and `ey` into `hz`, which has `size` rows and
/// columns.
pub(super) fn magnetic(inputs: &Inputs) -> Result<Host, String> {
    let side = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let (hz, ex, ey) = (filled.floats("hz")?, filled.floats("ex")?, filled.floats("ey")?);
        Ok(Expected::floats(filled.buffer("hz")?, Expected::equal, move || magnetic_field(&hz, &ex, &ey, side)))
    }))
}

/// Returns the field along y; row 0 is the pulse.
fn electric_field(ey: &[f32], hz: &[f32], pulse: f32, columns: usize) -> Vec<f32> {
    let moved = ey[columns..].iter().zip(&hz[columns..]).zip(hz).map(|((&ey, &here), &before)| (-HALF).mul_add(here - before, ey));
    std::iter::repeat_n(pulse, columns).chain(moved).collect()
}

/// Returns the field out of the plane. Rows of `ex` have an additional column, and `ey` has an
/// additional row.
fn magnetic_field(hz: &[f32], ex: &[f32], ey: &[f32], columns: usize) -> Vec<f32> {
    let rows = hz.chunks(columns).zip(ex.chunks(columns + 1)).zip(ey.chunks(columns).zip(ey.chunks(columns).skip(1)));
    type Rows<'r> = (&'r [f32], &'r [f32]);
    let row = |((hz, ex), (here, next)): (Rows<'_>, Rows<'_>)| -> Vec<f32> {
        (0..columns).map(|x| (-STEP).mul_add(ex[x + 1] - ex[x] + next[x] - here[x], hz[x])).collect()
    };
    rows.flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns and three rows, computed by hand.
    #[test]
    fn the_electric_field_follows_the_magnetic_one() {
        let hz = [1.0, 2.0, 5.0, 8.0, 4.0, 4.0];
        assert_eq!(electric_field(&[0.0, 0.0, 10.0, 20.0, 30.0, 40.0], &hz, 7.0, 2), [7.0, 7.0, 8.0, 17.0, 30.5, 42.0]);
    }

    /// One field at a time: the magnetic field follows its change across the plane. Multiples of 10
    /// make 0.7 times them an integer except for rounding.
    #[test]
    fn the_magnetic_field_follows_the_electric_one() {
        let near = |found: &[f32], expected: [f32; 4]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
        let along_x = [0.0, 10.0, 30.0, 0.0, 0.0, -10.0];
        assert!(near(&magnetic_field(&[1.0; 4], &along_x, &[0.0; 6], 2), [-6.0, -13.0, 1.0, 8.0]));
        let along_y = [0.0, 10.0, 30.0, 10.0, 30.0, 20.0];
        assert!(near(&magnetic_field(&[0.0; 4], &[0.0; 6], &along_y, 2), [-21.0, 0.0, 0.0, -7.0]));
    }
}
