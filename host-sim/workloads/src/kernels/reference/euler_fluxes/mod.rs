//! Reference `euler-fluxes` for `cd`: the fluxes between cells for the Euler equations of a gas, as
//! in `cfd` of Rodinia (Che et al. 2009). It uses Rusanov's flux (Toro, Riemann Solvers and
//! Numerical Methods for Fluid Dynamics, section 10.5.1) in double precision. It computes the flux
//! of each state instead of the kernel's sums.

mod mesh;
#[cfg(test)]
mod tests;

use super::{Filled, Host};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;
use mesh::{FAR_FIELD, SIDES, WALL, neighbors};
use rayon::prelude::*;

/// Ratio of the specific heats of air.
const GAMMA: f64 = 1.4;

/// Number of variables: density, momentum in three directions, energy.
const VARIABLES: usize = 5;

/// State of the far field.
const FREE_STREAM: State = [1.0, 1.2, 0.0, 0.0, 3.22];

/// Tolerance: some hundred roundings of 2^-24 each, of terms below 16.
const TOLERANCE: f32 = 100.0 * 16.0 / (1 << 24) as f32;

/// Generated parts.
pub(super) const PARTS: &[&str] = &["states", "neighbors"];

/// Variables per unit of volume.
type State = [f64; VARIABLES];

/// Returns the host side for `size` cells into `fluxes`, variable by variable.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let cells = inputs.value("size")? as usize;
    let mut random = Random::new(inputs.seed);
    let mesh = neighbors(cells, &mut random);
    // Assumption: densities about that of the far field, and an energy that leaves a pressure above
    // zero at any of these momenta.
    let ranges = [(500, 1500), (-500, 500), (-500, 500), (-500, 500), (2000, 3000)];
    let states: Vec<f32> =
        ranges.iter().flat_map(|&(low, high)| (0..cells).map(|_| random.integer(low, high) as f32 / 1000.0).collect::<Vec<_>>()).collect();
    let bits = states.iter().map(|value| value.to_bits()).collect();
    let words = mesh.iter().map(|&cell| cell as u32).collect();
    let host = Host::new(move |filled| {
        let normals = Filled::floats(filled, "normals")?;
        let agrees = |found: f32, expected: f32| (found - expected).abs() <= TOLERANCE;
        Ok(Expected::floats(filled.buffer("fluxes")?, agrees, move || fluxes(&states, &mesh, &normals)))
    });
    Ok(host.with("states", bits).with("neighbors", words))
}

/// Returns the fluxes of all cells, variable by variable.
fn fluxes(states: &[f32], mesh: &[i32], normals: &[f32]) -> Vec<f32> {
    let cells = states.len() / VARIABLES;
    let state = |cell: usize| -> State { std::array::from_fn(|variable| states[variable * cells + cell].into()) };
    let of_cell = |cell: usize| -> State {
        let mut sum = [0.0; VARIABLES];
        for side in 0..SIDES {
            let normal = std::array::from_fn(|axis| normals[(3 * side + axis) * cells + cell].into());
            let flux = match mesh[side * cells + cell] {
                WALL => pressed(pressure(&state(cell)), normal),
                FAR_FIELD => rusanov(&state(cell), &FREE_STREAM, normal),
                behind => rusanov(&state(cell), &state(behind as usize), normal),
            };
            sum.iter_mut().zip(flux).for_each(|(sum, flux)| *sum += flux);
        }
        sum
    };
    let sums: Vec<State> = (0..cells).into_par_iter().map(of_cell).collect();
    (0..VARIABLES).flat_map(|variable| sums.iter().map(move |sum| sum[variable] as f32)).collect()
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn velocity(&[density, x, y, z, _]: &State) -> [f64; 3] {
    [x, y, z].map(|momentum| momentum / density)
}

/// Returns the pressure of an ideal gas.
fn pressure(state: &State) -> f64 {
    let speed = velocity(state);
    (GAMMA - 1.0) * (state[4] - 0.5 * state[0] * dot(speed, speed))
}

/// Returns the contribution of a pressure through a side.
fn pressed(pressure: f64, normal: [f64; 3]) -> State {
    [0.0, pressure * normal[0], pressure * normal[1], pressure * normal[2], 0.0]
}

/// Returns the flux of a state through a side: F(U) n.
fn flux(state: &State, normal: [f64; 3]) -> State {
    let (out, pressure) = (dot(velocity(state), normal), pressure(state));
    let push = pressed(pressure, normal);
    let mut flux: State = std::array::from_fn(|variable| state[variable] * out + push[variable]);
    flux[4] += pressure * out;
    flux
}

/// Returns the maximum wave speed through a side, times its size.
fn fastest(state: &State, normal: [f64; 3]) -> f64 {
    dot(velocity(state), normal).abs() + (GAMMA * pressure(state) / state[0]).sqrt() * dot(normal, normal).sqrt()
}

/// Returns the mean of both fluxes, minus half of the difference of the states times the larger
/// speed.
fn rusanov(mine: &State, other: &State, normal: [f64; 3]) -> State {
    let (out, into) = (flux(mine, normal), flux(other, normal));
    let speed = fastest(mine, normal).max(fastest(other, normal));
    std::array::from_fn(|variable| 0.5 * (out[variable] + into[variable] - speed * (other[variable] - mine[variable])))
}
