//! Reference `coulomb-potential` for `coulomb`: the electric potential of all atoms on a plane of
//! points. A charge q at the distance r adds q / r (Stone et al. 2007, Accelerating molecular
//! modeling applications with graphics processors). The reference generates the atoms.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;
use rayon::prelude::*;

/// Points per row.
const WIDTH: usize = 4096;

/// Distance between points, as in the kernel's file. Points and atoms lie on multiples of it and of
/// 1/64, so their differences are exact in f32.
const SPACING: f64 = 0.25;

/// Ranges of the atoms' coordinates in 64ths: along x, as the points, along y, and for the squared
/// distance to the plane, which is from 1 to this many 64ths: at least 1/8 away. Assumption: the
/// same area as the default's points.
const PLACES: (i32, i32, i32) = (65_535, 16_383, 1024);

/// Tolerance against a double-precision reference: per atom, since a sum of about 1 rounds to
/// 2^-24; and relative to the result, in which the root of a near atom, accurate to 2^-22 (PTX ISA
/// 9.7.3, `rsqrt`), may dominate.
const TOLERANCE: (f32, f32) = (1e-7, 1e-5);

/// Capacity for atoms in constant memory, in the kernel's source.
const ROOM: usize = 4000;

/// Generated parts: x, y, squared distance along z, and charge.
pub(super) const PARTS: &[&str] = &["atoms"];

/// Returns the host side for `atoms` atoms into the buffer `potential`, which has `size` rows.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (rows, count) = (inputs.value("size")? as usize, inputs.value("atoms")? as usize);
    let mut random = Random::new(inputs.seed);
    let mut place = |low, high| random.integer(low, high) as f32 / 64.0;
    let places: Vec<[f32; 3]> = (0..count).map(|_| [place(0, PLACES.0), place(0, PLACES.1), place(1, PLACES.2)]).collect();
    let atoms: Vec<[f32; 4]> = places.into_iter().map(|[x, y, z]| [x, y, z, random.float()]).collect();
    let mut words: Vec<u32> = atoms.iter().flatten().map(|value| value.to_bits()).collect();
    words.resize(4 * ROOM, 0);
    let host = Host::new(move |filled| {
        let allowed = move |expected: f32| TOLERANCE.0 * count as f32 + TOLERANCE.1 * expected.abs();
        let agrees = move |found: f32, expected: f32| (found - expected).abs() <= allowed(expected);
        let point = move |index: usize| potential((index % WIDTH) as f64 * SPACING, (index / WIDTH) as f64 * SPACING, &atoms) as f32;
        Ok(Expected::floats(filled.buffer("potential")?, agrees, move || (0..WIDTH * rows).into_par_iter().map(&point).collect()))
    });
    Ok(host.with("atoms", words))
}

/// Returns the potential at a point of the plane.
fn potential(x: f64, y: f64, atoms: &[[f32; 4]]) -> f64 {
    let of_atom = |&atom: &[f32; 4]| {
        let [at_x, at_y, aside, charge] = atom.map(f64::from);
        charge / ((x - at_x).powi(2) + (y - at_y).powi(2) + aside).sqrt()
    };
    atoms.iter().map(of_atom).sum()
}

#[cfg(test)]
mod tests {
    /// One atom at distance 5, of which 4 along z, and one at distance 13 on the other side.
    #[test]
    fn potentials_add_up() {
        let atoms = [[3.0, 7.0, 16.0, 10.0], [-12.0, 12.0, 0.0, -13.0]];
        assert_eq!(super::potential(0.0, 7.0, &atoms), 2.0 - 1.0);
    }
}
