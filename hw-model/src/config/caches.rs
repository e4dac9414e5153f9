//! Caches of a GPU file (sources.md D62, D121).

use super::{MissResourcesConfig, PartitionConfig, ranges};
use serde::{Deserialize, Serialize};

/// First-level data cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L1Config {
    /// Number of sets.
    pub sets: u32,
    /// Ways per set, unless `carve_out` overrides them.
    pub ways: u32,
    /// Bytes per line.
    pub line_bytes: u32,
    /// Bytes that a miss fetches: 32, a sector; or `line_bytes`, for a cache without sectors.
    pub sector_bytes: u32,
    /// Set index function; absent: linear.
    #[serde(default, skip_serializing_if = "SetIndex::is_linear")]
    pub index: SetIndex,
    /// Cycles from acceptance to hit data.
    pub latency: u32,
    /// Time of the tag look-up; absent: after the latency.
    #[serde(default, skip_serializing_if = "L1Lookup::is_usual")]
    pub lookup: L1Lookup,
    /// Number of banks, interleaved by sector; each serves one sector per cycle.
    pub banks: u32,
    /// Number of MSHR entries.
    pub mshrs: u32,
    /// Number of requests that one MSHR entry can hold.
    pub mshr_merges: u32,
    /// Number of misses that can wait for the crossbar.
    pub miss_queue: u32,
    /// Handling of stores.
    pub write: L1Write,
    /// Lower bound for evicting written lines: one may be evicted only while at least this
    /// percentage of all lines is written; 0: always.
    pub modified_floor_percent: u32,
    /// Carve-out of an array shared with shared memory, sorted by `shared_up_to_bytes`; empty:
    /// none.
    pub carve_out: Vec<CarveOut>,
    /// Ownership of ways by kernel; absent: no way has an owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionConfig>,
    /// Division of MSHRs, miss-queue entries and lines in flight among kernels; absent: first come,
    /// first served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss_resources: Option<MissResourcesConfig>,
}

impl L1Config {
    /// Logarithm of the sectors per fetch, a power of two.
    pub(crate) fn fetch_bits(&self) -> u32 {
        (self.sector_bytes / ranges::SECTOR_BYTES).trailing_zeros()
    }
}

/// Time of the L1's tag look-up (sources.md D121).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum L1Lookup {
    /// At the end of the bank's pipeline. A refused access blocks its bank.
    #[default]
    AfterLatency,
    /// At the head of the load/store unit, with the hit latency after it. A refused access blocks
    /// the unit.
    AtHead,
}

impl L1Lookup {
    /// True for the default, which a file may omit.
    fn is_usual(&self) -> bool {
        *self == L1Lookup::AfterLatency
    }
}

/// Handling of a store in the L1. The data goes to the L2 at once in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum L1Write {
    /// Write-through with allocation: the bytes are kept. A later read of a sector that is only
    /// partly written fetches it (lazy fetch on read).
    ThroughAllocate,
    /// Write-evict: the sector is dropped if present; nothing is allocated.
    Evict,
}

/// One step of the carve-out: number of L1 ways up to an amount of shared memory in use per SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CarveOut {
    /// Shared memory per SM up to which this step applies, in bytes.
    pub shared_up_to_bytes: u32,
    /// Number of L1 ways that remain.
    pub l1_ways: u32,
}

/// Second-level cache. The numbers are per slice (memory sub-partition).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Slices per memory channel.
    pub slices_per_channel: u32,
    /// Number of sets.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Bytes per line.
    pub line_bytes: u32,
    /// Bytes that a miss fetches, equal to those of the L1.
    pub sector_bytes: u32,
    /// Set index function.
    pub index: SetIndex,
    /// Handling of a write miss; absent: `lazy-fetch`.
    #[serde(default, skip_serializing_if = "L2WriteMiss::is_usual")]
    pub write_miss: L2WriteMiss,
    /// Number of MSHR entries.
    pub mshrs: u32,
    /// Number of requests that one MSHR entry can hold.
    pub mshr_merges: u32,
    /// Number of misses that can wait for DRAM.
    pub miss_queue: u32,
    /// L2 cycles from the crossbar's exit to the slice's tag look-up (Accel-Sim's "ROP latency").
    pub latency: u32,
    /// Bytes of hit data that a slice moves per L2 cycle.
    pub port_bytes: u32,
    /// Number of requests that can wait between crossbar and slice, slice and DRAM, DRAM and slice,
    /// slice and crossbar.
    pub queues: L2Queues,
    /// Ownership of ways by kernel; absent: no way has an owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionConfig>,
}

/// Handling of a write miss in the L2. It allocates in both cases (sources.md D121).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum L2WriteMiss {
    /// The bytes are kept, and the missing bytes of the sector are fetched at its next read. The
    /// write is acknowledged at once.
    #[default]
    LazyFetch,
    /// The write goes to DRAM, which acknowledges it, and the missing bytes are fetched at once.
    Fetch,
}

impl L2Config {
    /// Logarithm of the sectors per fetch, a power of two.
    pub(crate) fn fetch_bits(&self) -> u32 {
        (self.sector_bytes / ranges::SECTOR_BYTES).trailing_zeros()
    }
}

impl L2WriteMiss {
    /// True for the default, which a file may omit.
    fn is_usual(&self) -> bool {
        *self == L2WriteMiss::LazyFetch
    }
}

/// Queue depths around an L2 slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L2Queues {
    /// Crossbar to slice.
    pub from_crossbar: u32,
    /// Slice to DRAM.
    pub to_dram: u32,
    /// DRAM to slice.
    pub from_dram: u32,
    /// Slice to crossbar.
    pub to_crossbar: u32,
}

/// Index function of a cache's sets, or of the slices of all channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// Low bits.
    #[default]
    Linear,
    /// Irreducible-polynomial hash (Rau 1991), for at most 4,096 sets.
    Ipoly,
    /// Low bits xor some higher ones, as GPGPU-Sim does for its Fermi: only for a cache of 32 or 64
    /// sets with lines of 128 bytes.
    Xor,
}

impl SetIndex {
    /// Maximum number of sets for [`SetIndex::Ipoly`].
    pub(crate) const MOST_IPOLY_SETS: u32 = 4_096;

    /// Numbers of sets for which [`SetIndex::Xor`] is defined.
    pub(crate) const XOR_SETS: [u32; 2] = [32, 64];

    /// Line size for which [`SetIndex::Xor`] is defined, in bytes.
    pub(crate) const XOR_LINE_BYTES: u32 = 128;

    /// True for the default of the slices, which a file may omit.
    pub(super) fn is_linear(&self) -> bool {
        *self == SetIndex::Linear
    }
}
