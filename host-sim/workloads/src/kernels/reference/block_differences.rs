//! Reference `block-differences` for `sad1`: sums of absolute differences between blocks of 4 x 4
//! pixels and a reference picture. This is the first kernel of Parboil's `sad` (Stratton et al.
//! 2012). Outside of the picture, the nearest pixel counts, as in H.264 (ITU-T H.264, section
//! 8.4.2.2.1).

use super::Host;
use super::block_sums::{PLACES, halves};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Side of a block in pixels.
const SIDE: usize = 4;

/// Side of a macroblock in blocks.
const BLOCKS: usize = 4;

/// Maximum displacement along both axes and in both directions, as in the kernel's source.
const WIDEST: usize = 16;

/// Returns the host side from the buffers `frame` and `around`, pictures `size` pixels wide, into
/// `small`, with [`PLACES`] sums per block. The last sums are not written.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let width = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let half = |name: &str| -> Result<Vec<u16>, String> { Ok(halves(filled.memory, filled.buffer(name)?)) };
        let (frame, around, untouched) = (half("frame")?, half("around")?, half("small")?);
        let small = filled.buffer("small")?;
        Ok(Expected {
            results: Box::new(move |memory| halves(memory, small).into_iter().map(f32::from).collect()),
            reference: Box::new(move || sums(&frame, &around, untouched.clone(), width).into_iter().map(f32::from).collect()),
            agrees: Box::new(Expected::equal),
            quality: None,
        })
    }))
}

/// Returns the sums by macroblock, block and place, all in row order.
fn sums(frame: &[u16], around: &[u16], mut small: Vec<u16>, width: usize) -> Vec<u16> {
    let height = frame.len() / width;
    let across = width / (BLOCKS * SIDE);
    // Pixel of the reference picture for a displacement that is offset by the maximum.
    let there = |x: usize, y: usize| around[(y.saturating_sub(WIDEST)).min(height - 1) * width + x.saturating_sub(WIDEST).min(width - 1)];
    small.par_chunks_mut(PLACES).enumerate().for_each(|(number, places)| {
        let (macroblock, block) = (number / (BLOCKS * BLOCKS), number % (BLOCKS * BLOCKS));
        let left = (macroblock % across * BLOCKS + block % BLOCKS) * SIDE;
        let top = (macroblock / across * BLOCKS + block / BLOCKS) * SIDE;
        let displacements = (0..=2 * WIDEST).flat_map(|down| (0..=2 * WIDEST).map(move |right| (right, down)));
        for (sum, (right, down)) in places.iter_mut().zip(displacements) {
            let pixels = (0..SIDE * SIDE).map(|pixel| (left + pixel % SIDE, top + pixel / SIDE));
            *sum = pixels.map(|(x, y)| frame[y * width + x].abs_diff(there(x + right, y + down))).sum();
        }
    });
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a picture of one macroblock with distinct pixels, a block matches only at its
    /// displacement. At the corner, the nearest pixel counts 16 times.
    #[test]
    fn a_block_is_found_where_it_was_moved_to() {
        let width = 16;
        let frame: Vec<u16> = (0..256).map(|at| at * 37 % 251).collect();
        // Displaced by three to the right and two down.
        let moved = |at: usize| {
            let (x, y) = (at % width, at / width);
            if x >= 3 && y >= 2 { frame[(y - 2) * width + x - 3] } else { 0 }
        };
        let around: Vec<u16> = (0..256).map(moved).collect();
        let small = sums(&frame, &around, vec![7; 16 * PLACES], width);
        // Block 5 starts at row 4 and column 4.
        let block = &small[5 * PLACES..6 * PLACES];
        let place = |right: usize, down: usize| (WIDEST + down) * (2 * WIDEST + 1) + WIDEST + right;
        let found: Vec<usize> = (0..33 * 33).filter(|&at| block[at] == 0).collect();
        assert_eq!(found, [place(3, 2)]);
        let corner: u16 = (0..16).map(|pixel| frame[(pixel / 4) * width + pixel % 4].abs_diff(around[0])).sum();
        assert_eq!(small[0], corner, "16 to the left and up, all of block 0 is outside");
        assert!(block[33 * 33..].iter().all(|&sum| sum == 7), "what fills up is not written");
    }
}
