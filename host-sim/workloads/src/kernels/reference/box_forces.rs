//! Reference `box-forces` for `lavamd`: forces and potentials between particles of neighboring
//! boxes. The source is Rodinia's lavaMD (Szafaryn et al. 2013, Experiences with achieving
//! portability across heterogeneous architectures). A particle of charge q attracts by q exp(-a d).
//! Here d is half of the squared distance, if `v` of each place is half of its square. Assumption:
//! `v` is random, as in the original.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use mias_ptx::{Arg, Buffer, DeviceMemory};
use rayon::prelude::*;

/// Tolerance per pair of particles, relative to the largest term of a sum: exponents are computed
/// in single precision, accurate to 2^-21.
const TOLERANCE: f32 = 5e-7;

/// Index of the kernel's argument for the steepness of the exponential, from 0.
const STEEPNESS: usize = 5;

/// Coordinates v, x, y, z.
type Four = [f64; 4];

/// Returns the host side from the buffers `places` and `charges` into `forces`; a cube with `size`
/// boxes per side.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (side, particles) = (inputs.value("size")? as usize, inputs.value("particles")? as usize);
    Ok(Host::new(move |filled| {
        let Some(&Arg::F64(steepness)) = filled.args.get(STEEPNESS) else {
            return Err(format!("the reference needs an f64 as argument {}", STEEPNESS + 1));
        };
        let forces = filled.buffer("forces")?;
        let places = fours(&doubles(filled.memory, filled.buffer("places")?));
        let charges = doubles(filled.memory, filled.buffer("charges")?);
        // Places and charges are below 1: no potential of a pair exceeds e^(a/2), and no force
        // exceeds twice that.
        let allowed = TOLERANCE * 27.0 * particles as f32 * 2.0 * (1.5 * steepness).exp() as f32;
        let cube = Cube { side, particles, steepness };
        Ok(Expected {
            results: Box::new(move |memory| doubles(memory, forces).into_iter().map(|value| value as f32).collect()),
            reference: Box::new(move || cube.forces(&places, &charges)),
            agrees: Box::new(move |found, expected| (found - expected).abs() <= allowed),
            quality: None,
        })
    }))
}

/// Returns the contents of a buffer as doubles.
fn doubles(memory: &DeviceMemory, buffer: Buffer) -> Vec<f64> {
    let words: Vec<u32> = memory.words(buffer).collect();
    words.chunks_exact(2).map(|pair| f64::from_bits(u64::from(pair[0]) | (u64::from(pair[1]) << 32))).collect()
}

fn fours(values: &[f64]) -> Vec<Four> {
    values.chunks_exact(4).map(|four| [four[0], four[1], four[2], four[3]]).collect()
}

/// A cube of boxes with equal numbers of particles.
#[derive(Clone, Copy)]
struct Cube {
    side: usize,
    particles: usize,
    steepness: f64,
}

impl Cube {
    /// Returns the forces on all particles, box by box.
    fn forces(self, places: &[Four], charges: &[f64]) -> Vec<f32> {
        let one = |index: usize| self.on(index, places, charges).map(|value| value as f32);
        (0..places.len()).into_par_iter().flat_map_iter(one).collect()
    }

    /// Returns the force on one particle.
    fn on(self, index: usize, places: &[Four], charges: &[f64]) -> Four {
        let to = places[index];
        let mut sum = [0.0; 4];
        for other in self.around(index / self.particles) {
            for at in other * self.particles..(other + 1) * self.particles {
                let from = places[at];
                let dot: f64 = (1..4).map(|axis| to[axis] * from[axis]).sum();
                let pull = charges[at] * (-self.steepness * (to[0] + from[0] - dot)).exp();
                sum[0] += pull;
                (1..4).for_each(|axis| sum[axis] += 2.0 * pull * (to[axis] - from[axis]));
            }
        }
        sum
    }

    /// Returns a box and its adjacent boxes.
    fn around(self, home: usize) -> Vec<usize> {
        let split = |at: usize| [at % self.side, at / self.side % self.side, at / self.side / self.side];
        let touches = |other: usize| split(home).iter().zip(split(other)).all(|(a, b)| a.abs_diff(b) <= 1);
        (0..self.side.pow(3)).filter(|&other| touches(other)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A corner's box touches 8 boxes with itself, an edge's 12, a side's 18, and an inner one all
    /// 27.
    #[test]
    fn boxes_touch() {
        let cube = Cube { side: 3, particles: 1, steepness: 0.5 };
        assert_eq!([0, 1, 4, 13].map(|home| cube.around(home).len()), [8, 12, 18, 27]);
    }

    /// Two particles at unit distance, with the halves of their squares: the potential is e^(-1/4),
    /// and the forces are opposite.
    #[test]
    fn forces_are_opposite() {
        let cube = Cube { side: 1, particles: 2, steepness: 0.5 };
        let places = [[0.0; 4], [0.5, 0.0, 1.0, 0.0]];
        let [first, second] = [0, 1].map(|index| cube.on(index, &places, &[1.0, 1.0]));
        let pull = (-0.25f64).exp();
        assert_eq!(first[2], -2.0 * pull);
        assert_eq!(second[2], 2.0 * pull);
        assert_eq!([first[0], first[1], first[3]], [1.0 + pull, 0.0, 0.0]);
    }
}
