//! `dxtc`: DXT1 compression of an image (`kernels/dxtc/dxtc.cu`; seed 000 section 4.1.2, SDK `dxtc`).
//!
//! Results are judged by what a decoder makes of them: the error of each block, and of the whole image, against the host's
//! own search in double precision.

use super::dxt1::{self, Pixel};
use super::random::Random;
use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType};
use crate::ptx::{Arg, DeviceMemory, Launch};
use rayon::prelude::*;
use std::sync::Arc;

/// Threads per TB.
const THREADS: u32 = 64;

/// Rows and columns of a block of pixels, which is one TB's work.
const SIDE: usize = dxt1::SIDE;

/// Entries of the kernel's list of cuts: 16 for each thread.
const CUTS: usize = 1024;

/// Longest side of the image (assumption: one launch of a million TBs is enough).
const MAX_SIDE: u64 = 4096;

/// Largest noise in the image, in levels of 0 to 255 (assumption: that of a photograph).
const NOISE: f64 = 4.0;

/// A block may be this much worse than the host's, in root-mean-square levels of 0 to 255 and relative to it: the kernel
/// rounds differently where two colours lie equally far along the axis, and places the two middle colours at exact thirds,
/// where a decoder rounds them (assumption; a wrong choice of one pixel costs more).
const TOLERANCE: (f32, f32) = (0.5, 0.05);

/// A square image of `size` rows.
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
            ptx_file: "kernels/dxtc/dxtc.ptx",
            ptx: include_str!("../../../kernels/dxtc/dxtc.ptx"),
            report_file: "kernels/dxtc/dxtc.ptxas.txt",
            report: include_str!("../../../kernels/dxtc/dxtc.ptxas.txt"),
        }
    }

    /// 1,600 TBs: about 18 million warp instructions.
    fn default_size(&self) -> u64 {
        160
    }

    fn size_unit(&self) -> &'static str {
        "rows and columns of pixels"
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let (size, seed) = (input.size.unwrap_or(self.default_size()), input.seed);
        if size == 0 || !size.is_multiple_of(SIDE as u64) || size > MAX_SIDE {
            return Err(KernelError::Size { kernel: self.name(), size, message: "must be a multiple of 4, from 4 to 4096" });
        }
        let side = size as usize;
        let image = Arc::new(image(side, seed));
        let blocks = (size / SIDE as u64) as u32;
        let mut memory = DeviceMemory::new();
        // Where nothing is written stays an index into a black block.
        let packed = memory.allocate(std::iter::repeat_n(0, 2 * (blocks * blocks) as usize));
        let pixels = memory.allocate(image.iter().map(|&[r, g, b]| u32::from_le_bytes([r, g, b, 0])));
        let cuts = memory.allocate(cuts());
        let launch = Launch {
            grid: [blocks, blocks, 1],
            block: [THREADS, 1, 1],
            args: vec![Arg::U64(packed.address), Arg::U64(pixels.address), Arg::U64(cuts.address), Arg::I32(size as i32)],
            shared_bytes: 0,
        };
        let original = Arc::clone(&image);
        let expected = Expected {
            results: Box::new(move |memory| {
                let words: Vec<u32> = memory.words(packed).collect();
                errors(&original, side, |block, _| [words[2 * block], words[2 * block + 1]])
            }),
            reference: Box::new(move || errors(&image, side, |_, pixels| dxt1::compress(pixels))),
            agrees: Box::new(agrees),
            quality: None,
        };
        Ok(Instance { memory, entry: "dxtc".into(), launch, expected: Some(expected) })
    }
}

/// Both are errors: the kernel's may be smaller.
fn agrees(found: f32, expected: f32) -> bool {
    let (levels, relative) = TOLERANCE;
    found <= expected + levels + relative * expected
}

/// A picture of what photographs have: a gradient, discs with sharp edges, and noise.
fn image(side: usize, seed: u64) -> Vec<Pixel> {
    let mut random = Random::new(seed);
    let mut unit = || f64::from(random.float() + 1.0) / 2.0;
    let size = side as f64;
    // Centre and radius in pixels, and colour; about one disc to 45 x 45 pixels.
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
            let colour = discs.iter().find(inside).map_or(ground, |disc| disc.1);
            pixels.push(colour.map(|value| (value + NOISE * (2.0 * unit() - 1.0)).round().clamp(0.0, 255.0) as u8));
        }
    }
    pixels
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

/// Root-mean-square error of each block, as packed by `pack`, and of the whole image.
fn errors(image: &[Pixel], side: usize, pack: impl Fn(usize, &dxt1::Block) -> [u32; 2] + Sync) -> Vec<f32> {
    let across = side / SIDE;
    let error = |block: usize| {
        let origin = block / across * SIDE * side + block % across * SIDE;
        let pixels: dxt1::Block = std::array::from_fn(|k| image[origin + k / SIDE * side + k % SIDE]);
        dxt1::square_error(&dxt1::decode(pack(block, &pixels)), &pixels)
    };
    let squares: Vec<u32> = (0..across * across).into_par_iter().map(error).collect();
    let mean = |sum: f64, pixels: usize| (sum / (3 * pixels) as f64).sqrt() as f32;
    let total = squares.iter().copied().map(f64::from).sum();
    let blocks = squares.iter().map(|&square| mean(square.into(), dxt1::PIXELS));
    blocks.chain([mean(total, image.len())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Program;
    use crate::ptx::lower::record::execute;

    /// Four ordered runs of 16: 16 + 3 choose 3.
    #[test]
    fn the_list_of_cuts_is_complete() {
        let list = cuts();
        let mut different = list.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!((list.len(), different.len()), (CUTS, 19 * 18 * 17 / 6));
        for cut in list {
            let runs: Vec<u32> = (0..16).map(|place| cut >> (2 * place) & 3).collect();
            assert!(runs.is_sorted());
        }
    }

    /// The peak signal-to-noise ratio of what the kernel packs: at least 30 dB, the usual measure of a good picture, and not below
    /// the host's by more than 0.1 dB.
    #[test]
    fn the_decoded_picture_is_good() {
        let compiled = Dxtc.compiled();
        let program = Program::parse(compiled.ptx_file, compiled.ptx, "dxtc").unwrap();
        for (side, seed) in [(32, 1), (64, 2)] {
            let instance = Dxtc.init(&Input::sized(side, seed)).unwrap();
            let expected = instance.expected.as_ref().unwrap();
            execute(&program, &instance.launch, &instance.memory).unwrap();
            let psnr = |errors: Vec<f32>| 20.0 * (255.0 / errors.last().unwrap()).log10();
            let found = psnr((expected.results)(&instance.memory));
            let host = psnr((expected.reference)());
            assert!(found >= 30.0 && found >= host - 0.1, "{found} dB, host {host} dB");
        }
    }
}
