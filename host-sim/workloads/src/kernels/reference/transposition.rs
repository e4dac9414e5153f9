//! Reference `transposition` for `ks`: conversion of a table from row order to column order, as
//! Rodinia's k-means (Che et al. 2009) does first.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Returns the host side from the buffer `by_point`, which has `features` columns, into
/// `by_feature`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let columns = inputs.value("features")? as usize;
    Ok(Host::new(move |filled| {
        let table = filled.floats("by_point")?;
        Ok(Expected::floats(filled.buffer("by_feature")?, Expected::equal, move || transposed(&table, columns)))
    }))
}

/// Returns the table in column order.
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

    /// Two transpositions, the second with exchanged sides, restore the table.
    #[test]
    fn twice_is_nothing() {
        let table: Vec<f32> = (0..35u8).map(f32::from).collect();
        let once = transposed(&table, 5);
        assert_ne!(once, table);
        assert_eq!(transposed(&once, 7), table);
    }
}
