//! Reference `angle-histograms` for `tpacf`: histograms of the angles between points on the sky
//! (Landy and Szalay 1993), as in Parboil (Stratton et al. 2012). The reference generates the
//! points and the bounds of the bins.

use super::{Host, whole};
use crate::kernels::given::Inputs;
use crate::random::Random;
use rayon::prelude::*;

/// Number of bins of a histogram.
const BINS: usize = 20;

/// Capacity for bounds in the kernel's source.
const ROOM: usize = 32;

/// Bins per decade of the angle, from one minute of arc on, as in Parboil's input.
const PER_DECADE: f64 = 5.0;

/// Generated parts: x, y and z of each set, and the cosines at the ends of the bins.
pub(super) const PARTS: &[&str] = &["points", "bounds"];

/// A point on the sky.
type Point = [f32; 3];

/// Returns the host side for `size` random sets and the observed one, with `points` points each,
/// into `histograms`. Assumption: the observed points are random too.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (random_sets, count) = (inputs.value("size")? as usize, inputs.value("points")? as usize);
    let mut random = Random::new(inputs.seed);
    let sets: Vec<Vec<Point>> = (0..=random_sets).map(|_| (0..count).map(|_| direction(&mut random)).collect()).collect();
    let axis = |set: &[Point], axis: usize| set.iter().map(|point| point[axis].to_bits()).collect::<Vec<u32>>();
    let points = sets.iter().flat_map(|set| [0, 1, 2].map(|at| axis(set, at))).flatten().collect();
    let bounds = bounds();
    let words = (0..ROOM).map(|at| bounds.get(at).copied().unwrap_or(-2.0).to_bits()).collect();
    let host = Host::new(move |filled| {
        Ok(whole(filled.buffers(["histograms"])?, move || {
            let own = sets.par_iter().map(|set| histogram(set, set, true, &bounds));
            let across = sets[1..].par_iter().map(|set| histogram(&sets[0], set, false, &bounds));
            own.chain(across).flatten_iter().collect()
        }))
    });
    Ok(host.with("points", points).with("bounds", words))
}

/// Draws a random point, whose cosine is at most 1 by the rounding of its coordinates.
fn direction(random: &mut Random) -> Point {
    loop {
        let point = [(); 3].map(|()| f64::from(random.float()));
        let square: f64 = point.iter().map(|value| value * value).sum();
        if square > 0.01 && square <= 1.0 {
            return point.map(|value| (value / square.sqrt()) as f32);
        }
    }
}

/// Returns the cosines at the ends of the first bins, in descending order.
fn bounds() -> Vec<f32> {
    let angle = |bin: usize| (10f64.powf(bin as f64 / PER_DECADE) / 60.0).to_radians();
    (1..BINS).map(|bin| angle(bin).cos() as f32).collect()
}

/// Returns the histogram of the pairs of points, in the kernel's order of operations. Within one
/// set, each pair counts once.
fn histogram(mine: &[Point], others: &[Point], once: bool, bounds: &[f32]) -> Vec<i32> {
    let mut counts = vec![0; BINS];
    for (at, own) in mine.iter().enumerate() {
        for other in &others[if once { at + 1 } else { 0 }..] {
            let cosine = own[2].mul_add(other[2], own[1].mul_add(other[1], own[0] * other[0]));
            counts[bounds.partition_point(|&bound| cosine < bound)] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points at right angles and opposite, within a set and across sets.
    #[test]
    fn pairs_are_counted_by_angle() {
        let points = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]];
        let bounds = [0.5, -0.5];
        assert_eq!(histogram(&points, &points, true, &bounds)[..3], [0, 2, 1]);
        assert_eq!(histogram(&points, &points[..1], false, &bounds)[..3], [1, 1, 1]);
    }

    /// The last bin but one ends at 10^(19/5) minutes, which is 105 degrees.
    #[test]
    fn bins_fall() {
        let bounds = bounds();
        assert!(bounds.len() == BINS - 1 && bounds.windows(2).all(|pair| pair[0] > pair[1]));
        assert!((bounds[18] - 105.16f32.to_radians().cos()).abs() < 1e-3);
    }
}
