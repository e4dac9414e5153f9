//! Reference `circle-scores` for `leu`: the gradient inverse coefficient of variation (Ray and
//! Acton 2004, Motion gradient vector flow), as in Rodinia's leukocyte (Boyer et al. 2009). It
//! measures how uniformly gradients point away from a pixel around a circle. The reference
//! generates the points of the circles.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Radii in pixels: 8, 10, .. 20, as in Rodinia.
const RADII: [f64; 7] = [8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0];

/// Points per circle, as in Rodinia.
const POINTS: usize = 150;

/// Border of the picture without scores, in pixels.
const MARGIN: usize = 22;

/// Tolerance against a double-precision reference: absolute, and relative to the score, since a
/// mean near zero is the difference of large terms.
const TOLERANCE: (f32, f32) = (1e-6, 1e-3);

/// Generated parts: offsets of the points from the center in elements, circle by circle; and
/// cosines and sines of their directions.
pub(super) const PARTS: &[&str] = &["circles", "cosines", "sines"];

/// Returns the host side from the buffers `along_x` and `along_y`, `size` columns of `rows` each,
/// into `best`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (columns, rows) = (inputs.value("size")? as usize, inputs.value("rows")? as usize);
    let directions: Vec<[f64; 2]> = (0..POINTS).map(|point| (TAU * point as f64 / POINTS as f64).sin_cos().into()).collect();
    let circles: Vec<i32> = RADII
        .iter()
        .flat_map(|radius| directions.iter().map(move |[sine, cosine]| (radius * cosine) as i32 * rows as i32 + (radius * sine) as i32))
        .collect();
    let words = |axis: usize| directions.iter().map(|direction| (direction[axis] as f32).to_bits()).collect();
    let (sines, cosines) = (words(0), words(1));
    let distances = circles.iter().map(|&distance| distance as u32).collect();
    let host = Host::new(move |filled| {
        let (along_x, along_y) = (filled.floats("along_x")?, filled.floats("along_y")?);
        let agrees = |found: f32, expected: f32| (found - expected).abs() <= TOLERANCE.0 + TOLERANCE.1 * expected.abs();
        let pixel = move |index: usize| {
            let inside = |at: usize, of: usize| at >= MARGIN && at + MARGIN < of;
            if !inside(index / rows, columns) || !inside(index % rows, rows) {
                return 0.0;
            }
            let outward = |circle: &[i32]| -> Vec<f64> {
                let at = |distance: i32| (index as i64 + i64::from(distance)) as usize;
                let all = circle.iter().zip(&directions);
                all.map(|(&distance, [sine, cosine])| f64::from(along_x[at(distance)]) * cosine + f64::from(along_y[at(distance)]) * sine)
                    .collect()
            };
            circles.chunks(POINTS).map(|circle| score(&outward(circle))).fold(0.0, f64::max) as f32
        };
        Ok(Expected::floats(filled.buffer("best")?, agrees, move || (0..columns * rows).into_par_iter().map(&pixel).collect()))
    });
    Ok(host.with("circles", distances).with("cosines", cosines).with("sines", sines))
}

/// Computes the score of a circle: the squared mean divided by the variance.
fn score(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    mean * mean / variance
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_clear_circle_has_a_high_score() {
        assert_eq!(super::score(&[1.0, 3.0]), 2.0);
        assert_eq!(super::score(&[9.0, 11.0]), 50.0);
        assert_eq!(super::score(&[-1.0, 1.0]), 0.0);
    }
}
