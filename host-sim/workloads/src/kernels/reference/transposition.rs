//! `transposition`: a table by rows becomes one by columns, for `ks`: what k-means of Rodinia (Che et al. 2009) does with its points first.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Of the buffer `by_point`, which has `features` columns, into `by_feature`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let columns = inputs.value("features")? as usize;
    Ok(Host::new(move |filled| {
        let table = filled.floats("by_point")?;
        Ok(Expected::floats(filled.buffer("by_feature")?, Expected::equal, move || transposed(&table, columns)))
    }))
}

/// Column by column.
fn transposed(table: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| table.iter().skip(column).step_by(columns).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        assert_eq!(transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    /// Twice, with rows for columns, is what it was.
    #[test]
    fn twice_is_nothing() {
        let table: Vec<f32> = (0..35u8).map(f32::from).collect();
        let once = transposed(&table, 5);
        assert_ne!(once, table);
        assert_eq!(transposed(&once, 7), table);
    }
}
