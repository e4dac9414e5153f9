//! Reference `cutoff-potential` for `cp`: the electric potential of atoms on a lattice of points. A
//! charge q at the distance r, below the cutoff c, adds q / r * (1 - r^2 / c^2)^2: the switched
//! potential of Parboil's cutcp (Rodrigues et al. 2008, GPU acceleration of cutoff pair
//! potentials).

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Points along the side of a bin.
const SIDE: usize = 8;

/// Atoms per bin.
const ATOMS: usize = 8;

/// Points of a TB: a quarter of the points of a bin, 8 x 4 x 4.
const BLOCK: [usize; 3] = [8, 4, 4];

/// Tolerance against a double-precision reference, absolute and relative to the result. Positions
/// and differences are exact, and a term is accurate to about 2^-21 (PTX ISA 9.7.3, `rsqrt`). The
/// 216 additions round to 2^-24 of sums that are small or of one large term.
const TOLERANCE: (f32, f32) = (5e-5, 1e-5);

/// Index of the kernel's argument for the position of the first point, from 0.
const OFFSET: usize = 3;

/// Returns the host side from the buffer `bins`, four floats per atom, into `potential`, with
/// `columns`, `rows` and `size` bins of points.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let [columns, rows, layers, reach] = ["columns", "rows", "size", "reach"].map(|name| inputs.value(name).map(|value| value as usize));
    let lattice = Lattice { bins: [columns?, rows?, layers?], reach: reach? };
    Ok(Host::new(move |filled| {
        let (bins, offset) = (filled.floats("bins")?, f64::from(filled.float(OFFSET)?));
        let agrees = |found: f32, expected: f32| (found - expected).abs() <= TOLERANCE.0 + TOLERANCE.1 * expected.abs();
        Ok(Expected::floats(filled.buffer("potential")?, agrees, move || lattice.potential(&bins, offset)))
    }))
}

/// A lattice of bins along x, y and z, with `reach` more on each side.
#[derive(Clone, Copy)]
struct Lattice {
    bins: [usize; 3],
    reach: usize,
}

impl Lattice {
    /// Returns the potential at all points in the kernel's order: TB by TB, x first.
    fn potential(self, bins: &[f32], offset: f64) -> Vec<f32> {
        let [columns, rows, layers] = self.bins;
        let blocks = [columns, rows * SIDE / BLOCK[1], layers * SIDE / BLOCK[2]];
        let split = |index: usize, sides: [usize; 3]| [index % sides[0], index / sides[0] % sides[1], index / sides[0] / sides[1]];
        let points = BLOCK.iter().product::<usize>();
        let count = blocks.iter().product::<usize>() * points;
        let point = |index: usize| {
            let (block, inner) = (split(index / points, blocks), split(index % points, BLOCK));
            self.at([0, 1, 2].map(|axis| block[axis] * BLOCK[axis] + inner[axis]), bins, offset) as f32
        };
        (0..count).into_par_iter().map(point).collect()
    }

    /// Returns the potential at one point.
    fn at(self, point: [usize; 3], bins: &[f32], offset: f64) -> f64 {
        let cutoff = (SIDE * self.reach) as f64;
        let around = 0..2 * self.reach + 1;
        let mut sum = 0.0;
        for (dz, dy, dx) in around.clone().flat_map(|z| around.clone().flat_map(move |y| (0..2 * self.reach + 1).map(move |x| (z, y, x)))) {
            let shift = [dx, dy, dz];
            let bin = [0, 1, 2].map(|axis| point[axis] / SIDE + shift[axis]);
            let place = (bin[2] * (self.bins[1] + 2 * self.reach) + bin[1]) * (self.bins[0] + 2 * self.reach) + bin[0];
            for atom in bins[4 * ATOMS * place..][..4 * ATOMS].chunks_exact(4) {
                let distance = |axis: usize| {
                    let corner = (SIDE * shift[axis]) as f64 - cutoff;
                    f64::from(atom[axis]) + corner - (point[axis] % SIDE) as f64 - offset
                };
                let square: f64 = [0, 1, 2].map(distance).iter().map(|d| d * d).sum();
                if square < cutoff * cutoff {
                    sum += f64::from(atom[3]) / square.sqrt() * (1.0 - square / (cutoff * cutoff)).powi(2);
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bin of points, 27 bins with atoms, and one charge: its potential reaches up to the
    /// cutoff of 8, across the border of the bin.
    #[test]
    fn a_charge_is_felt_up_to_the_cutoff() {
        let lattice = Lattice { bins: [1; 3], reach: 1 };
        let mut bins = vec![0.0; 27 * 4 * ATOMS];
        // The last atom of the bin before the middle one along x: 2 before the first point, in its
        // row.
        let atom = (9 + 3) * 4 * ATOMS + 4 * (ATOMS - 1);
        bins[atom..atom + 4].copy_from_slice(&[6.5, 0.5, 0.5, 3.0]);
        let at = |x| lattice.at([x, 0, 0], &bins, 0.5);
        assert_eq!((at(0), at(5)), (3.0 / 2.0 * (1.0 - 4.0 / 64.0f64).powi(2), 3.0 / 7.0 * (1.0 - 49.0 / 64.0f64).powi(2)));
        assert_eq!(at(6), 0.0, "8 away");
        // In the kernel's order, the second quarter starts at row 4.
        let all = lattice.potential(&bins, 0.5);
        assert_eq!((all.len(), all[128]), (512, lattice.at([0, 4, 0], &bins, 0.5) as f32));
    }
}
