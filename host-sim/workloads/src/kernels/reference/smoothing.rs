//! Reference `smoothing` for `preempt`: a signal whose samples are repeatedly replaced by the
//! weighted mean of themselves and their neighbors.

use super::{Host, floats};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Index of the kernel's argument for the share of the neighbors, from 0.
const SHARE: usize = 4;

/// Returns the host side from the buffer `before` into `after`, `steps` times.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let steps = inputs.value("steps")?;
    Ok(Host::new(move |filled| {
        let (before, share) = (filled.floats("before")?, filled.float(SHARE)?);
        Ok(floats(filled.buffers(["after"])?, Expected::equal, move || (0..steps).fold(before.clone(), |signal, _| smooth(&signal, share))))
    }))
}

/// Computes one smoothing pass in the kernel's order of operations. The ends extend beyond the
/// signal.
fn smooth(signal: &[f32], share: f32) -> Vec<f32> {
    let sample = |at: usize| {
        let around = signal[at.saturating_sub(1)] + signal[(at + 1).min(signal.len() - 1)];
        share.mul_add((-2.0f32).mul_add(signal[at], around), signal[at])
    };
    (0..signal.len()).map(sample).collect()
}

#[cfg(test)]
mod tests {
    /// A sample spreads to its neighbors, and the sum is conserved.
    #[test]
    fn a_peak_becomes_flat() {
        assert_eq!(super::smooth(&[0.0, 4.0, 0.0, 0.0], 0.25), [1.0, 2.0, 1.0, 0.0]);
        assert_eq!(super::smooth(&[4.0, 0.0], 0.25), [3.0, 1.0]);
    }
}
