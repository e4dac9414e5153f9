//! Reference `dxt1` for `dxtc`: the compression error of a picture.
//!
//! Results are judged after decoding: the error of each block and of the whole image is compared
//! with that of the host's search in double precision. Sides that are not a multiple of 4 are
//! padded by repeating the last column and row. The padding counts in a block's error, as in the
//! search, but not in that of the whole image.

use super::{Host, dxt1};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::picture::Picture;
use mias_ptx::DeviceMemory;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows and columns of a block of pixels, which one TB processes.
const SIDE: usize = dxt1::SIDE;

/// Entries of the kernel's list of divisions: 16 for each of 64 threads.
const CUTS: usize = 1024;

/// Permitted excess of a block's error over the host's: in root-mean-square levels of 0 to 255, and
/// relative to it. The kernel rounds differently if two colors lie equally far along the axis. It
/// also places the middle colors at exact thirds, where a decoder rounds them (assumption; a wrong
/// choice of one pixel costs more).
const TOLERANCE: (f32, f32) = (0.5, 0.05);

/// Generated parts: the list of divisions, which no filling rule expresses.
pub(super) const PARTS: &[&str] = &["cuts"];

/// Returns the host side from the kernel's picture into the buffer `packed`, two words per block.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let picture = Arc::clone(inputs.picture.as_ref().ok_or("the reference needs a table [picture]")?);
    let host = Host::new(move |filled| {
        let packed = filled.buffer("packed")?;
        let [original, judged] = [(); 2].map(|()| Arc::clone(&picture));
        let found = move |memory: &DeviceMemory, picture: &Picture| {
            let words: Vec<u32> = memory.words(packed).collect();
            errors(picture, |block, _| [words[2 * block], words[2 * block + 1]])
        };
        Ok(Expected {
            results: Box::new(move |memory| found(memory, &original)),
            reference: Box::new(move || errors(&picture, |_, pixels| dxt1::compress(pixels))),
            agrees: Box::new(agrees),
            quality: Some(Box::new(move |memory| {
                let error = found(memory, &judged).pop().unwrap_or_default();
                format!("{:.2} dB peak signal-to-noise ratio, {} x {} pixels", psnr(error), judged.width, judged.height)
            })),
        })
    });
    Ok(host.with("cuts", cuts()))
}

/// Returns the peak signal-to-noise ratio in decibels for a root-mean-square error in levels of 0
/// to 255.
fn psnr(error: f32) -> f32 {
    20.0 * (255.0 / error).log10()
}

/// Compares two errors; the kernel's may be smaller.
fn agrees(found: f32, expected: f32) -> bool {
    let (levels, relative) = TOLERANCE;
    found <= expected + levels + relative * expected
}

/// Returns all divisions of 16 sorted colors into four runs, including empty ones. Bits 2k and 2k +
/// 1 are the run of the color at position k. The list is padded by repeating the last entry.
fn cuts() -> Vec<u32> {
    let mut cuts: Vec<u32> =
        dxt1::cuts().map(|ends| (0..dxt1::PIXELS).fold(0, |word, place| word | (dxt1::run(&ends, place) as u32) << (2 * place))).collect();
    let last = cuts.last().copied().unwrap_or(0);
    cuts.resize(CUTS, last);
    cuts
}

/// Returns the root-mean-square error of each block as packed by `pack`, then of the picture.
fn errors(picture: &Picture, pack: impl Fn(usize, &dxt1::Block) -> [u32; 2] + Sync) -> Vec<f32> {
    let across = picture.width.div_ceil(SIDE);
    // Square error of a block, and of its part within the picture.
    let error = |block: usize| {
        let place = |k: usize| (block / across * SIDE + k / SIDE, block % across * SIDE + k % SIDE);
        let pixels: dxt1::Block = std::array::from_fn(|k| picture.at(place(k).0, place(k).1));
        let decoded = dxt1::decode(pack(block, &pixels));
        let within = |&k: &usize| place(k).0 < picture.height && place(k).1 < picture.width;
        let inner: u32 = (0..dxt1::PIXELS).filter(within).map(|k| dxt1::square_error(&decoded[k], &pixels[k])).sum();
        (dxt1::square_error(decoded.as_flattened(), pixels.as_flattened()), inner)
    };
    let squares: Vec<(u32, u32)> = (0..across * picture.height.div_ceil(SIDE)).into_par_iter().map(error).collect();
    let mean = |sum: f64, pixels: usize| (sum / (3 * pixels) as f64).sqrt() as f32;
    let total = squares.iter().map(|&(_, inner)| f64::from(inner)).sum();
    let blocks = squares.iter().map(|&(square, _)| mean(square.into(), dxt1::PIXELS));
    blocks.chain([mean(total, picture.pixels.len())]).collect()
}

#[cfg(test)]
#[path = "dxt1_error_tests.rs"]
mod tests;
