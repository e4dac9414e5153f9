//! `dxtc`: DXT1 compression of an image (`kernels/cuda-samples/dxtc/dxtc.cu`; Nasef 2023, section 4.1.2, SDK `dxtc`), from a file or made up.
//!
//! Results are judged by what a decoder makes of them: the error of each block, and of the whole image, against the host's
//! own search in double precision. Sides that are no multiple of 4 are filled up by repeating the last column and row; a
//! block's error counts those pixels, as the search does, that of the whole image does not.

use super::dxt1;
use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType, Setting};
use crate::picture::{self, MAX_SIDE, Picture};
use mias_ptx::{Arg, DeviceMemory, Launch};
use rayon::prelude::*;
use std::sync::Arc;

/// Threads per TB.
const THREADS: u32 = 64;

/// Rows and columns of a block of pixels, which is one TB's work.
const SIDE: usize = dxt1::SIDE;

/// Entries of the kernel's list of cuts: 16 for each thread.
const CUTS: usize = 1024;

/// A block may be this much worse than the host's, in root-mean-square levels of 0 to 255 and relative to it: the kernel
/// rounds differently where two colours lie equally far along the axis, and places the two middle colours at exact thirds,
/// where a decoder rounds them (assumption; a wrong choice of one pixel costs more).
const TOLERANCE: (f32, f32) = (0.5, 0.05);

/// A square image of `size` rows, or a file's.
#[derive(Debug)]
pub(super) struct Dxtc;

impl Kernel for Dxtc {
    fn name(&self) -> &'static str {
        "dxtc"
    }

    fn description(&self) -> &'static str {
        "DXT1 compression of an image, one 4 x 4 block per TB"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Compute
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/cuda-samples/dxtc/dxtc.ptx",
            ptx: include_str!("../../../../kernels/cuda-samples/dxtc/dxtc.ptx"),
            report_file: "kernels/cuda-samples/dxtc/dxtc.ptxas.txt",
            report: include_str!("../../../../kernels/cuda-samples/dxtc/dxtc.ptxas.txt"),
        }
    }

    /// 1,600 TBs: about 18 million warp instructions.
    fn default_size(&self) -> u64 {
        160
    }

    fn size_unit(&self) -> &'static str {
        "rows and columns of pixels"
    }

    fn settings(&self) -> &'static [Setting] {
        &[Setting {
            key: "image",
            description: "a PNG or PPM file, of which `size` takes that many rows and columns from the middle; by default a made-up picture",
        }]
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let picture = Arc::new(picture(input)?);
        let padded = picture.padded(SIDE);
        let [across, down] = [padded.width, padded.height].map(|side| (side / SIDE) as u32);
        let mut memory = DeviceMemory::new();
        // Where nothing is written stays an index into a black block.
        let packed = memory.allocate(std::iter::repeat_n(0, 2 * (across * down) as usize));
        let pixels = memory.allocate(padded.pixels.iter().map(|&[r, g, b]| u32::from_le_bytes([r, g, b, 0])));
        let cuts = memory.allocate(cuts());
        let launch = Launch {
            grid: [across, down, 1],
            block: [THREADS, 1, 1],
            args: vec![Arg::U64(packed.address), Arg::U64(pixels.address), Arg::U64(cuts.address), Arg::I32(padded.width as i32)],
            shared_bytes: 0,
        };
        let [original, judged] = [(); 2].map(|()| Arc::clone(&picture));
        let found = move |memory: &DeviceMemory, picture: &Picture| {
            let words: Vec<u32> = memory.words(packed).collect();
            errors(picture, |block, _| [words[2 * block], words[2 * block + 1]])
        };
        let expected = Expected {
            results: Box::new(move |memory| found(memory, &original)),
            reference: Box::new(move || errors(&picture, |_, pixels| dxt1::compress(pixels))),
            agrees: Box::new(agrees),
            quality: Some(Box::new(move |memory| {
                let error = found(memory, &judged).pop().unwrap_or_default();
                format!("{:.2} dB peak signal-to-noise ratio, {} x {} pixels", psnr(error), judged.width, judged.height)
            })),
        };
        Ok(Instance { memory, entry: "dxtc".into(), launch, expected: Some(expected) })
    }
}

/// The picture that the settings ask for.
fn picture(input: &Input) -> Result<Picture, KernelError> {
    let size = |size| KernelError::Size { kernel: Dxtc.name(), size, message: "must be from 1 to 4096" };
    let most = MAX_SIDE as u64;
    let Some(file) = input.get("image") else {
        let side = input.size.unwrap_or(Dxtc.default_size());
        return if (1..=most).contains(&side) { Ok(picture::synthetic(side as usize, input.seed)) } else { Err(size(side)) };
    };
    let picture = picture::load(file)?;
    let Some(side) = input.size else { return Ok(picture) };
    if !(1..=most).contains(&side) {
        return Err(size(side));
    }
    picture.middle(side as usize).ok_or_else(|| KernelError::Setting {
        kernel: Dxtc.name(),
        setting: "size",
        value: side.to_string(),
        message: format!("{file} has {} x {} pixels; give at most its shorter side", picture.width, picture.height),
    })
}

/// Peak signal-to-noise ratio in decibels of a root-mean-square error in levels of 0 to 255.
fn psnr(error: f32) -> f32 {
    20.0 * (255.0 / error).log10()
}

/// Both are errors: the kernel's may be smaller.
fn agrees(found: f32, expected: f32) -> bool {
    let (levels, relative) = TOLERANCE;
    found <= expected + levels + relative * expected
}

/// All ways to cut 16 sorted colours into four runs, empty ones included: for the colour in place k, bits 2k and 2k + 1 say in
/// which run it is. Filled up by repeating the last.
fn cuts() -> Vec<u32> {
    let mut cuts: Vec<u32> =
        dxt1::cuts().map(|ends| (0..dxt1::PIXELS).fold(0, |word, place| word | (dxt1::run(&ends, place) as u32) << (2 * place))).collect();
    let last = cuts.last().copied().unwrap_or(0);
    cuts.resize(CUTS, last);
    cuts
}

/// Root-mean-square error of each block, as packed by `pack`, then of the picture.
fn errors(picture: &Picture, pack: impl Fn(usize, &dxt1::Block) -> [u32; 2] + Sync) -> Vec<f32> {
    let across = picture.width.div_ceil(SIDE);
    // Square error of a block, and of the part of it that is within the picture.
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
#[path = "dxtc_tests.rs"]
mod tests;
