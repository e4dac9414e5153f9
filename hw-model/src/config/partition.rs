//! Ownership of cache ways and division of the L1's miss resources among kernels (sources.md D124
//! and D125).

use super::{GpuConfig, L1Config};
use mias_registers::KERNEL_SLOTS;
use serde::{Deserialize, Serialize};

/// Maximum number of ways of a cache with owned ways: shares and positions of a monitor have 10
/// bits (assumption).
const MOST_WAYS: u32 = 1_024;

/// Minimum period in cycles, which leaves the controller time for a division (assumption).
const LEAST_PERIOD_CYCLES: u32 = 100;

/// Ownership of the ways of a cache; absent: no way has an owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PartitionConfig {
    /// Method of dividing the ways.
    pub by: Partition,
    /// With fixed ways: number of ways by kernel slot; slots beyond the list have one each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<u32>,
    /// Cycles between two divisions by utility: core cycles in the L1, L2 cycles in the L2.
    pub period_cycles: u32,
    /// Number of sets that a monitor watches, a power of two; a cache with fewer sets watches all.
    pub sampled_sets: u32,
}

impl Default for PartitionConfig {
    fn default() -> Self {
        PartitionConfig { by: Partition::Shared, ways: Vec::new(), period_cycles: 50_000, sampled_sets: 32 }
    }
}

impl PartitionConfig {
    /// True if the cache has utility monitors.
    pub(crate) fn watches(&self) -> bool {
        matches!(self.by, Partition::Ucp | Partition::UcpRate)
    }
}

/// Method of dividing the ways of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Partition {
    /// No division: any kernel may take any line.
    #[default]
    Shared,
    /// Fixed division from the file.
    Fixed,
    /// Division by the hardware, from the hits that each kernel would have with more ways: UCP.
    Ucp,
    /// UCP in which the hits of a kernel count less if it accesses the cache more than ten times as
    /// often as another.
    UcpRate,
}

/// Division of the L1's miss resources among kernels: MSHRs, miss-queue entries, and lines in
/// flight of each set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MissResourcesConfig {
    /// Method of division.
    pub by: MissDivision,
    /// With weights: one per kernel slot, 1 to 1,024; 1 for slots beyond the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<u32>,
}

/// Method of dividing the L1's miss resources among the kernels on an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissDivision {
    /// First come, first served.
    #[default]
    Shared,
    /// Equal shares.
    Equal,
    /// Shares by `weights`.
    Weights,
}

impl L1Config {
    /// Minimum number of ways of the L1 over all carve-outs.
    pub fn least_ways(&self) -> u32 {
        self.carve_out.iter().map(|step| step.l1_ways).fold(self.ways, u32::min)
    }

    /// Maximum number of ways of the L1 over all carve-outs.
    pub(crate) fn most_ways(&self) -> u32 {
        self.carve_out.iter().map(|step| step.l1_ways).fold(self.ways, u32::max)
    }
}

/// Keys of a cache's partition: ways of its kernels, period, and sets of its monitors.
type Keys = (&'static str, &'static str, &'static str);

/// First invalid field: key, value and remedy.
pub(super) fn refused(gpu: &GpuConfig) -> Option<(&'static str, u32, &'static str)> {
    let l1: Keys = ("l1.partition.ways", "l1.partition.period_cycles", "l1.partition.sampled_sets");
    let l2: Keys = ("l2.partition.ways", "l2.partition.period_cycles", "l2.partition.sampled_sets");
    let of = |keys: Keys, config: &Option<PartitionConfig>, least, most| config.as_ref().and_then(|config| ways(keys, config, least, most));
    of(l1, &gpu.l1.partition, gpu.l1.least_ways(), gpu.l1.most_ways())
        .or_else(|| of(l2, &gpu.l2.partition, gpu.l2.ways, gpu.l2.ways))
        .or_else(|| gpu.l1.miss_resources.as_ref().and_then(miss_resources))
}

fn ways(keys: Keys, config: &PartitionConfig, least: u32, most: u32) -> Option<(&'static str, u32, &'static str)> {
    let (ways, period, sets) = keys;
    let given = config.ways.len() as u32;
    if (config.by == Partition::Fixed) == config.ways.is_empty() {
        return Some((ways, given, "numbers: by = \"fixed\" needs one for each kernel, and no other division has any"));
    }
    if config.ways.len() > KERNEL_SLOTS {
        return Some((ways, given, "numbers, and there are 8 kernel slots"));
    }
    if config.ways.contains(&0) {
        return Some((ways, 0, "must be at least 1 for each kernel"));
    }
    let sum = config.ways.iter().fold(0, |sum: u32, &more| sum.saturating_add(more));
    if sum > least {
        return Some((ways, sum, "in sum must be at most the ways that the cache has (l1: at every step of carve_out, too)"));
    }
    if config.by != Partition::Shared && most > MOST_WAYS {
        return Some((ways, most, "ways are more than can be owned: at most 1024; use by = \"shared\""));
    }
    if config.period_cycles < LEAST_PERIOD_CYCLES {
        return Some((period, config.period_cycles, "must be at least 100 cycles"));
    }
    (!config.sampled_sets.is_power_of_two()).then_some((sets, config.sampled_sets, "must be a power of two"))
}

fn miss_resources(config: &MissResourcesConfig) -> Option<(&'static str, u32, &'static str)> {
    let key = "l1.miss_resources.weights";
    let given = config.weights.len() as u32;
    if (config.by == MissDivision::Weights) == config.weights.is_empty() {
        return Some((key, given, "numbers: by = \"weights\" needs some, and no other division has any"));
    }
    if config.weights.len() > KERNEL_SLOTS {
        return Some((key, given, "numbers, and there are 8 kernel slots"));
    }
    let wrong = config.weights.iter().copied().find(|weight| !(1..=1_024).contains(weight));
    wrong.map(|weight| (key, weight, "must be 1 to 1024"))
}
