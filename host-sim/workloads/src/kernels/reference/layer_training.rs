//! References `layer-products` for `bpl` and `layer-moves` for `bpa`: training of one layer of a
//! neural network in place, as in Rodinia's backprop (Che et al. 2009). The first is the forward
//! pass, the second the backward pass. They use the kernels' order of operations, so results are
//! equal bit for bit.

use super::{Host, floats};
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Inputs that a TB sums.
const GROUP: usize = 16;

/// Learning rate and momentum of a weight, as in Rodinia.
const RATE: f64 = 0.3;
const MOMENTUM: f64 = 0.3;

/// Returns the host side from the buffers `inputs` and `weights`, which begin with the bias, into
/// `weights` and `partial`.
pub(super) fn products(inputs: &Inputs) -> Result<Host, String> {
    let width = inputs.value("hidden")? as usize + 1;
    Ok(Host::new(move |filled| {
        let (given, weights) = (filled.floats("inputs")?, filled.floats("weights")?);
        Ok(floats(filled.buffers(["weights", "partial"])?, Expected::equal, move || {
            let mut weights = weights.clone();
            let sums = (1..given.len()).step_by(GROUP).flat_map(|first| trees(&given, &mut weights, first, width)).collect();
            [weights, sums].concat()
        }))
    }))
}

/// Stores a group's products in place of the weights and sums them by trees; the sums of one hidden
/// unit after the other.
fn trees(inputs: &[f32], weights: &mut [f32], first: usize, width: usize) -> Vec<f32> {
    let tree = |unit: usize| {
        let mut products: [f32; GROUP] = std::array::from_fn(|at| weights[(first + at) * width + unit] * inputs[first + at]);
        for span in [1, 2, 4, 8] {
            (0..GROUP).step_by(2 * span).for_each(|at| products[at] += products[at + span]);
        }
        (0..GROUP).for_each(|at| weights[(first + at) * width + unit] = products[at]);
        products[0]
    };
    (1..width).map(tree).collect()
}

/// Returns the host side from the buffers `errors`, `inputs`, `weights` and `moves`, which begin
/// with the bias, into the last two.
pub(super) fn moves(inputs: &Inputs) -> Result<Host, String> {
    let width = inputs.value("hidden")? as usize + 1;
    Ok(Host::new(move |filled| {
        let (errors, given) = (filled.floats("errors")?, filled.floats("inputs")?);
        let (weights, moves) = (filled.floats("weights")?, filled.floats("moves")?);
        Ok(floats(filled.buffers(["weights", "moves"])?, Expected::equal, move || {
            let moved = |at: usize| {
                let (input, unit) = (at / width, at % width);
                moved(weights[at], moves[at], errors[unit], if input == 0 { 1.0 } else { given[input] })
            };
            // The bias of the hidden layer has no inputs.
            let each = |at: usize| if at.is_multiple_of(width) { (weights[at], moves[at]) } else { moved(at) };
            let (weights, moves): (Vec<f32>, Vec<f32>) = (0..weights.len()).map(each).unzip();
            [weights, moves].concat()
        }))
    }))
}

/// Returns the new value of a weight, and its change.
fn moved(weight: f32, before: f32, error: f32, input: f32) -> (f32, f32) {
    let by = (RATE * f64::from(error)).mul_add(input.into(), MOMENTUM * f64::from(before));
    ((f64::from(weight) + by) as f32, by as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of 1 become the inputs, and the tree's inner sums.
    #[test]
    fn sums_stay_in_the_weights() {
        let inputs: Vec<f32> = (0..=16u8).map(f32::from).collect();
        let mut weights = vec![1.0; 17 * 2];
        assert_eq!(trees(&inputs, &mut weights, 1, 2), [136.0]);
        let column: Vec<f32> = weights.iter().skip(1).step_by(2).copied().collect();
        assert_eq!(column[..10], [1.0, 136.0, 2.0, 7.0, 4.0, 26.0, 6.0, 15.0, 8.0, 100.0]);
        assert!(weights.iter().step_by(2).all(|&bias| bias == 1.0));
    }

    #[test]
    fn a_weight_moves_on() {
        assert_eq!(moved(1.0, 0.0, 0.0, 1.0), (1.0, 0.0));
        let (weight, by) = moved(1.0, 1.0, 1.0, 1.0);
        assert!((weight - 1.6).abs() < 1e-6 && (by - 0.6).abs() < 1e-6);
    }
}
