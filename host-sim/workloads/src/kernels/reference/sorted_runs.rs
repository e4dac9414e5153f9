//! Reference `sorted-runs` for `merge`: runs of 1,024 sorted keys with their values. They are the
//! first step of a merge sort (Satish, Harris and Garland 2009, Designing efficient sorting
//! algorithms for manycore GPUs).

use super::{Host, whole};
use crate::kernels::given::Inputs;

/// Keys per run.
const RUN: usize = 1024;

/// Returns the host side from the buffers `from_keys` and `from_values` into `to_keys` and
/// `to_values`.
pub(super) fn host(_: &Inputs) -> Result<Host, String> {
    Ok(Host::new(move |filled| {
        let (keys, values) = (filled.words("from_keys")?, filled.words("from_values")?);
        Ok(whole(filled.buffers(["to_keys", "to_values"])?, move || {
            let (keys, values): (Vec<i32>, Vec<i32>) = sorted(&keys, &values).into_iter().unzip();
            [keys, values].concat()
        }))
    }))
}

/// Sorts each run by key, stably.
fn sorted(keys: &[u32], values: &[u32]) -> Vec<(i32, i32)> {
    let mut pairs: Vec<(i32, i32)> = keys.iter().zip(values).map(|(&key, &value)| (key as i32, value as i32)).collect();
    pairs.chunks_mut(RUN).for_each(|run| run.sort_by_key(|&(key, _)| key));
    pairs
}

#[cfg(test)]
mod tests {
    #[test]
    fn equal_keys_keep_their_order() {
        assert_eq!(super::sorted(&[3, 1, 3, 0], &[10, 11, 12, 13]), [(0, 13), (1, 11), (3, 10), (3, 12)]);
    }
}
