//! Reference `fluid-step` for `lbm`: a step of a fluid by the lattice-Boltzmann method, as in
//! Parboil (Stratton et al. 2012). It has 19 velocities (Qian, d'Humieres and Lallemand 1992) and a
//! single relaxation (Bhatnagar, Gross and Krook 1954). The reference generates the solid cells.
//! Assumption: of every 50 planes, the second half has plates, in three of four rows, so the work
//! of a launch changes over time.

use super::{Host, floats};
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Cells per row.
const COLUMNS: usize = 120;

/// Number of consecutive planes without plates, and then with plates.
const LAYER: usize = 25;

/// Period of rows in planes with plates; the first row of each period is free.
const PLATES: usize = 4;

/// Index of the kernel's argument for the relaxation rate, from 0.
const RATE: usize = 3;

/// Tolerance against a double-precision reference: about fifty roundings to 2^-24 of a density of
/// about 1, weighted by at most a third, and an approximate division.
const TOLERANCE: f32 = 2e-6;

/// Velocities in cells per step; each odd index is followed by its opposite.
const VELOCITIES: [[i32; 3]; 19] = [
    [0, 0, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, -1],
    [0, 1, -1],
    [0, -1, 1],
];

/// Generated parts: a word per cell, 1 for a solid cell.
pub(super) const PARTS: &[&str] = &["solid"];

/// Density moving in each direction.
type Moving = [f64; 19];

/// Returns the host side from the buffer `before` into `after`, with `size` planes of `rows` rows.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (rows, planes) = (inputs.value("rows")? as usize, inputs.value("size")? as usize);
    let solid = |row: usize| row / rows / LAYER % 2 == 1 && !(row % rows).is_multiple_of(PLATES);
    let words = (0..COLUMNS * rows * planes).map(|cell| u32::from(solid(cell / COLUMNS))).collect();
    let host = Host::new(move |filled| {
        let (before, rate) = (filled.floats("before")?, f64::from(filled.float(RATE)?));
        let solid = filled.words("solid")?;
        let agrees = |found: f32, expected: f32| (found - expected).abs() <= TOLERANCE;
        Ok(floats(filled.buffers(["after"])?, agrees, move || step(&before, &solid, rate, [COLUMNS, rows, planes])))
    });
    Ok(host.with("solid", words))
}

/// Computes the step of all cells, direction by direction, with the inflow from the cells behind.
fn step(before: &[f32], solid: &[u32], rate: f64, sides: [usize; 3]) -> Vec<f32> {
    let cells: usize = sides.iter().product();
    let leaving = |cell: usize| {
        let moving: Moving = std::array::from_fn(|direction| before[direction * cells + cell].into());
        if solid[cell] == 0 { relaxed(&moving, rate) } else { turned(&moving) }
    };
    let all: Vec<Moving> = (0..cells).into_par_iter().map(leaving).collect();
    let behind = |cell: usize, velocity: [i32; 3]| {
        let at = [cell % sides[0], cell / sides[0] % sides[1], cell / sides[0] / sides[1]];
        let [x, y, z] = [0, 1, 2].map(|axis| (at[axis] as i32 - velocity[axis]).rem_euclid(sides[axis] as i32) as usize);
        (z * sides[1] + y) * sides[0] + x
    };
    let one = |index: usize| all[behind(index % cells, VELOCITIES[index / cells])][index / cells] as f32;
    (0..VELOCITIES.len() * cells).into_par_iter().map(one).collect()
}

/// Reverses all directions.
fn turned(moving: &Moving) -> Moving {
    let opposite = |direction: usize| if direction == 0 { 0 } else { ((direction - 1) ^ 1) + 1 };
    std::array::from_fn(|direction| moving[opposite(direction)])
}

/// Relaxes towards equilibrium, by `rate` of the difference.
fn relaxed(moving: &Moving, rate: f64) -> Moving {
    let dot = |a: &[f64; 3], velocity: &[i32; 3]| a.iter().zip(velocity).map(|(a, &b)| a * f64::from(b)).sum::<f64>();
    let density: f64 = moving.iter().sum();
    let along =
        |axis: usize| moving.iter().zip(VELOCITIES).map(|(moving, velocity)| moving * f64::from(velocity[axis])).sum::<f64>() / density;
    let speed = [along(0), along(1), along(2)];
    let square: f64 = speed.iter().map(|value| value * value).sum();
    std::array::from_fn(|direction| {
        let velocity = &VELOCITIES[direction];
        let weight = [1.0 / 3.0, 1.0 / 18.0, 1.0 / 36.0][velocity.iter().filter(|&&value| value != 0).count()];
        let forward = dot(&speed, velocity);
        let still = weight * density * (1.0 + 3.0 * forward + 4.5 * forward * forward - 1.5 * square);
        moving[direction] + rate * (still - moving[direction])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Density and momentum are conserved, and a fluid at rest in equilibrium does not change.
    #[test]
    fn nothing_is_lost() {
        let moving: Moving = std::array::from_fn(|direction| 0.04 + 0.001 * direction as f64);
        let after = relaxed(&moving, 1.25);
        let momentum = |moving: &Moving, axis: usize| (0..19).map(|at| moving[at] * f64::from(VELOCITIES[at][axis])).sum::<f64>();
        assert!((moving.iter().sum::<f64>() - after.iter().sum::<f64>()).abs() < 1e-12);
        assert!((0..3).all(|axis| (momentum(&moving, axis) - momentum(&after, axis)).abs() < 1e-12));
        let rest: Moving = std::array::from_fn(|at| [12.0, 2.0, 1.0][VELOCITIES[at].iter().filter(|&&value| value != 0).count()] / 36.0);
        assert!(relaxed(&rest, 1.25).iter().zip(rest).all(|(after, before)| (after - before).abs() < 1e-12));
    }

    #[test]
    fn what_is_turned_comes_back() {
        let moving: Moving = std::array::from_fn(|direction| direction as f64);
        assert_eq!(turned(&turned(&moving)), moving);
        let opposite = |at: usize| VELOCITIES[at].map(|value| -value);
        assert!(turned(&moving).iter().zip(0..).all(|(&from, at)| VELOCITIES[from as usize] == opposite(at)));
    }

    /// A density that moves along x and z from the last cell of its row appears at the first, a
    /// plane further.
    #[test]
    fn edges_meet() {
        let sides = [3, 2, 2];
        let mut before = vec![0.0; 19 * 12];
        before[11 * 12 + 5] = 1.0;
        let after = step(&before, &[1; 12], 1.0, sides);
        // A solid cell reverses it, to x - 1 and z - 1 of a cell with x = 2, y = 1, z = 0.
        assert_eq!(after.iter().position(|&value| value == 1.0), Some(12 * 12 + (2 + 3 + 2 - 1 - 1) + 5));
    }
}
