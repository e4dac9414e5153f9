//! Reference `found-again` for `hw`: points of a picture located by correlation with templates, as
//! Rodinia's heartwall (Szafaryn et al. 2009) tracks the wall of a heart. The reference generates
//! picture, points and templates. Assumption: a picture of random pixels; each template is the area
//! around its point, with noise of a tenth; points are within reach of their expected positions.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;
use mias_ptx::DeviceMemory;
use rayon::prelude::*;

/// Generated parts.
pub(super) const PARTS: &[&str] = &["points", "templates", "picture"];

/// Rows and columns of the picture, as in the kernel's file.
const PICTURE: i32 = 512;

/// Rows and columns of a template, as in the kernel's source, and their distance from its middle.
const SIDE: i32 = 2 * HALF + 1;
const HALF: i32 = 25;

/// Range of expected positions, so that no template is searched beyond the picture's border.
const EXPECTED: (i32, i32) = (100, 411);

/// Maximum last movement of a point in pixels.
const MOVED: i32 = 3;

/// Index of the kernel's argument for the new part of a template, from 0.
const SHARE: usize = 8;

/// Tolerance: sums of 2,601 products below 1, each rounded to 2^-24 of the sum, over a root of two
/// such sums, which are some hundreds.
const TOLERANCE: f32 = 1e-4;

/// Returns the host side for `size` points, searched within `reach` pixels of their expected
/// positions. It changes `points`, `templates` and `correlations`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (count, reach) = (inputs.value("size")?, inputs.value("reach")? as i32);
    let mut random = Random::new(inputs.seed);
    let picture: Vec<f32> = (0..PICTURE * PICTURE).map(|_| (1.0 + random.float()) / 2.0).collect();
    let points: Vec<Point> = (0..count).map(|_| Point::random(&picture, reach, &mut random)).collect();
    let places = points.iter().flat_map(|point| point.place).map(|value| value as u32).collect();
    let templates = points.iter().flat_map(|point| &point.template).map(|value| value.to_bits()).collect();
    let pixels = picture.iter().map(|value| value.to_bits()).collect();
    let host = Host::new(move |filled| {
        let buffers = [filled.buffer("points")?, filled.buffer("templates")?, filled.buffer("correlations")?];
        let share = filled.float(SHARE)?;
        Ok(Expected {
            results: Box::new(move |memory: &DeviceMemory| {
                let places = memory.words(buffers[0]).map(|word| word as i32 as f32).collect();
                [places, memory.floats(buffers[1]), memory.floats(buffers[2])].concat()
            }),
            reference: Box::new(move || {
                let found: Vec<_> = points.par_iter().map(|point| point.found(&picture, reach, share)).collect();
                let places = found.iter().flat_map(|found| found.0).map(|value| value as f32);
                let templates = found.iter().flat_map(|found| &found.1).copied();
                places.chain(templates).chain(found.iter().flat_map(|found| &found.2).copied()).collect()
            }),
            agrees: Box::new(|found, expected| (found - expected).abs() <= TOLERANCE),
            quality: None,
        })
    });
    Ok(host.with("points", places).with("templates", templates).with("picture", pixels))
}

/// A point with its position before the picture.
#[derive(Debug)]
struct Point {
    /// Last position and movement.
    place: [i32; 4],
    template: Vec<f32>,
}

/// Returns the pixels of a square, row by row.
fn square(picture: &[f32], x: i32, y: i32) -> impl Iterator<Item = f32> {
    (y - HALF..=y + HALF).flat_map(move |row| (x - HALF..=x + HALF).map(move |column| picture[(row * PICTURE + column) as usize]))
}

impl Point {
    fn random(picture: &[f32], reach: i32, random: &mut Random) -> Self {
        let [x, y] = [0; 2].map(|_| random.integer(EXPECTED.0, EXPECTED.1));
        let [dx, dy] = [0; 2].map(|_| random.integer(-MOVED, MOVED));
        let [off_x, off_y] = [0; 2].map(|_| random.integer(-reach, reach));
        let template = square(picture, x + off_x, y + off_y).map(|pixel| pixel + random.float() / 10.0).collect();
        Point { place: [x - dx, y - dy, dx, dy], template }
    }

    /// Returns the new position and movement, new template, and all correlations.
    fn found(&self, picture: &[f32], reach: i32, share: f32) -> ([i32; 4], Vec<f32>, Vec<f32>) {
        let [x, y, dx, dy] = self.place;
        let (x, y) = (x + dx, y + dy);
        let offsets = || (-reach..=reach).flat_map(|by_y| (-reach..=reach).map(move |by_x| (by_x, by_y)));
        let correlations: Vec<f64> =
            offsets().map(|(by_x, by_y)| correlation(&self.template, square(picture, x + by_x, y + by_y))).collect();
        let (best, _) =
            correlations.iter().enumerate().fold((0, f64::MIN), |best, (at, &value)| if value > best.1 { (at, value) } else { best });
        let (by_x, by_y) = offsets().nth(best).unwrap_or_default();
        let seen = square(picture, x + by_x, y + by_y);
        let template = self.template.iter().zip(seen).map(|(&old, new)| share.mul_add(new - old, old)).collect();
        ([x + by_x, y + by_y, dx + by_x, dy + by_y], template, correlations.into_iter().map(|value| value as f32).collect())
    }
}

/// Computes Pearson's correlation coefficient.
fn correlation(template: &[f32], pixels: impl Iterator<Item = f32>) -> f64 {
    let mut sums = [0.0; 5];
    for (&a, b) in template.iter().zip(pixels) {
        let (a, b) = (f64::from(a), f64::from(b));
        [a, b, a * a, b * b, a * b].iter().zip(&mut sums).for_each(|(value, sum)| *sum += value);
    }
    let [a, b, aa, bb, ab] = sums;
    let count = f64::from(SIDE * SIDE);
    (ab - a * b / count) / ((aa - a * a / count) * (bb - b * b / count)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The template is located at the place from which it was cut.
    #[test]
    fn points_are_found() {
        let mut random = Random::new(5);
        let picture: Vec<f32> = (0..PICTURE * PICTURE).map(|_| (1.0 + random.float()) / 2.0).collect();
        let template = square(&picture, 203, 298).collect();
        let (place, new, correlations) = Point { place: [200, 300, 1, -1], template }.found(&picture, 3, 0.5);
        assert_eq!(place, [203, 298, 3, -2]);
        assert_eq!(new, square(&picture, 203, 298).collect::<Vec<_>>());
        let best = correlations.iter().copied().fold(f32::MIN, f32::max);
        assert!(correlations.len() == 49 && (best - 1.0).abs() < 1e-6, "{best}");
        assert_eq!(correlations[2 * 7 + 5], best, "two to the right, one up");
    }
}
