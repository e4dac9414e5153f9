//! Reference `black-scholes` for `blk`: a call and a put per option by the formula of Black and
//! Scholes.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Tolerance against a double-precision reference, for prices up to 100. Each approximate
/// logarithm, exponential and division has a relative error of a few 2^-22 (PTX ISA 9.7.3), and the
/// polynomial 7.5e-8 of a price.
const TOLERANCE: f32 = 2e-4;

/// Indices of the kernel's arguments for the annual risk-free interest rate and volatility, from 0.
const ARGUMENTS: [usize; 2] = [5, 6];

/// Returns the host side from the buffers `spots`, `strikes` and `years` into `prices`, all calls
/// and then all puts.
pub(super) fn host(_: &Inputs) -> Result<Host, String> {
    Ok(Host::new(move |filled| {
        let (spots, strikes, years) = (filled.floats("spots")?, filled.floats("strikes")?, filled.floats("years")?);
        let market = [filled.float(ARGUMENTS[0])?.into(), filled.float(ARGUMENTS[1])?.into()];
        Ok(Expected::floats(filled.buffer("prices")?, agrees, move || {
            let one = |at: usize| prices_of([spots[at], strikes[at], years[at]].map(f64::from), market);
            let (calls, puts): (Vec<f32>, Vec<f32>) = (0..spots.len()).into_par_iter().map(one).unzip();
            [calls, puts].concat()
        }))
    }))
}

/// Returns whether a price is within the tolerance.
fn agrees(found: f32, expected: f32) -> bool {
    (found - expected).abs() <= TOLERANCE
}

/// Returns the call and put prices of one option.
fn prices_of([spot, strike, years]: [f64; 3], [rate, volatility]: [f64; 2]) -> (f32, f32) {
    let spread = volatility * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + volatility * volatility / 2.0) * years) / spread;
    let discounted = strike * (-rate * years).exp();
    let call = spot * normal(d1) - discounted * normal(d1 - spread);
    (call as f32, (call + discounted - spot) as f32)
}

/// Computes the normal distribution: 1/2 + density * (d + d^3/3 + d^5/(3*5) + ...), Abramowitz and
/// Stegun
/// 26.2.11. Beyond 7 it is 0 or 1 to 1.3e-12.
fn normal(d: f64) -> f64 {
    if d.abs() > 7.0 {
        return if d > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut odd) = (d, d, 1.0);
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= d * d / odd;
        sum += term;
    }
    0.5 + sum * (-d * d / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKET: [f64; 2] = [0.02, 0.3];

    /// Tabulated: Abramowitz and Stegun, table 26.1.
    #[test]
    fn the_normal_distribution_is_the_tabulated_one() {
        for (d, expected) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.0, 0.158_655_254), (2.0, 0.977_249_868), (5.0, 0.999_999_713)] {
            assert!((normal(d) - expected).abs() < 1e-9, "{d}");
        }
    }

    /// A certain option is worth the price minus the discounted strike, and an impossible one
    /// nothing.
    #[test]
    fn far_from_the_strike_prices_have_closed_forms() {
        let discount = (-MARKET[0]).exp();
        let (call, put) = prices_of([1000.0, 1.0, 1.0], MARKET);
        assert!((f64::from(call) - (1000.0 - discount)).abs() < 1e-4 && put.abs() < 1e-6, "{call} {put}");
        let (call, put) = prices_of([1.0, 1000.0, 1.0], MARKET);
        assert!(call.abs() < 1e-6 && (f64::from(put) - (1000.0 * discount - 1.0)).abs() < 1e-4, "{call} {put}");
    }
}
