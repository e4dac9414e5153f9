//! Intervals for groups that share kernels: kernels are resampled instead of groups (sources.md
//! D194).
//!
//! A replicate draws as many kernels as there are, with replacement. The weight of a mix is the
//! product of the draw counts of its kernels. This is the product of weights of Owen and Eckles
//! 2012 with one set instead of their factors. For pairs it is the vertex bootstrap of Snijders and
//! Borgatti 1999. So a single decisive kernel widens an interval, in however many mixes it occurs.

use mias_workloads::random::Random;

/// Number of replicates: the ends of an interval then vary by some hundredths of its width (own).
pub(super) const REPLICATES: usize = 2_000;

/// Fixed seed, so that results are the same in every run (own).
const SEED: u64 = 26;

/// Minimum fraction of replicates in which a statistic must exist to have an interval (own).
const LEAST_DEFINED: f64 = 0.95;

/// Maximum number of draws of one replicate. A draw in which all mixes have weight 0 is repeated
/// (own; of three pairs without a common kernel, two in three draws are).
const MOST_DRAWS: usize = 1_000;

/// Weight of each mix in every replicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    weights: Vec<Vec<f64>>,
}

impl Resampled {
    /// Resamples mixes by the names of their kernels. With fewer than two mixes there are no
    /// replicates.
    #[must_use]
    pub fn of(mixes: &[Vec<String>]) -> Self {
        let mut kernels: Vec<&String> = mixes.iter().flatten().collect();
        kernels.sort();
        kernels.dedup();
        let places = |mix: &Vec<String>| mix.iter().filter_map(|kernel| kernels.binary_search(&kernel).ok()).collect::<Vec<usize>>();
        let places: Vec<Vec<usize>> = mixes.iter().map(places).collect();
        let mut random = Random::new(SEED);
        let mut replicate = || {
            for _ in 0..MOST_DRAWS {
                let mut times = vec![0u32; kernels.len()];
                for _ in 0..kernels.len() {
                    times[below(&mut random, kernels.len())] += 1;
                }
                let weight = |places: &Vec<usize>| places.iter().map(|&place| f64::from(times[place])).product::<f64>();
                let weights: Vec<f64> = places.iter().map(weight).collect();
                if weights.iter().any(|weight| *weight > 0.0) {
                    return Some(weights);
                }
            }
            None
        };
        let replicates = if mixes.len() < 2 { 0 } else { REPLICATES };
        Resampled { weights: (0..replicates).filter_map(|_| replicate()).collect() }
    }

    /// Returns the middle 95 % of a statistic of the mix weights over the replicates; `None` if it
    /// rarely exists.
    pub fn interval(&self, statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<(f64, f64)> {
        let mut values: Vec<f64> = self.weights.iter().filter_map(|weights| statistic(weights)).filter(|value| value.is_finite()).collect();
        if values.is_empty() || (values.len() as f64) < LEAST_DEFINED * self.weights.len() as f64 {
            return None;
        }
        values.sort_by(f64::total_cmp);
        // Drop equal numbers at either end: 50 of 2,000.
        let beyond = values.len() / 40;
        Some((values[beyond], values[values.len() - 1 - beyond]))
    }
}

/// Returns a number below `end`, uniform up to the limits of a 64-bit stream (Lemire 2019, without
/// its rejection).
pub(super) fn below(random: &mut Random, end: usize) -> usize {
    ((u128::from(random.bits()) * end as u128) >> 64) as usize
}
