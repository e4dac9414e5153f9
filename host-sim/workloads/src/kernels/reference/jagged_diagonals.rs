//! `jagged-diagonals`: y = A x with a sparse matrix in jagged-diagonal form (Saad 1989), for `sv`, after Parboil's `spmv` (Stratton et al.
//! 2012). The matrix is made here. Assumption: of a band, as discretised equations give it, with rows of six lengths in random order;
//! the elements of a row are some 192 columns apart, so that the band is as wide as the rows that a warp takes lie apart times
//! their elements.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;

/// Rows that are filled up to one length: a warp's.
const GROUP: usize = 32;

/// Elements per row: 16, 24, .. 56.
const LENGTHS: (usize, usize, i32) = (16, 8, 6);

/// Columns from an element of a row to the next, and by how many each is moved at most.
const APART: (i64, i32) = (192, 16);

/// Diagonals and groups that the kernel's source has room for in constant memory.
const ROOM: (usize, usize) = (1024, 8192);

/// What it makes: the elements' values and columns, diagonal by diagonal; the rows in their order; where diagonals begin; and the
/// lengths of the groups of rows.
pub(super) const PARTS: &[&str] = &["values", "columns", "rows", "first", "lengths"];

/// A matrix of `size` rows and columns times the buffer `x` into `y`.
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

/// A matrix by rows, of columns and values.
#[derive(Debug)]
struct Matrix {
    rows: Vec<Vec<(u32, f32)>>,
}

impl Matrix {
    /// A band that closes to a ring at the ends, so that all rows are alike.
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

    /// One fused multiply-add per element in the row's order, which is the kernel's: equal bit for bit.
    fn times(&self, x: &[f32]) -> Vec<f32> {
        self.rows.iter().map(|row| row.iter().fold(0.0, |sum, &(column, value)| value.mul_add(x[column as usize], sum))).collect()
    }
}

/// The same by diagonals.
#[derive(Debug)]
struct Jagged {
    values: Vec<f32>,
    columns: Vec<u32>,
    rows: Vec<u32>,
    first: Vec<u32>,
    lengths: Vec<u32>,
}

impl Jagged {
    /// Rows sorted by length, longest first, those of one length in their order; of a multiple of [`GROUP`] rows.
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
                // What fills up: nothing of the row's own place.
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

    /// A matrix of 64 rows, of which row i has i % 3 elements: (i, 1), then (0, i).
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

    /// 21 rows of two elements come first, then 21 of one; a group of 32 is as long as its first row.
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

    /// Every element is in both forms, and what fills up is zero: sums over all elements are equal.
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
