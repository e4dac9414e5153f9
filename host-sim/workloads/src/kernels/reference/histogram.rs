//! Reference `histogram` for `hg`: counts of values in each of 1,024 equal parts of a range, as in
//! the first kernel of Rodinia's hybridsort (Che et al. 2009).

use super::{Host, whole};
use crate::kernels::given::Inputs;

/// Number of bins, as in the kernel's source.
const BINS: usize = 1024;

/// Indices of the kernel's arguments for the ends of the range, from 0.
const ENDS: [usize; 2] = [3, 4];

/// Returns the host side from the buffer `values` into `counts`.
pub(super) fn host(_: &Inputs) -> Result<Host, String> {
    Ok(Host::new(move |filled| {
        let (values, counts) = (filled.floats("values")?, filled.words("counts")?);
        let range = [filled.float(ENDS[0])?, filled.float(ENDS[1])?];
        Ok(whole(filled.buffers(["counts"])?, move || counted(&values, counts.iter().map(|&count| count as i32).collect(), range)))
    }))
}

/// Adds the values to the counts. A value's bin is computed with the kernel's rounding at each
/// step; the end of the range is in the last bin.
fn counted(values: &[f32], mut counts: Vec<i32>, [low, high]: [f32; 2]) -> Vec<i32> {
    for value in values {
        let bin = ((value - low) / (high - low) * BINS as f32) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A range of length 1,024, its ends, and both sides of a boundary.
    #[test]
    fn values_are_where_they_belong() {
        let counts = counted(&[0.0, 0.99, 1.0, 5.5, 5.6, 1023.0, 1024.0], vec![0; BINS], [0.0, 1024.0]);
        let some: Vec<(usize, i32)> = counts.into_iter().enumerate().filter(|&(_, count)| count != 0).collect();
        assert_eq!(some, [(0, 2), (1, 1), (5, 2), (1023, 2)]);
        assert_eq!(counted(&[-2.0, 2.0], vec![1; BINS], [-2.0, 6.0]).iter().sum::<i32>(), 1026);
        assert_eq!(counted(&[2.0], vec![0; BINS], [-2.0, 6.0])[512], 1);
    }
}
