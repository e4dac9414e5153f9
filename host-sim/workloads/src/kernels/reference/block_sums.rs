//! Reference `block-sums` for `s2`: sums of absolute differences of larger blocks from those of 4 x
//! 4 pixels, as in the motion estimation of Parboil's `sad` (Stratton et al. 2012) up to blocks of
//! 8 x 8. H.264 divides a macroblock of 16 x 16 pixels in these ways (ITU-T H.264, section 7.4.5).

use super::{Filled, Host};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use mias_ptx::{Buffer, DeviceMemory};
use rayon::prelude::*;

/// Side of a macroblock in blocks of the smallest size.
const SIDE: usize = 4;

/// Number of search places, as in the kernel's source: displacements by up to 16 pixels in both
/// directions, padded to a multiple of 16 lanes.
pub(super) const PLACES: usize = (33usize * 33).next_multiple_of(16);

/// Returns the host side from the buffer `small` into `wide`, `tall` and `square`, each with
/// [`PLACES`] sums per block.
pub(super) fn host(_: &Inputs) -> Result<Host, String> {
    Ok(Host::new(move |filled| {
        let buffer = |name| Filled::buffer(filled, name);
        let small = halves(filled.memory, buffer("small")?);
        let results = [buffer("wide")?, buffer("tall")?, buffer("square")?];
        Ok(Expected {
            results: Box::new(move |memory| results.iter().flat_map(|&buffer| halves(memory, buffer)).map(f32::from).collect()),
            reference: Box::new(move || sums(&small, PLACES).concat().into_iter().map(f32::from).collect()),
            agrees: Box::new(Expected::equal),
            quality: None,
        })
    }))
}

/// Returns the 16-bit elements of a buffer.
pub(super) fn halves(memory: &DeviceMemory, buffer: Buffer) -> Vec<u16> {
    memory.words(buffer).flat_map(|word| [word as u16, (word >> 16) as u16]).collect()
}

/// Returns the sums of blocks that are twice as wide, twice as tall, and both. A block at `row` and
/// `column` of the smallest ones is the sum of the smallest blocks within it. The order is by
/// quarters of a macroblock, each with the upper or left blocks first.
fn sums(small: &[u16], places: usize) -> [Vec<u16>; 3] {
    let sum = |macroblock: usize, rows: [usize; 2], columns: [usize; 2]| -> Vec<u16> {
        let block = |row, column| &small[(macroblock * SIDE * SIDE + row * SIDE + column) * places..][..places];
        let mut sum = vec![0; places];
        for row in rows[0]..rows[1] {
            for column in columns[0]..columns[1] {
                sum.iter_mut().zip(block(row, column)).for_each(|(sum, &part)| *sum += part);
            }
        }
        sum
    };
    let quarters: Vec<(usize, usize, usize)> = (0..small.len() / (SIDE * SIDE * places))
        .flat_map(|macroblock| [(0, 0), (0, 2), (2, 0), (2, 2)].map(|(row, column)| (macroblock, row, column)))
        .collect();
    let each = |blocks: &(dyn Fn(usize, usize) -> Vec<[[usize; 2]; 2]> + Sync)| {
        let of_quarter = |&(macroblock, row, column): &(usize, usize, usize)| -> Vec<u16> {
            blocks(row, column).into_iter().flat_map(|[rows, columns]| sum(macroblock, rows, columns)).collect()
        };
        quarters.par_iter().map(of_quarter).collect::<Vec<_>>().concat()
    };
    [
        each(&|row, column| [row, row + 1].map(|row| [[row, row + 1], [column, column + 2]]).to_vec()),
        each(&|row, column| [column, column + 1].map(|column| [[row, row + 2], [column, column + 1]]).to_vec()),
        each(&|row, column| vec![[[row, row + 2], [column, column + 2]]]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Block i of the macroblock has the sum 2^i at its one place, so a sum identifies its blocks.
    #[test]
    fn blocks_are_where_they_lie() {
        let small: Vec<u16> = (0..16).map(|block| 1 << block).collect();
        let [wide, tall, square] = sums(&small, 1);
        let of = |blocks: &[u16]| blocks.iter().map(|block| 1u16 << block).sum::<u16>();
        assert_eq!(wide[..4], [of(&[0, 1]), of(&[4, 5]), of(&[2, 3]), of(&[6, 7])]);
        assert_eq!(tall[..4], [of(&[0, 4]), of(&[1, 5]), of(&[2, 6]), of(&[3, 7])]);
        assert_eq!(square, [of(&[0, 1, 4, 5]), of(&[2, 3, 6, 7]), of(&[8, 9, 12, 13]), of(&[10, 11, 14, 15])]);
        assert_eq!((wide[7], tall[7]), (of(&[14, 15]), of(&[11, 15])));
    }

    /// Two macroblocks of two places are not mixed.
    #[test]
    fn places_and_macroblocks_are_apart() {
        let small: Vec<u16> = (0..64).map(|at| [1, 10][at % 2] * [1, 100][at / 32]).collect();
        let [wide, tall, square] = sums(&small, 2);
        assert_eq!((wide.len(), tall.len(), square.len()), (32, 32, 16));
        assert_eq!((&wide[14..18], &square[6..10]), (&[2, 20, 200, 2000][..], &[4, 40, 400, 4000][..]));
    }
}
