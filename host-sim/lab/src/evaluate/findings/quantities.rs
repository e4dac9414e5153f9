//! Converts a run's counters to the quantities of results.

use crate::evaluate::energy::NJ_PER_J;
use crate::evaluate::record::Kept;
use crate::evaluate::results::MetricValues;
use crate::metrics::{Metrics, ratio};
use mias_hw_model::gpu::Preemption;
use mias_hw_model::sm::IssueClass;
use std::collections::BTreeMap;

/// Returns the cycles simulated, for a run that ended before its window.
pub(super) fn simulated_cycles(kept: &Kept) -> Option<u64> {
    kept.estimate.as_ref().map(|estimate| estimate.simulated_cycles)
}

pub(super) fn values(metrics: Metrics) -> MetricValues {
    let Metrics { speedup, stp, antt, fairness } = metrics;
    MetricValues { speedup, stp, antt, fairness }
}

/// Returns the fractions of issue slots by class.
pub(super) fn issue_slots(kept: &Kept) -> BTreeMap<&'static str, f64> {
    let all: u64 = kept.issue_slots.iter().sum();
    IssueClass::of(&kept.issue_slots)
        .map(|class| (class.name(), ratio(kept.issue_slots[class as usize], all).unwrap_or_default()))
        .collect()
}

/// Returns the warp instructions lost to flushes over all issued.
pub(super) fn thrown_away(kept: &Kept) -> Option<f64> {
    ratio(kept.preemptions.iter().map(Preemption::thrown_away).sum(), kept.launches.iter().map(|launch| launch.warp_insts).sum())
}

pub(super) fn joules(kept: &Kept) -> Option<f64> {
    kept.energy_nj.map(|energy| energy as f64 / NJ_PER_J)
}
