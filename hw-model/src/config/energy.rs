//! Energy per event and background power of the chip: `[energy]` of a GPU file.
//!
//! Energies in femtojoules (0.001 nJ is 1,000 fJ), powers in microwatts, both whole numbers. The
//! events are defined in [`crate::energy`].

use serde::{Deserialize, Serialize};

/// Energy per event and background power (sources.md D75).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EnergyConfig {
    /// Fetch of a warp instruction from a warm instruction cache.
    pub fetch_fj: u32,
    /// Decode of a warp instruction, with its entry in the instruction buffer.
    pub decode_fj: u32,
    /// Scheduling of a warp instruction.
    pub schedule_fj: u32,
    /// Register read of one lane.
    pub register_read_fj: u32,
    /// Register write of one lane.
    pub register_write_fj: u32,
    /// Operation of one lane, by unit.
    pub lane: LaneEnergies,
    /// One pass through the banks of shared memory.
    pub shared_pass_fj: u32,
    /// L1 access to a sector that is present or in flight.
    pub l1_hit_fj: u32,
    /// L1 access to a missing sector, with its fill.
    pub l1_miss_fj: u32,
    /// Packet through one subnet of the crossbar.
    pub packet_fj: u32,
    /// L2 read of a sector that is present or in flight.
    pub l2_read_hit_fj: u32,
    /// L2 read of a missing sector.
    pub l2_read_miss_fj: u32,
    /// L2 write of a sector that is present.
    pub l2_write_hit_fj: u32,
    /// L2 write of a missing sector.
    pub l2_write_miss_fj: u32,
    /// DRAM read of an atom of 32 bytes.
    pub dram_read_fj: u32,
    /// DRAM write of an atom of 32 bytes.
    pub dram_write_fj: u32,
    /// Opening and closing of a DRAM row, charged when it is opened.
    pub dram_row_fj: u32,
    /// Constant power of the chip.
    pub constant_uw: u32,
    /// Static power of an SM that holds a TB.
    pub sm_active_uw: u32,
    /// Power of an SM without TBs.
    pub sm_idle_uw: u32,
    /// Power of an SM's pipelines in a cycle in which it issues.
    pub sm_issue_uw: u32,
}

/// Energy of one lane's operation, in femtojoules, by execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LaneEnergies {
    /// Integer, with barriers and exits.
    pub int_fj: u32,
    /// Single precision.
    pub sp_fj: u32,
    /// Double precision.
    pub dp_fj: u32,
    /// Special functions.
    pub sfu_fj: u32,
    /// Tensor.
    pub tensor_fj: u32,
    /// Branch.
    pub branch_fj: u32,
    /// Texture.
    pub texture_fj: u32,
    /// Uniform data path.
    pub uniform_fj: u32,
    /// Address computation of loads, stores and atomics.
    pub memory_fj: u32,
}
