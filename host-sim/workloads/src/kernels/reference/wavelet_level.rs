//! Reference `wavelet-level` for `dwt`: one level of the reversible 5/3 wavelet transform (ITU-T
//! T.800, annex F) of a plane of integers. It is the forward 5/3 transform of Rodinia's dwt2d (Che
//! et al. 2009).

use super::{Host, whole};
use crate::kernels::given::Inputs;

/// Returns the host side from the buffer `source`, `rows` rows of `size`, into `result`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let width = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let source: Vec<i32> = filled.words("source")?.into_iter().map(|word| word as i32).collect();
        Ok(whole(filled.buffers(["result"])?, move || plane(&source, width)))
    }))
}

/// Transforms the rows, then the columns.
fn plane(source: &[i32], width: usize) -> Vec<i32> {
    let mut plane = source.to_vec();
    plane.chunks_mut(width).for_each(|row| row.copy_from_slice(&line(row)));
    for column in 0..width {
        let values: Vec<i32> = plane.iter().skip(column).step_by(width).copied().collect();
        plane.iter_mut().skip(column).step_by(width).zip(line(&values)).for_each(|(old, new)| *old = new);
    }
    plane
}

/// Transforms a line of an even number of values: the smooth ones, then the differences. The line
/// continues beyond its ends as its mirror image.
fn line(values: &[i32]) -> Vec<i32> {
    let half = values.len() / 2;
    let difference = |at: usize| {
        let right = values.get(2 * at + 2).unwrap_or(&values[2 * at]);
        values[2 * at + 1] - ((values[2 * at] + right) >> 1)
    };
    let smooth = |at: usize| values[2 * at] + ((difference(at.saturating_sub(1)) + difference(at) + 2) >> 2);
    (0..half).map(smooth).chain((0..half).map(difference)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slope has no differences except at its end, where the mirror reverses it; a constant line
    /// does not change.
    #[test]
    fn slopes_are_smooth() {
        assert_eq!(line(&[0, 2, 4, 6, 8, 10, 12, 14]), [0, 4, 8, 13, 0, 0, 0, 2]);
        assert_eq!(plane(&[7; 16], 4), [7, 7, 0, 0, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
