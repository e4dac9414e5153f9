//! Generated picture with properties of photographs: a gradient, discs with sharp edges, and noise.

use super::Picture;
use crate::random::Random;

/// Maximum noise, in levels of 0 to 255 (assumption: that of a photograph).
const NOISE: f64 = 4.0;

/// Generates a square picture of `side` rows, at least one.
pub fn synthetic(side: usize, seed: u64) -> Picture {
    let mut random = Random::new(seed);
    let mut unit = || f64::from(random.float() + 1.0) / 2.0;
    let size = side as f64;
    // Center and radius in pixels, and color; about one disc per 45 x 45 pixels.
    let count = (side * side / 2048).clamp(1, 64);
    let discs: Vec<([f64; 3], [f64; 3])> =
        (0..count).map(|_| ([size * unit(), size * unit(), 6.0 + 34.0 * unit()], [unit(), unit(), unit()].map(|c| 255.0 * c))).collect();
    let mut pixels = Vec::with_capacity(side * side);
    for row in 0..side {
        for column in 0..side {
            let (x, y) = (column as f64, row as f64);
            let inside = |&&([cx, cy, radius], _): &&([f64; 3], [f64; 3])| (x - cx).hypot(y - cy) < radius;
            let (across, down) = (x / size, y / size);
            let ground = [255.0 * across, 255.0 * down, 127.5 * (2.0 - across - down)];
            let color = discs.iter().find(inside).map_or(ground, |disc| disc.1);
            pixels.push(color.map(|value| (value + NOISE * (2.0 * unit() - 1.0)).round().clamp(0.0, 255.0) as u8));
        }
    }
    Picture { width: side, height: side, pixels }
}
