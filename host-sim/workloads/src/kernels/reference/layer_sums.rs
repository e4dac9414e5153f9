//! Reference `layer-sums` for `bp`: contributions of groups of 16 inputs to each hidden unit of a
//! neural network. They are sums of inputs times weights, as in layerforward of Rodinia's backprop.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Inputs that a TB sums.
const GROUP: usize = 16;

/// Tolerance against a double-precision reference: 16 products below 1 are each rounded to 2^-25,
/// and summed by a tree of four additions below 16, each rounded to 2^-21.
const TOLERANCE: f32 = 2.5e-6;

/// Returns the host side from the buffers `patterns` and `weights`, which begin with the bias, into
/// `partial`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (units, hidden) = (inputs.value("size")? as usize, inputs.value("hidden")? as usize);
    Ok(Host::new(move |filled| {
        let (patterns, weights) = (filled.floats("patterns")?, filled.floats("weights")?);
        let agrees = |found: f32, expected: f32| (found - expected).abs() <= TOLERANCE;
        Ok(Expected::floats(filled.buffer("partial")?, agrees, move || sums(&patterns, &weights, units, hidden)))
    }))
}

/// Returns the sums by pattern, group of inputs and hidden unit.
fn sums(patterns: &[f32], weights: &[f32], units: usize, hidden: usize) -> Vec<f32> {
    let mut all = Vec::with_capacity(patterns.len() / GROUP * hidden);
    for pattern in patterns.chunks(units + 1) {
        for first in (1..=units).step_by(GROUP) {
            for unit in 1..=hidden {
                let product = |input: usize| f64::from(pattern[input]) * f64::from(weights[input * (hidden + 1) + unit]);
                all.push((first..first + GROUP).map(product).sum::<f64>() as f32);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs of 1 sum their weights, without those of the bias: row and column 0.
    #[test]
    fn sums_leave_the_bias_out() {
        let (units, hidden) = (32, 2);
        let weights: Vec<f32> = (0..=units).flat_map(|input| [1000.0, input as f32, -(input as f32)]).collect();
        let pattern = vec![1.0; units + 1];
        let (low, high) = ((1..=16).sum::<i32>() as f32, (17..=32).sum::<i32>() as f32);
        assert_eq!(sums(&pattern, &weights, units, hidden), [low, -low, high, -high]);
    }
}
