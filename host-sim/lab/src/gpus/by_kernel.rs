//! Per-kernel values in a GPU's file.

use mias_hw_model::config::GpuConfig;

/// Returns the lists of a GPU with a number for each kernel in launch order: dotted key and
/// length. Empty ones are left out.
pub fn numbers_by_kernel(gpu: &GpuConfig) -> Vec<(&'static str, usize)> {
    let issue = gpu.sm.memory_issue.as_ref();
    let all = [
        ("sm.memory_issue.limits", issue.map(|issue| issue.limits.len())),
        ("sm.memory_issue.warp_quota", issue.map(|issue| issue.warp_quota.len())),
        ("sm.active_warps", Some(gpu.sm.active_warps.len())),
        ("l1.partition.ways", gpu.l1.partition.as_ref().map(|partition| partition.ways.len())),
        ("l1.miss_resources.weights", gpu.l1.miss_resources.as_ref().map(|resources| resources.weights.len())),
        ("l2.partition.ways", gpu.l2.partition.as_ref().map(|partition| partition.ways.len())),
        ("dram.scheduler.shares", gpu.dram.scheduler.as_ref().map(|scheduler| scheduler.shares.len())),
    ];
    all.into_iter().filter_map(|(key, numbers)| numbers.filter(|numbers| *numbers > 0).map(|numbers| (key, numbers))).collect()
}
