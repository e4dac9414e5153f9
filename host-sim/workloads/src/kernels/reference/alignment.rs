//! The table that aligns two sequences (Needleman and Wunsch 1970), one diagonal of tiles of 16 x 16 cells, as Rodinia's nw (Che et al. 2009) does
//! it: `alignment-1` for `nw1`, the longest diagonal, and `alignment-2` for `nw2`, the one behind it. The table as it is before, and the
//! scores of two letters each, are made here.

use super::{Host, whole};
use crate::kernels::given::Inputs;
use crate::random::Random;

/// What it makes, pair of sequences by pair.
pub(super) const PARTS: &[&str] = &["scores", "matches"];

/// Cells of a tile's side.
const TILE: usize = 16;

/// What a gap costs, as in the kernels' files.
const GAP: i32 = 10;

/// Scores of two letters: those that BLOSUM62 has.
const MATCHES: (i32, i32) = (-4, 11);

/// What is in cells that are not known yet.
const UNKNOWN: i32 = 1_000_000;

/// The diagonal of all tiles from the lower left corner to the upper right.
pub(super) fn longest(inputs: &Inputs) -> Result<Host, String> {
    host(inputs, inputs.value("size")? as usize / TILE - 1)
}

/// The next one.
pub(super) fn behind(inputs: &Inputs) -> Result<Host, String> {
    host(inputs, inputs.value("size")? as usize / TILE)
}

/// Of `pairs` pairs of `size` letters each; a tile's row and column add up to `diagonal`.
fn host(inputs: &Inputs, diagonal: usize) -> Result<Host, String> {
    let side = inputs.value("size")? as usize + 1;
    let mut random = Random::new(inputs.seed);
    let pair = |_| (0..side * side).map(|_| random.integer(MATCHES.0, MATCHES.1)).collect::<Vec<i32>>();
    let matches: Vec<Vec<i32>> = (0..inputs.value("pairs")?).map(pair).collect();
    let tables: Vec<Vec<i32>> = matches.iter().map(|matches| table(matches, side)).collect();
    let words = |all: &[Vec<i32>]| all.iter().flatten().map(|&value| value as u32).collect();
    let before: Vec<Vec<i32>> = tables.iter().map(|table| known(table, side, diagonal)).collect();
    let host = Host::new(move |filled| {
        let after = move || tables.iter().flat_map(|table| known(table, side, diagonal + 1)).collect();
        Ok(whole(filled.buffers(["scores"])?, after))
    });
    Ok(host.with("scores", words(&before)).with("matches", words(&matches)))
}

/// Row by row.
fn table(matches: &[i32], side: usize) -> Vec<i32> {
    let mut table: Vec<i32> = vec![0; side * side];
    for place in 0..side * side {
        let (x, y) = (place % side, place / side);
        table[place] = if x == 0 || y == 0 {
            -GAP * (x + y) as i32
        } else {
            let aligned = table[place - side - 1] + matches[place];
            aligned.max(table[place - 1].max(table[place - side]) - GAP)
        };
    }
    table
}

/// What is known when the first `diagonals` diagonals of tiles are: besides them row and column 0.
fn known(table: &[i32], side: usize, diagonals: usize) -> Vec<i32> {
    let tile = |at: usize| (at - 1) / TILE;
    let known = |(x, y): (usize, usize)| x == 0 || y == 0 || tile(x) + tile(y) < diagonals;
    table.iter().enumerate().map(|(place, &score)| if known((place % side, place / side)) { score } else { UNKNOWN }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two letters each: both fit when aligned.
    #[test]
    fn scores_add_up() {
        let matches = [0, 0, 0, 0, 5, -3, 0, -3, 6];
        assert_eq!(table(&matches, 3), [0, -10, -20, -10, 5, -5, -20, -5, 11]);
    }

    /// Of 2 x 2 tiles the first, then three.
    #[test]
    fn diagonals_become_known() {
        let side = 2 * TILE + 1;
        let unknown = |diagonals| known(&vec![0; side * side], side, diagonals).iter().filter(|&&score| score == UNKNOWN).count();
        assert_eq!([0, 1, 2, 3].map(unknown), [4 * TILE * TILE, 3 * TILE * TILE, TILE * TILE, 0]);
    }
}
