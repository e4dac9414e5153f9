//! Effective bandwidth (Wang et al. 2018): the SMs are split evenly, and the active warps of each
//! kernel are limited so that the kernels' effective bandwidths score best.
//!
//! Only the abstract of their text was available to us; sources.md D159 lists our additions.
//! `effective.rs` defines effective bandwidth and its metrics, and `tuning.rs` the tried limits.
//! Every step is the two windows of a search.

mod effective;
mod tuning;

pub use effective::EbMetric;
pub use tuning::{LEVELS, MOST_TUNED, Tuning};

use effective::effective_bandwidth;

use crate::search::{Limits, Search, Searches};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;

/// State of the effective-bandwidth policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveBandwidth {
    /// Metric over the effective bandwidths.
    pub metric: EbMetric,
    /// Limits on active warps, after the start of the search.
    tuning: Option<Tuning>,
}

impl Searches for EffectiveBandwidth {
    fn begin(&mut self) {
        self.tuning = None;
    }

    #[inline(never)]
    fn search(&mut self, context: &Context<'_>, search: &mut Search) -> Next {
        let Some(tuning) = &mut self.tuning else {
            self.tuning = Some(Tuning::new(warps(context)));
            return Next::Measure;
        };
        let mut bandwidths = [0; MAX_KERNELS];
        let kernels = search.shares.kernels();
        bandwidths.iter_mut().zip(&search.counts).for_each(|(bandwidth, counts)| *bandwidth = effective_bandwidth(counts));
        let score = self.metric.score(bandwidths.get(..kernels).unwrap_or(&[]));
        if tuning.measured(score, kernels) { Next::Measure } else { search.settle() }
    }

    fn give_up(&mut self, _: &mut Search) {
        if let Some(tuning) = &mut self.tuning {
            tuning.settle();
        }
    }

    fn limits(&self) -> Option<Limits> {
        Some(self.tuning.map_or([0; MAX_KERNELS], |tuning| tuning.limits()))
    }
}

impl EffectiveBandwidth {
    /// Creates a policy without any trial.
    #[must_use]
    pub const fn new(metric: EbMetric) -> Self {
        Self { metric, tuning: None }
    }
}

/// Returns the warps of each kernel per warp scheduler on an SM that is full of its TBs, rounded
/// up.
fn warps(context: &Context<'_>) -> [u8; MAX_KERNELS] {
    let mut warps = [0; MAX_KERNELS];
    for (warps, kernel) in warps.iter_mut().zip(context.kernels) {
        let per_tb = kernel.demand.threads.div_ceil(context.gpu.limits.warp_threads.max(1));
        let all = u32::from(kernel.max_tbs).saturating_mul(per_tb);
        *warps = u8::try_from(all.div_ceil(context.gpu.schedulers.max(1))).unwrap_or(u8::MAX);
    }
    warps
}
