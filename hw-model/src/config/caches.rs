//! The caches of a machine as data (sources.md D62, D121).

use super::{MissResourcesConfig, PartitionConfig, ranges};
use serde::{Deserialize, Serialize};

/// First-level data cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L1Config {
    /// Sets.
    pub sets: u32,
    /// Ways per set, unless `carve_out` says otherwise.
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
    /// When an access is looked up; absent: after the latency.
    #[serde(default, skip_serializing_if = "L1Lookup::is_usual")]
    pub lookup: L1Lookup,
    /// Banks, interleaved by sector; each serves one sector per cycle.
    pub banks: u32,
    /// MSHR entries.
    pub mshrs: u32,
    /// Requests that one MSHR entry can hold.
    pub mshr_merges: u32,
    /// Misses waiting for the crossbar.
    pub miss_queue: u32,
    /// What a store does.
    pub write: L1Write,
    /// A written line may be evicted only while at least this share of all lines is written, in percent; 0: always.
    pub modified_floor_percent: u32,
    /// Empty, or the machine's carve-out of a common array, sorted by `shared_up_to_bytes`.
    pub carve_out: Vec<CarveOut>,
    /// Who owns which ways; absent: nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionConfig>,
    /// Who may have which MSHRs, places in the miss queue and lines on their way; absent: who comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss_resources: Option<MissResourcesConfig>,
}

impl L1Config {
    /// Sectors that are fetched at once, a power of two: its logarithm.
    pub(crate) fn fetch_bits(&self) -> u32 {
        (self.sector_bytes / ranges::SECTOR_BYTES).trailing_zeros()
    }
}

/// When the L1 looks an access up (sources.md D121).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum L1Lookup {
    /// At the end of its bank's pipeline. One that is refused holds up its bank.
    #[default]
    AfterLatency,
    /// At the head of the load/store unit, with the latency of a hit after it. One that is refused holds up the unit.
    AtHead,
}

impl L1Lookup {
    /// What a file need not say.
    fn is_usual(&self) -> bool {
        *self == L1Lookup::AfterLatency
    }
}

/// What a store does in the L1. In both cases its data goes on to the L2 at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum L1Write {
    /// Write-through with allocation: the bytes are kept, and a later read of a sector of which not all bytes were
    /// written fetches it (lazy fetch on read).
    ThroughAllocate,
    /// Write-evict: the sector is dropped if present; nothing is allocated.
    Evict,
}

/// One step of the carve-out: up to so much shared memory in use per SM, so many L1 ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CarveOut {
    /// Shared memory per SM up to which this step applies.
    pub shared_up_to_bytes: u32,
    /// L1 ways that remain.
    pub l1_ways: u32,
}

/// Second-level cache. The numbers are per slice (memory sub-partition).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Slices per memory channel.
    pub slices_per_channel: u32,
    /// Sets.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Bytes per line.
    pub line_bytes: u32,
    /// Bytes that a miss fetches: those of the L1.
    pub sector_bytes: u32,
    /// Set index function.
    pub index: SetIndex,
    /// What a write that misses does; absent: `lazy-fetch`.
    #[serde(default, skip_serializing_if = "L2WriteMiss::is_usual")]
    pub write_miss: L2WriteMiss,
    /// MSHR entries.
    pub mshrs: u32,
    /// Requests that one MSHR entry can hold.
    pub mshr_merges: u32,
    /// Misses waiting for DRAM.
    pub miss_queue: u32,
    /// L2 cycles from the crossbar's exit to the slice's tag look-up (the peer's "ROP latency").
    pub latency: u32,
    /// Bytes of hit data that a slice moves per L2 cycle.
    pub port_bytes: u32,
    /// Requests that can wait between crossbar and slice, slice and DRAM, DRAM and slice, slice and crossbar.
    pub queues: L2Queues,
    /// Who owns which ways; absent: nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionConfig>,
}

/// What a write that misses in the L2 does. It allocates in both cases (sources.md D121).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum L2WriteMiss {
    /// The bytes are kept, and what misses of the sector is fetched when it is read. The write is acknowledged at once.
    #[default]
    LazyFetch,
    /// The write goes on to DRAM, which acknowledges it, and what it misses is fetched at once.
    Fetch,
}

impl L2Config {
    /// Sectors that are fetched at once, a power of two: its logarithm.
    pub(crate) fn fetch_bits(&self) -> u32 {
        (self.sector_bytes / ranges::SECTOR_BYTES).trailing_zeros()
    }
}

impl L2WriteMiss {
    /// What a file need not say.
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

/// Index function: of a cache's sets, or of the slices of all channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// Low bits.
    #[default]
    Linear,
    /// Irreducible-polynomial hash (Rau 1991), for at most 4,096 sets.
    Ipoly,
    /// Low bits xor some higher ones, as GPGPU-Sim does for its Fermi: a cache's sets only, 32 or 64 of them with lines of 128 bytes.
    Xor,
}

impl SetIndex {
    /// The most sets that [`SetIndex::Ipoly`] is defined for.
    pub(crate) const MOST_IPOLY_SETS: u32 = 4_096;

    /// The numbers of sets that [`SetIndex::Xor`] is defined for.
    pub(crate) const XOR_SETS: [u32; 2] = [32, 64];

    /// The lines that it is defined for.
    pub(crate) const XOR_LINE_BYTES: u32 = 128;

    /// What a file need not say of its slices.
    pub(super) fn is_linear(&self) -> bool {
        *self == SetIndex::Linear
    }
}
