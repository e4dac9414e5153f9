//! Reference `color-planes` for `dwtc`: conversion of three-byte pixels to three planes of
//! integers around zero, as in Rodinia's dwt2d (Che et al. 2009) before its wavelet transform.

use super::{Host, whole};
use crate::kernels::given::Inputs;

/// Returns the host side from the buffer `source` into `red`, `green` and `blue`.
pub(super) fn host(_: &Inputs) -> Result<Host, String> {
    Ok(Host::new(move |filled| {
        let bytes: Vec<u8> = filled.words("source")?.into_iter().flat_map(u32::to_le_bytes).collect();
        Ok(whole(filled.buffers(["red", "green", "blue"])?, move || planes(&bytes)))
    }))
}

/// Returns the planes, one after the other.
fn planes(bytes: &[u8]) -> Vec<i32> {
    (0..3).flat_map(|plane| bytes.iter().skip(plane).step_by(3).map(|&byte| i32::from(byte) - 128)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn colors_come_apart() {
        assert_eq!(super::planes(&[0, 128, 255, 1, 129, 254]), [-128, -127, 0, 1, 127, 126]);
    }
}
