//! Texture cache of an SM (sources.md D141).

use super::ranges::Range;
use super::{GpuConfig, L1Config, L1Lookup, L1Write, SetIndex};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Texture cache for fetches of texels and loads from surfaces, instead of the L1; absent: they use
/// the L1. Its lines and fetches have the sizes of the L1's. It takes one access per cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextureCacheConfig {
    /// Number of sets, a power of two.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Cycles from acceptance to hit data, without `texel_latency`.
    pub latency: u32,
    /// Number of MSHR entries.
    pub mshrs: u32,
    /// Number of requests that one MSHR entry can hold.
    pub mshr_merges: u32,
    /// Number of misses that can wait for the crossbar, at least 2.
    pub miss_queue: u32,
}

/// Valid sets, ways, latency and queues: as far above any GPU as those of the L1 (assumption),
/// and small enough that 256 SMs fit in memory.
const UP_TO: RangeInclusive<u32> = 1..=1_024;
/// Valid miss queues: a load that does not hit needs two free entries, as in the L1 (sources.md
/// D62).
const MISS_QUEUE: RangeInclusive<u32> = 2..=1_024;

type Field = (&'static str, fn(&TextureCacheConfig) -> u32, RangeInclusive<u32>);

const FIELDS: [Field; 6] = [
    ("sm.texture_cache.sets", |cache| cache.sets, UP_TO),
    ("sm.texture_cache.ways", |cache| cache.ways, UP_TO),
    ("sm.texture_cache.latency", |cache| cache.latency, UP_TO),
    ("sm.texture_cache.mshrs", |cache| cache.mshrs, UP_TO),
    ("sm.texture_cache.mshr_merges", |cache| cache.mshr_merges, UP_TO),
    ("sm.texture_cache.miss_queue", |cache| cache.miss_queue, MISS_QUEUE),
];

impl TextureCacheConfig {
    /// Configuration of an L1 with this cache's parameters. It is never written.
    pub(crate) fn as_l1(&self, l1: &L1Config) -> L1Config {
        L1Config {
            sets: self.sets,
            ways: self.ways,
            line_bytes: l1.line_bytes,
            sector_bytes: l1.sector_bytes,
            index: SetIndex::default(),
            latency: self.latency,
            lookup: L1Lookup::default(),
            banks: 1,
            mshrs: self.mshrs,
            mshr_merges: self.mshr_merges,
            miss_queue: self.miss_queue,
            write: L1Write::Evict,
            modified_floor_percent: 0,
            carve_out: Vec::new(),
            partition: None,
            miss_resources: None,
        }
    }
}

/// First invalid field: key, value and remedy.
pub(super) fn refused(gpu: &GpuConfig) -> Option<(&'static str, u32, &'static str)> {
    let cache = gpu.sm.texture_cache.as_ref()?;
    if !cache.sets.is_power_of_two() {
        return Some(("sm.texture_cache.sets", cache.sets, "must be a power of two"));
    }
    FIELDS.iter().map(|(key, of, range)| (*key, of(cache), range)).find(|(_, value, range)| !range.contains(value)).map(
        |(key, value, range)| {
            let least_two = *range.start() == 2;
            let remedy = if least_two {
                "must be 2 to 1024: a miss keeps a place free"
            } else {
                "must be 1 to 1024; without the table fetches go through the L1"
            };
            (key, value, remedy)
        },
    )
}

/// Ranges of the texture cache's fields, for the schema.
pub(super) fn ranges() -> impl Iterator<Item = Range> {
    FIELDS.into_iter().map(|(key, _, within)| Range { key: key.into(), within, multiple_of: 1, power_of_two: key.ends_with(".sets") })
}
