//! References `alignment-1` for `nw1` and `alignment-2` for `nw2`: the table that aligns two
//! sequences (Needleman and Wunsch 1970). Each computes one diagonal of tiles of 16 x 16 cells, as
//! in Rodinia's nw (Che et al. 2009). `nw1` computes the longest diagonal, and `nw2` the next one.
//! The reference generates the table before the launch, and the scores of letter pairs.

use super::{Host, whole};
use crate::kernels::given::Inputs;
use crate::random::Random;

/// Generated parts, for one pair of sequences after the other.
pub(super) const PARTS: &[&str] = &["scores", "matches"];

/// Side of a tile in cells.
const TILE: usize = 16;

/// Cost of a gap, as in the kernels' files.
const GAP: i32 = 10;

/// Range of scores of two letters, as in BLOSUM62.
const MATCHES: (i32, i32) = (-4, 11);

/// Content of cells that are not computed yet.
const UNKNOWN: i32 = 1_000_000;

/// Creates the host side of the longest diagonal of tiles, from the lower left corner to the upper
/// right.
pub(super) fn longest(inputs: &Inputs) -> Result<Host, String> {
    host(inputs, inputs.value("size")? as usize / TILE - 1)
}

/// Creates the host side of the diagonal of tiles after the longest.
pub(super) fn behind(inputs: &Inputs) -> Result<Host, String> {
    host(inputs, inputs.value("size")? as usize / TILE)
}

/// Returns the host side for `pairs` pairs of `size` letters each. The row and column of a tile add
/// up to `diagonal`.
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

/// Computes the table row by row.
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

/// Returns the table after the first `diagonals` diagonals of tiles, with row 0 and column 0.
fn known(table: &[i32], side: usize, diagonals: usize) -> Vec<i32> {
    let tile = |at: usize| (at - 1) / TILE;
    let known = |(x, y): (usize, usize)| x == 0 || y == 0 || tile(x) + tile(y) < diagonals;
    table.iter().enumerate().map(|(place, &score)| if known((place % side, place / side)) { score } else { UNKNOWN }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two letters each: both match when aligned.
    #[test]
    fn scores_add_up() {
        let matches = [0, 0, 0, 0, 5, -3, 0, -3, 6];
        assert_eq!(table(&matches, 3), [0, -10, -20, -10, 5, -5, -20, -5, 11]);
    }

    /// Of 2 x 2 tiles, the first one is known, then three.
    #[test]
    fn diagonals_become_known() {
        let side = 2 * TILE + 1;
        let unknown = |diagonals| known(&vec![0; side * side], side, diagonals).iter().filter(|&&score| score == UNKNOWN).count();
        assert_eq!([0, 1, 2, 3].map(unknown), [4 * TILE * TILE, 3 * TILE * TILE, TILE * TILE, 0]);
    }
}
