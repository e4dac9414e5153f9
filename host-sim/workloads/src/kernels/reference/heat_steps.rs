//! Reference `heat-steps` for `hs`: the temperature of a chip's cells after several time steps, by
//! the explicit scheme for the heat equation, as in Rodinia's hotspot. The cell itself replaces a
//! missing neighbor.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Tolerance per step against a double-precision reference, for temperatures below 512. A step
/// rounds about ten values, each below 1,024 and therefore to 2^-15 or finer. Only the last two are
/// not scaled down by the rates.
const TOLERANCE: f32 = 1.2e-4;

/// Indices of the kernel's arguments, from 0: the rate, the exchange along x and y and with the
/// surroundings, and their temperature.
const ARGUMENTS: [usize; 5] = [6, 7, 8, 9, 10];

/// Returns the host side from the buffers `before` and `power`, `size` rows and columns each, into
/// `after`, for `steps` steps.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (side, steps) = (inputs.value("size")? as usize, inputs.value("steps")? as usize);
    Ok(Host::new(move |filled| {
        let (before, power) = (filled.floats("before")?, filled.floats("power")?);
        let mut rates = [0.0; ARGUMENTS.len()];
        for (rate, index) in rates.iter_mut().zip(ARGUMENTS) {
            *rate = f64::from(filled.float(index)?);
        }
        let tolerance = TOLERANCE * steps as f32;
        let agrees = move |found: f32, expected: f32| (found - expected).abs() <= tolerance;
        Ok(Expected::floats(filled.buffer("after")?, agrees, move || {
            let mut heat: Vec<f64> = before.iter().copied().map(f64::from).collect();
            (0..steps).for_each(|_| heat = step(&heat, &power, side, rates));
            heat.into_iter().map(|value| value as f32).collect()
        }))
    }))
}

/// Computes one time step.
fn step(heat: &[f64], power: &[f32], side: usize, [rate, along_x, along_y, up, ambient]: [f64; 5]) -> Vec<f64> {
    let at = |row: usize, column: usize| heat[row * side + column];
    let cell = |place: usize| {
        let (row, column, own) = (place / side, place % side, heat[place]);
        let last = side - 1;
        let vertical = at(row.saturating_sub(1), column) + at((row + 1).min(last), column) - 2.0 * own;
        let horizontal = at(row, column.saturating_sub(1)) + at(row, (column + 1).min(last)) - 2.0 * own;
        own + rate * (f64::from(power[place]) + vertical * along_y + horizontal * along_x + (ambient - own) * up)
    };
    (0..heat.len()).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single hot cell gives each neighbor its rate times the exchange; at an edge, one neighbor
    /// is missing.
    #[test]
    fn heat_goes_to_the_neighbors() {
        let rates = [0.5, 0.25, 0.125, 0.0, 0.0];
        let mut heat = [0.0; 9];
        heat[4] = 16.0;
        assert_eq!(step(&heat, &[0.0; 9], 3, rates), [0.0, 1.0, 0.0, 2.0, 10.0, 2.0, 0.0, 1.0, 0.0]);
        let mut heat = [0.0; 4];
        heat[0] = 16.0;
        assert_eq!(step(&heat, &[0.0; 4], 2, rates), [13.0, 2.0, 1.0, 0.0]);
    }

    /// A single cell approaches the temperature of the surroundings, plus the dissipation of its
    /// circuits.
    #[test]
    fn power_heats_and_the_surroundings_cool() {
        assert_eq!(step(&[100.0], &[2.0], 1, [0.5, 1.0, 1.0, 0.25, 80.0]), [100.0 + 0.5 * (2.0 - 5.0)]);
    }
}
