//! Mesh of `cd`.
//!
//! Assumption: an O-grid around a wing, of quadrilateral cells in rows that close to rings. The
//! wing is inside the first row, and the far field beyond the last.
//!
//! Generators and partitioners do not number the cells of a mesh by rows. Here, cells are numbered
//! by threes along a row, and the threes are in random order within each part of 112 rows. The 32
//! cells of a warp are then at eleven places, and their neighbors in about as many cache lines.

use crate::random::Random;

/// Number of sides of a cell: before and after it in its row, towards the wing, and away from it.
pub(super) const SIDES: usize = 4;

/// Neighbor number of the wing.
pub(super) const WALL: i32 = -1;

/// Neighbor number of the far field.
pub(super) const FAR_FIELD: i32 = -2;

/// Cells per row.
pub(super) const ROW: usize = 432;

/// Cells of a row with successive numbers.
const STRIP: usize = 3;

/// Rows per part.
const PART: usize = 112;

/// Returns the neighbors of all cells, side by side: the number of a cell, [`WALL`] or
/// [`FAR_FIELD`]. The number of cells must be whole rows.
pub(super) fn neighbors(cells: usize, random: &mut Random) -> Vec<i32> {
    let numbers = numbers(cells, random);
    let rows = cells / ROW;
    let mut behind = vec![0; SIDES * cells];
    for (at, &cell) in numbers.iter().enumerate() {
        let (row, column) = (at / ROW, at % ROW);
        let of = |row: usize, column: usize| numbers[row * ROW + column % ROW] as i32;
        let sides = [
            of(row, column + ROW - 1),
            of(row, column + 1),
            if row == 0 { WALL } else { of(row - 1, column) },
            if row + 1 == rows { FAR_FIELD } else { of(row + 1, column) },
        ];
        for (side, neighbor) in sides.into_iter().enumerate() {
            behind[side * cells + cell as usize] = neighbor;
        }
    }
    behind
}

/// Returns the numbers of the cells, row by row.
fn numbers(cells: usize, random: &mut Random) -> Vec<u32> {
    let mut strips: Vec<usize> = (0..cells / STRIP).collect();
    for part in strips.chunks_mut(PART * ROW / STRIP) {
        // Fisher-Yates shuffle in the form of Durstenfeld 1964.
        for last in (1..part.len()).rev() {
            part.swap(last, random.integer(0, last as i32) as usize);
        }
    }
    let mut numbers = vec![0; cells];
    for (place, strip) in strips.into_iter().enumerate() {
        for cell in 0..STRIP {
            numbers[strip * STRIP + cell] = (place * STRIP + cell) as u32;
        }
    }
    numbers
}
