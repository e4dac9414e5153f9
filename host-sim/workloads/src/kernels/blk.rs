//! `blk`: prices of European options by the formula of Black and Scholes (`kernels/cuda-samples/blk/blk.cu`; Nasef 2023, section 4.1.2, SDK
//! `BlackScholes`).

use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType};
use crate::random::Random;
use mias_ptx::{Arg, DeviceMemory, Launch};
use rayon::prelude::*;

/// Threads per TB.
const THREADS: u64 = 128;

/// Options per TB: two per thread.
const OPTIONS: u64 = 2 * THREADS;

/// Most options: indices and byte offsets of a stream stay below 2^31.
const MAX_OPTIONS: u64 = 1 << 28;

/// Yearly interest without risk, and volatility (assumptions, of usual size).
const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

/// Largest difference to the reference in double precision, for prices up to 100: a few 2^-22 relative from each approximate
/// logarithm, exponential and division (PTX ISA 9.7.3), and the polynomial's 7.5e-8 of a price.
const TOLERANCE: f32 = 2e-4;

/// `size` options.
#[derive(Debug)]
pub(super) struct Blk;

impl Kernel for Blk {
    fn name(&self) -> &'static str {
        "blk"
    }

    fn description(&self) -> &'static str {
        "Black-Scholes prices of a call and a put per option"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Memory
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/cuda-samples/blk/blk.ptx",
            ptx: include_str!("../../../../kernels/cuda-samples/blk/blk.ptx"),
            report_file: "kernels/cuda-samples/blk/blk.ptxas.txt",
            report: include_str!("../../../../kernels/cuda-samples/blk/blk.ptxas.txt"),
        }
    }

    /// 16,384 TBs on 80 MiB of data.
    fn default_size(&self) -> u64 {
        1 << 22
    }

    fn size_unit(&self) -> &'static str {
        "options, a multiple of 256"
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let (size, seed) = (input.size.unwrap_or(self.default_size()), input.seed);
        if size == 0 || !size.is_multiple_of(OPTIONS) || size > MAX_OPTIONS {
            return Err(KernelError::Size { kernel: self.name(), size, message: "must be a multiple of 256, from 256 to 268435456" });
        }
        let mut random = Random::new(seed);
        // Prices of 5 to 30 at strikes of 1 to 100 in 0.25 to 10 years, in thousandths: the ranges of the SDK's example.
        let mut uniform = |low: i32, high: i32| -> Vec<f32> { (0..size).map(|_| random.integer(low, high) as f32 / 1000.0).collect() };
        let (spots, strikes, years) = (uniform(5_000, 30_000), uniform(1_000, 100_000), uniform(250, 10_000));
        let mut memory = DeviceMemory::new();
        // Calls, then puts.
        let prices = memory.allocate(std::iter::repeat_n(f32::NAN.to_bits(), 2 * size as usize));
        let mut upload = |values: &[f32]| Arg::U64(memory.allocate(values.iter().map(|v| v.to_bits())).address);
        let inputs = [upload(&spots), upload(&strikes), upload(&years)];
        let mut args = vec![Arg::U64(prices.address), Arg::U64(prices.address + 4 * size)];
        args.extend(inputs);
        args.extend([Arg::F32(RATE), Arg::F32(VOLATILITY)]);
        let launch = Launch { grid: [(size / OPTIONS) as u32, 1, 1], block: [THREADS as u32, 1, 1], args, shared_bytes: 0 };
        let expected = Expected::floats(prices, agrees, move || {
            let one = |at: usize| prices_of(spots[at].into(), strikes[at].into(), years[at].into());
            let (calls, puts): (Vec<f32>, Vec<f32>) = (0..spots.len()).into_par_iter().map(one).unzip();
            [calls, puts].concat()
        });
        Ok(Instance { memory, entry: "blk".into(), launch, expected: Some(expected) })
    }
}

/// To within the tolerance.
fn agrees(found: f32, expected: f32) -> bool {
    (found - expected).abs() <= TOLERANCE
}

/// Call and put of one option.
fn prices_of(spot: f64, strike: f64, years: f64) -> (f32, f32) {
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let spread = volatility * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + volatility * volatility / 2.0) * years) / spread;
    let discounted = strike * (-rate * years).exp();
    let call = spot * normal(d1) - discounted * normal(d1 - spread);
    (call as f32, (call + discounted - spot) as f32)
}

/// The normal distribution: 1/2 + density * (d + d^3/3 + d^5/(3*5) + ...), Abramowitz and Stegun 26.2.11. Beyond 7 it is 0 or 1 to
/// 1.3e-12.
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

    /// Tabulated: Abramowitz and Stegun, table 26.1.
    #[test]
    fn the_normal_distribution_is_the_tabulated_one() {
        for (d, expected) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.0, 0.158_655_254), (2.0, 0.977_249_868), (5.0, 0.999_999_713)] {
            assert!((normal(d) - expected).abs() < 1e-9, "{d}");
        }
    }

    /// An option that is certain to be used is worth the price less the discounted strike; one that never is, nothing.
    #[test]
    fn far_from_the_strike_prices_have_closed_forms() {
        let discount = (-f64::from(RATE)).exp();
        let (call, put) = prices_of(1000.0, 1.0, 1.0);
        assert!((f64::from(call) - (1000.0 - discount)).abs() < 1e-4 && put.abs() < 1e-6, "{call} {put}");
        let (call, put) = prices_of(1.0, 1000.0, 1.0);
        assert!(call.abs() < 1e-6 && (f64::from(put) - (1000.0 * discount - 1.0)).abs() < 1e-4, "{call} {put}");
    }
}
