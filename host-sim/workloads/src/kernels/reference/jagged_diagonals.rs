//! Reference `jagged-diagonals` for `sv`: y = A x with a sparse matrix in jagged-diagonal form
//! (Saad 1989), after Parboil's `spmv` (Stratton et al. 2012). The reference generates the matrix.
//! Assumption: a band matrix, as from discretized equations, with rows of six lengths in random
//! order. The elements of a row are about 192 columns apart. The band is as wide as the distance
//! between the rows of a warp times their elements.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;

/// Rows that are padded to a common length: those of a warp.
const GROUP: usize = 32;

/// Lengths of rows in elements: 16, 24, .. 56.
const LENGTHS: (usize, usize, i32) = (16, 8, 6);

/// Distance between successive elements of a row in columns, and maximum displacement of each.
const APART: (i64, i32) = (192, 16);

/// Capacity for diagonals and groups in constant memory, in the kernel's source.
const ROOM: (usize, usize) = (1024, 8192);

/// Generated parts: values and columns of the elements, diagonal by diagonal; the order of the
/// rows; the starts of the diagonals; and the lengths of the groups of rows.
pub(super) const PARTS: &[&str] = &["values", "columns", "rows", "first", "lengths"];

/// Returns the host side for a matrix of `size` rows and columns times the buffer `x`, into `y`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let matrix = Matrix::random(inputs.value("size")? as usize, &mut Random::new(inputs.seed));
    let jagged = Jagged::of(&matrix);
    let values = jagged.values.iter().map(|value| value.to_bits()).collect();
    let host = Host::new(move |filled| {
        let x = filled.floats("x")?;
        Ok(Expected::floats(filled.buffer("y")?, Expected::equal, move || matrix.times(&x)))
    });
    let host = host.with("values", values).with("columns", jagged.columns).with("rows", jagged.rows);
    let filled_up = |mut words: Vec<u32>, room| {
        words.resize(room, 0);
        words
    };
    Ok(host.with("first", filled_up(jagged.first, ROOM.0)).with("lengths", filled_up(jagged.lengths, ROOM.1)))
}

/// A matrix by rows, with columns and values.
#[derive(Debug)]
struct Matrix {
    rows: Vec<Vec<(u32, f32)>>,
}

impl Matrix {
    /// Generates a band that closes to a ring at the ends, so all rows are alike.
    fn random(side: usize, random: &mut Random) -> Self {
        let (shortest, step, lengths) = LENGTHS;
        let (apart, moved) = APART;
        let row = |row: usize| {
            let length = shortest + step * random.integer(0, lengths - 1) as usize;
            let element = |k: usize| {
                let column = row as i64 + (k as i64 - length as i64 / 2) * apart + i64::from(random.integer(-moved, moved));
                (column.rem_euclid(side as i64) as u32, random.float())
            };
            (0..length).map(element).collect()
        };
        Matrix { rows: (0..side).map(row).collect() }
    }

    /// Multiplies the matrix by a vector, with one fused multiply-add per element in the row's
    /// order. This is the kernel's order, so results are equal bit for bit.
    fn times(&self, x: &[f32]) -> Vec<f32> {
        self.rows.iter().map(|row| row.iter().fold(0.0, |sum, &(column, value)| value.mul_add(x[column as usize], sum))).collect()
    }
}

/// A matrix by jagged diagonals.
#[derive(Debug)]
struct Jagged {
    values: Vec<f32>,
    columns: Vec<u32>,
    rows: Vec<u32>,
    first: Vec<u32>,
    lengths: Vec<u32>,
}

impl Jagged {
    /// Builds the diagonals from rows sorted by length, longest first, and stable. The number of
    /// rows must be a multiple of [`GROUP`].
    fn of(matrix: &Matrix) -> Self {
        let length = |&row: &u32| matrix.rows[row as usize].len();
        let mut rows: Vec<u32> = (0..matrix.rows.len() as u32).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(length(row)));
        let lengths: Vec<u32> = rows.chunks(GROUP).map(|group| length(&group[0]) as u32).collect();
        let (mut values, mut columns, mut first) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..lengths.first().copied().unwrap_or_default() {
            first.push(values.len() as u32);
            let groups = lengths.iter().take_while(|&&length| length > k).count();
            for &row in rows.iter().take(groups * GROUP) {
                // Padding: a zero at the row's own position.
                let (column, value) = matrix.rows[row as usize].get(k as usize).copied().unwrap_or((row, 0.0));
                columns.push(column);
                values.push(value);
            }
        }
        Jagged { values, columns, rows, first, lengths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a matrix of 64 rows, of which row i has i % 3 elements: (i, 1), then (0, i).
    fn small() -> Matrix {
        let row = |i: u8| [(u32::from(i), 1.0), (0, f32::from(i))][..usize::from(i % 3)].to_vec();
        Matrix { rows: (0..64).map(row).collect() }
    }

    #[test]
    fn the_reference_multiplies() {
        let x: Vec<f32> = (0..64u8).map(|i| f32::from(i) + 1.0).collect();
        let y = small().times(&x);
        // Row 4: x[4]; row 5: x[5] + 5 x[0]; row 6 is empty.
        assert_eq!(y[4..7], [5.0, 11.0, 0.0]);
    }

    /// First come 21 rows of two elements, then 21 of one. A group of 32 has the length of its
    /// first row.
    #[test]
    fn diagonals_are_by_length() {
        let jagged = Jagged::of(&small());
        assert_eq!((&jagged.lengths[..], &jagged.first[..]), (&[2, 1][..], &[0, 64][..]));
        assert_eq!((&jagged.rows[..3], &jagged.rows[20..23], jagged.rows[42]), (&[2, 5, 8][..], &[62, 1, 4][..], 0));
        assert_eq!((jagged.values.len(), jagged.columns[1], jagged.columns[64], jagged.values[65]), (96, 5, 0, 5.0));
        // Row 1 has one element, row 0 has none.
        assert_eq!((jagged.values[64 + 21], jagged.columns[64 + 21]), (0.0, 1));
        assert_eq!((jagged.values[42], jagged.columns[42]), (0.0, 0));
    }

    /// Both forms have every element, and the padding is zero, so sums over all elements are equal.
    #[test]
    fn nothing_is_lost() {
        let matrix = Matrix::random(960, &mut Random::new(3));
        let jagged = Jagged::of(&matrix);
        let mut elements: Vec<(u32, u32)> = matrix.rows.iter().flatten().map(|&(column, value)| (column, value.to_bits())).collect();
        let mut found: Vec<(u32, u32)> = jagged.columns.iter().copied().zip(jagged.values.iter().map(|value| value.to_bits())).collect();
        found.retain(|&(_, value)| value != 0);
        elements.retain(|&(_, value)| value != 0);
        elements.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, elements);
        assert!(matrix.rows.iter().all(|row| (16..=56).contains(&row.len()) && row.len() % 8 == 0));
    }
}
