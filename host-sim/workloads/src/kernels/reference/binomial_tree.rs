//! Reference `binomial-tree` for `bopt`: European call options on binomial trees. The reference
//! generates the probabilities and factors of an option, which need exponentials.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;
use rayon::prelude::*;

/// Annual risk-free interest rate and volatility (assumptions, of usual size).
const RATE: f64 = 0.02;
const VOLATILITY: f64 = 0.3;

/// Tolerance per step of the tree, relative to the price, against a double-precision reference.
/// Each step rounds to 2^-24 twice, which is 1.2e-7, and the leaves are accurate to 2^-19 (a power
/// of two with an exponent up to 62).
const TOLERANCE: f32 = 2e-7;

/// Lower limit of the price in the relative comparison (assumption: a hundredth of the smallest
/// strike).
const SMALL_PRICE: f32 = 0.01;

/// Generated parts: for each option, spot price, strike price, probabilities up and down, and the
/// sway.
pub(super) const PARTS: &[&str] = &["options"];

/// Returns the host side for `size` options with `steps` steps, into `values`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (size, steps) = (inputs.value("size")?, inputs.value("steps")? as i32);
    let mut random = Random::new(inputs.seed);
    // Same ranges as `blk`.
    let mut uniform = |low: i32, high: i32| random.integer(low, high) as f32 / 1000.0;
    let trees: Vec<Tree> =
        (0..size).map(|_| Tree::new(uniform(5_000, 30_000), uniform(1_000, 100_000), uniform(250, 10_000), steps)).collect();
    let options = trees.iter().flat_map(|tree| [tree.spot, tree.strike, tree.up, tree.down, tree.sway].map(f32::to_bits)).collect();
    let host = Host::new(move |filled| {
        let agrees = move |found: f32, expected: f32| agrees(found, expected, steps);
        Ok(Expected::floats(filled.buffer("values")?, agrees, move || trees.par_iter().map(Tree::value).collect()))
    });
    Ok(host.with("options", options))
}

/// Returns whether a price is within the tolerance of a tree of `steps`.
fn agrees(found: f32, expected: f32, steps: i32) -> bool {
    (found - expected).abs() <= TOLERANCE * steps as f32 * expected.abs().max(SMALL_PRICE)
}

/// One option in the kernel's form.
#[derive(Clone, Copy, Debug)]
struct Tree {
    spot: f32,
    strike: f32,
    /// Discounted probabilities of an upward and a downward step.
    up: f32,
    down: f32,
    /// Base-2 logarithm of the price factor of an upward step.
    sway: f32,
    steps: i32,
}

impl Tree {
    /// Creates a tree by the model of Cox, Ross and Rubinstein: the factors up and down are e^s and
    /// e^-s with s = v sqrt(dt), and the probability up is (e^(r dt) - e^-s) / (e^s - e^-s).
    fn new(spot: f32, strike: f32, years: f32, steps: i32) -> Self {
        let dt = f64::from(years) / f64::from(steps);
        let sway = VOLATILITY * dt.sqrt();
        let probability = ((RATE * dt).exp() - (-sway).exp()) / (sway.exp() - (-sway).exp());
        let discount = (-RATE * dt).exp();
        let (up, down) = ((discount * probability) as f32, (discount * (1.0 - probability)) as f32);
        Tree { spot, strike, up, down, sway: (sway / std::f64::consts::LN_2) as f32, steps }
    }

    /// Returns the present price, level by level in double precision.
    fn value(&self) -> f32 {
        let leaf = |node: i32| {
            let price = f64::from(self.spot) * (f64::from(self.sway) * f64::from(2 * node - self.steps)).exp2();
            (price - f64::from(self.strike)).max(0.0)
        };
        let mut nodes: Vec<f64> = (0..=self.steps).map(leaf).collect();
        let (up, down) = (f64::from(self.up), f64::from(self.down));
        while nodes.len() > 1 {
            nodes = nodes.windows(2).map(|pair| down * pair[0] + up * pair[1]).collect();
        }
        nodes[0] as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a strike the option equals the share for any tree, since the probabilities give a
    /// fair price.
    #[test]
    fn without_a_strike_it_is_worth_the_spot_price() {
        for (years, steps) in [(0.25, 512), (1.0, 512), (10.0, 512), (10.0, 2048)] {
            let value = Tree::new(20.0, 0.0, years, steps).value();
            assert!((value - 20.0).abs() < 20.0 * 2e-4, "{value}");
        }
    }

    /// Many steps converge to the formula of Black and Scholes. For a price and strike of 100 and a
    /// year, at 2 % interest and 30 % volatility, d1 = 13/60, d2 = -1/12 and 100 N(d1) - 100
    /// e^-0.02 N(d2) = 12.8216. The tree's error at the money is proportional to the inverse number
    /// of steps.
    #[test]
    fn it_comes_near_the_formula() {
        for (steps, near) in [(512, 0.02), (2048, 0.005)] {
            let value = Tree::new(100.0, 100.0, 1.0, steps).value();
            assert!((value - 12.8216).abs() < near, "{value}");
        }
    }
}
