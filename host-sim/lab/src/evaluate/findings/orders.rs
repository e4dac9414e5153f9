//! Makespans relative to left-over, for the same launch order and for the other.

use crate::evaluate::results::{PolicyResult, StudyResult};
use crate::experiment::policy::Policy;
use crate::experiment::recorded::name_of;
use crate::metrics::ratio;
use std::collections::BTreeMap;

/// Returns the makespan of left-over among the results of a group.
fn left_over(policies: &[PolicyResult]) -> Option<u64> {
    policies.iter().find(|result| result.policy == Policy::LeftOver.name()).and_then(|result| result.makespan_cycles)
}

/// Compares makespans with left-over in the same order.
pub(super) fn compare_to_left_over(policies: &mut [PolicyResult]) {
    let same = left_over(policies);
    for row in policies {
        row.makespan_speedup_left_over = same.zip(row.makespan_cycles).and_then(|(left_over, own)| ratio(left_over, own));
    }
}

/// Compares every group with the same kernels launched in reverse, in an otherwise equal study of
/// the same experiment.
pub(super) fn compare_orders(results: &mut [StudyResult]) {
    let rest = |study: &StudyResult| {
        let setting: Vec<_> = study.setting.iter().filter(|(key, _)| key != "order").cloned().collect();
        (study.experiment.clone(), study.gpu_hash.clone(), setting)
    };
    let mut makespans = BTreeMap::new();
    for study in &*results {
        for group in &study.groups {
            makespans.insert((rest(study), group.kernels.clone()), left_over(&group.policies));
        }
    }
    for study in results {
        let of_study = rest(study);
        for group in &mut study.groups {
            let reversed: Vec<String> = group.kernels.iter().rev().map(|name| name_of(name).to_owned()).collect();
            let other = makespans.get(&(of_study.clone(), reversed)).copied().flatten();
            for row in &mut group.policies {
                row.makespan_speedup_left_over_reversed = other.zip(row.makespan_cycles).and_then(|(other, own)| ratio(other, own));
            }
        }
    }
}
